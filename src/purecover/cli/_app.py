"""The commands; what they do lives in the modules they import when run."""

from __future__ import annotations

from cyclopts import App, Parameter

from purecover import __version__
from purecover.cli._audit_app import audit
from purecover.cli._evaluate_app import evaluate
from purecover.cli._evaluate_data_app import evaluate_data
from purecover.cli._example_app import example
from purecover.cli._many_app import evaluate_many
from purecover.cli._monitor_app import monitor
from purecover.cli._paper_app import paper
from purecover.cli._priors_app import priors
from purecover.cli._serve_app import serve
from purecover.cli._simulate_app import simulate
from purecover.cli._threshold_app import threshold

__all__ = ["app"]

app = App(
    name="purecover",
    help=(
        "True classifier performance from positive-unlabeled data.\n\n"
        "Exit codes: 0 all is well; 1 a check of severity error spoke (with --strict), scores "
        "drift (with --fail-on-drift), or some runs of paper run failed; 2 bad usage or bad input; "
        "130 interrupted; 141 nobody reads the output."
    ),
    version=__version__,
    version_flags=["--version"],
    help_flags=["--help", "-h"],
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
)
app.command(audit)
app.command(evaluate)
app.command(evaluate_data)
app.command(evaluate_many)
app.command(example)
app.command(monitor)
app.command(paper)
app.command(priors)
app.command(serve, name="app")
app.command(simulate)
app.command(threshold)
