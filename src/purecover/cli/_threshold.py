"""``purecover threshold``."""

from __future__ import annotations

from collections.abc import Mapping

from purecover._given import GivenProportions
from purecover.cli._app import AssumptionOptions, DataOptions
from purecover.cli._data import parse_target, read_rows, require_prior_knowledge
from purecover.cli._files import name_of
from purecover.cli._output import print_json
from purecover.cli._progress import progress_bars
from purecover.counts import ScoreCounts
from purecover.exceptions import InvalidInputError
from purecover.recovery._thresholds import choose_threshold

__all__ = ["run_threshold"]


def run_threshold(
    file: str,
    data: DataOptions,
    assumptions: AssumptionOptions,
    *,
    wanted: Mapping[str, float | None],
    best: str | None,
    f_beta: float,
    cost_fn: float,
    cost_fp: float,
    json: bool,
    quiet: bool,
) -> int:
    """Choose, print, return the exit code."""
    criterion, value = _criterion(wanted, best)
    require_prior_knowledge(assumptions)
    with progress_bars(quiet=quiet) as steps:
        rows = read_rows(file, data, command="purecover threshold", progress=steps("Reading"))
    counts = ScoreCounts.from_scores(
        rows.scores,
        rows.label_column,
        sample_weight=rows.weights,
        negative_label=rows.negative_label,
    )
    proportions = GivenProportions(
        alpha=assumptions.alpha,
        beta=assumptions.beta,
        prior=assumptions.prior,
        label_frequency=assumptions.label_frequency,
        scenario=assumptions.scenario,
    ).resolve("purecover threshold", counts)
    choice = choose_threshold(
        counts,
        proportions,
        criterion,
        value,
        target=parse_target(assumptions.target),
        repair=assumptions.repair or "isotonic",
        f_beta=f_beta,
        cost_fn=cost_fn,
        cost_fp=cost_fp,
    )
    if json:
        document = choice.to_dict()
        document["proportions"] = proportions.to_dict()
        document["source"] = {"file": name_of(file), "columns": rows.columns}
        print_json(document)
    else:
        # repr, so that the threshold printed is the threshold chosen to the last digit.
        text = str(choice).removeprefix("ThresholdChoice: ")
        print(repr(choice.threshold) if quiet else text)  # noqa: T201
    return 0


def _criterion(wanted: Mapping[str, float | None], best: str | None) -> tuple[str, float | None]:
    """The one thing asked for."""
    asked = {name: value for name, value in wanted.items() if value is not None}
    if len(asked) + (best is not None) != 1:
        options = ", ".join(f"--{name}" for name in wanted)
        got = ", ".join([f"--{name}" for name in asked] + ["--best"] * (best is not None))
        raise InvalidInputError(
            f"purecover threshold needs exactly one of {options} and --best, got "
            f"{got or 'none of them'}.\nHint: for example --precision 0.9, or --best f1."
        )
    if best is not None:
        return best, None
    return next(iter(asked.items()))
