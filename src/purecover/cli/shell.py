"""All commands, and the way from arguments to an exit code: every error becomes one message."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from cyclopts import App, CycloptsError, Parameter

from purecover import __version__
from purecover._progress import show_bars
from purecover.cli.audit import audit
from purecover.cli.evaluate import error_rates, evaluate, evaluate_many, evidence
from purecover.cli.example import example
from purecover.cli.judge import judge
from purecover.cli.monitor import monitor
from purecover.cli.options import BESIDE, RENAMED, STAND_IN, explain, in_options
from purecover.cli.output import COMMAND_LINE, STDIO, say
from purecover.cli.priors import priors
from purecover.cli.serve import serve
from purecover.cli.threshold import threshold
from purecover.exceptions import ContradictionError, PurecoverError, PurecoverWarning

app = App(
    name="purecover",
    help="True classifier performance from positive-unlabeled data.",
    help_epilogue=(
        "Exit codes: 0 all is well; 1 what was given contradicts the scores, a check fails the "
        "command (--strict, --fail-on), or scores drift (--fail-on-drift); 2 bad usage or bad "
        "input; 130 interrupted; 141 output pipe closed."
    ),
    version=__version__,
    version_flags=["--version"],
    help_flags=["--help", "-h"],
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
)
for command in (
    audit, error_rates, evaluate, evaluate_many, evidence, example, judge, monitor, priors,
    threshold,
):  # fmt: skip
    app.command(command)
app.command(serve, name="app")

CONTRADICTED = 1
BAD_INPUT = 2
INTERRUPTED = 130
READER_LEFT = 141


def run(argv: Sequence[str] | None = None) -> int:
    """Parse, execute, and turn whatever goes wrong into a message and a code."""
    given = sys.argv[1:] if argv is None else list(argv)
    tokens = [STAND_IN if word == STDIO else _renamed(word) for word in given]
    for i, word in enumerate(tokens):  # cyclopts knows no option whose value may be left out
        if word == "--judged" and (tokens[i + 1 :] or ["-"])[0].startswith("-"):
            tokens[i] = f"{word}={BESIDE}"
    COMMAND_LINE.set(tuple(given))
    # What reads Markdown takes a third of the time of the first page of help, which has none.
    app.help_format = "plaintext" if len(given) < 2 else "markdown"
    try:
        with _on_terminal(quiet="--quiet" in given or "-q" in given):
            command, bound, _ = app.parse_args(tokens, exit_on_error=False, print_error=False)
            args, options = _as_typed(bound.args), _as_typed(bound.kwargs)
            code = command(*args, **options)
        if sys.stdout is not None:
            sys.stdout.flush()
    except CycloptsError as error:
        chain = " ".join(error.command_chain or ())
        hint = f"purecover {chain} --help lists its options" if chain else "see purecover --help"
        return fail(f"{error}\nHint: {hint}.")
    except ContradictionError as error:
        say(f"purecover: {in_options(error)}")
        return CONTRADICTED
    except KeyboardInterrupt:
        fail("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return READER_LEFT
    except (PurecoverError, MemoryError) as error:
        return fail(explain(error))
    except OSError as error:
        _forget_stdout()
        return fail(explain(error))
    except Exception as error:
        if os.environ.get("PURECOVER_TRACEBACK"):
            raise
        hint = "Hint: this is a bug in purecover; set PURECOVER_TRACEBACK=1 to see where."
        return fail(f"{explain(error)}\n{hint}")
    return code if isinstance(code, int) else 0


def _renamed(word: str) -> str:
    """An option by the name it has now."""
    option, sign, value = word.partition("=")
    return RENAMED.get(option, option) + sign + value


def _as_typed(value: Any) -> Any:
    """A parsed value, with a lone dash where its stand-in is."""
    if isinstance(value, dict):
        return {name: _as_typed(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return tuple(map(_as_typed, value))
    return STDIO if value == STAND_IN else value


def fail(message: str) -> int:
    """Say what is wrong on standard error."""
    say(f"purecover: error: {message}")
    return BAD_INPUT


@contextmanager
def _on_terminal(*, quiet: bool) -> Iterator[None]:
    """Warnings are lines of their own, each once; neither they nor bars appear if ``quiet``."""
    said = set()

    def tell(message: Warning | str, *_: Any, **__: Any) -> None:
        text = str(message)
        if not quiet and text not in said:
            say(f"purecover: warning: {text}")
        said.add(text)

    token = show_bars.set(not quiet)
    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=PurecoverWarning)
        warnings.showwarning = tell
        try:
            yield
        finally:
            show_bars.reset(token)


def _forget_stdout() -> None:
    """Keep the interpreter from complaining again when it flushes at exit."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
