"""All commands, and the way from arguments to an exit code: every error becomes one message.

``purecover app`` stands here itself; what it serves is in ``purecover.app``.
"""

from __future__ import annotations

import ipaddress
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.resources import as_file, files
from importlib.util import find_spec
from typing import Annotated, Any

from cyclopts import App, CycloptsError, Group, Parameter

from purecover import __version__
from purecover.cli.audit import audit
from purecover.cli.evaluate import error_rates, evaluate, evaluate_data, evaluate_many, evidence
from purecover.cli.monitor import monitor
from purecover.cli.options import STAND_IN, Options, Positive, Quiet, Whole
from purecover.cli.output import COMMAND_LINE, STDIO, CommandError, in_options, note, say, show
from purecover.cli.priors import priors
from purecover.cli.simulate import example, simulate
from purecover.cli.threshold import threshold
from purecover.exceptions import (
    ContradictionError,
    MissingDependencyError,
    PurecoverError,
    PurecoverWarning,
)

# -- `purecover app` -----------------------------------------------------------------------------


WORKER = (sys.executable, "-m", "purecover.cli._worker")
SERVER = Group("Server", sort_key=1)
LIMITS = Group("Limits", sort_key=2)
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(B|kB|MB|GB|)", re.IGNORECASE)
_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9}


def _size(_: Any, tokens: Any) -> int:
    """Bytes, from words such as 200MB."""
    option, text = tokens[0].keyword, str(tokens[0].value)
    match = _SIZE.fullmatch(text.strip())
    size = 0 if match is None else round(float(match[1]) * _UNITS[match[2].lower()])
    if size < 1:
        raise CommandError(f"{option} must be a size such as 200MB or 2GB, got {text[:80]!r}.")
    return size


Size = Annotated[int, Parameter(converter=_size, show_default="200MB")]


def serve(
    *,
    port: Annotated[Whole, Parameter(group=SERVER)] = 0,
    host: Annotated[str, Parameter(group=SERVER)] = "127.0.0.1",
    browser: Annotated[bool, Parameter(group=SERVER, negative="--no-browser")] = True,
    token: Annotated[bool, Parameter(group=SERVER, negative="--no-token")] = True,
    max_upload: Annotated[Size, Parameter(group=LIMITS)] = 200_000_000,
    workers: Annotated[Positive, Parameter(group=LIMITS)] = 2,
    timeout: Annotated[Positive, Parameter(group=LIMITS)] = 600,
    quiet: Annotated[Quiet, Parameter(group=SERVER)] = False,
) -> int:
    """Open a page on this machine: drop a file, choose its columns, see and keep the report.

    Nothing leaves the machine. Files that are sent to the page are removed when it stops, or an
    hour after their last use.

    Parameters
    ----------
    port
        Port to listen on; 0 takes a free one.
    host
        Address to listen on; only those of this machine alone, such as 127.0.0.1 or ::1.
    browser
        Open the page in your browser.
    token
        Ask for the secret that is in the printed address, so that other users and programs of
        this machine stay out.
    max_upload
        Largest file, also after unpacking: a number and its unit, B, kB, MB or GB, such as 500MB;
        bytes without a unit.
    workers
        Reports made at the same time.
    timeout
        Seconds that a report may take.
    quiet
        Print the address alone.
    """
    host = _loopback(host)
    if port > 65_535:
        raise CommandError(f"--port must be at most 65535, got {port}.")
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise MissingDependencyError(
            f"purecover app needs {' and '.join(missing)}, which cannot be imported.\n"
            "Hint: pip install 'purecover[app]'"
        )
    from purecover.app.jobs import Settings
    from purecover.app.server import serve as listen

    def announce(address: str) -> None:
        if quiet:
            say(address)
        note(f"open {address}", quiet=quiet)
        note("Ctrl-C stops it and removes the files that were sent to it", quiet=quiet)

    from secrets import token_urlsafe

    with as_file(files("purecover") / "data" / "example_scores.csv") as example:
        settings = Settings(
            worker=WORKER,
            example=example,
            token=token_urlsafe(32) if token else None,
            max_upload=max_upload,
            workers=workers,
            job_timeout=timeout,
        )
        try:
            listen(settings, host=host, port=port, announce=announce, browser=browser)
        except OSError as error:
            raise CommandError(
                f"the server cannot listen on {host}, port {port}: {error.strerror or error}.\n"
                "Hint: --port 0 takes a free port."
            ) from error
    return 0


def _loopback(host: str) -> str:
    """An address of this machine that no other can reach."""
    address = None
    with suppress(ValueError):
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    if address is None or not address.is_loopback:
        raise CommandError(
            f"--host must be an address of this machine alone, such as 127.0.0.1, got "
            f"{show(host)}.\nHint: the data would cross the network unencrypted; "
            "reach another machine's server through ssh -L PORT:127.0.0.1:PORT."
        )
    return str(address)


# -- All commands ----------------------------------------------------------------------------------


app = App(
    name="purecover",
    help="True classifier performance from positive-unlabeled data.",
    help_epilogue=(
        "Exit codes: 0 all is well; 1 what was given contradicts the scores, a check found an "
        "error (with --strict), or scores drift (with --fail-on-drift); 2 "
        "bad usage or bad input; 130 interrupted; 141 nobody reads the output."
    ),
    version=__version__,
    version_flags=["--version"],
    help_flags=["--help", "-h"],
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
)
for command in (
    audit,
    error_rates,
    evaluate,
    evaluate_data,
    evaluate_many,
    evidence,
    example,
    monitor,
    priors,
    simulate,
    threshold,
):
    app.command(command)
app.command(serve, name="app")

CONTRADICTED = 1
BAD_INPUT = 2
INTERRUPTED = 130
READER_LEFT = 141


def run(argv: Sequence[str] | None = None) -> int:
    """Parse, execute, and turn whatever goes wrong into a message and a code."""
    given = sys.argv[1:] if argv is None else list(argv)
    tokens = [STAND_IN if word == STDIO else word for word in given]
    COMMAND_LINE.set(tuple(given))
    # What reads Markdown takes a third of the time of the first page of help, which has none.
    app.help_format = "plaintext" if len(given) < 2 else "markdown"
    try:
        with _plain_warnings(quiet="--quiet" in given or "-q" in given):
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
    except PurecoverError as error:
        return fail(in_options(error))
    except KeyboardInterrupt:
        fail("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return READER_LEFT
    except MemoryError:
        return fail("there is not enough memory for this data")
    except OSError as error:  # a disk that is full, a stream that breaks
        _forget_stdout()
        return fail(
            f"{error.strerror or error}" + (f": {error.filename}" if error.filename else "")
        )
    except Exception as error:
        if os.environ.get("PURECOVER_TRACEBACK"):
            raise
        return fail(
            f"internal error, {type(error).__name__}: {error}\n"
            "Hint: this is a bug in purecover; set PURECOVER_TRACEBACK=1 to see where."
        )
    return code if isinstance(code, int) else 0


def _as_typed(value: Any) -> Any:
    """What was parsed, with a lone dash where its stand-in is."""
    if isinstance(value, Options):
        return replace(value, **_as_typed(vars(value)))
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
def _plain_warnings(*, quiet: bool) -> Iterator[None]:
    """Warnings as lines of their own, each once, without source code around them."""
    said = set()

    def tell(message: Warning | str, *_: Any, **__: Any) -> None:
        text = in_options(str(message))
        if not quiet and text not in said:
            say(f"purecover: warning: {text}")
        said.add(text)

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=PurecoverWarning)
        warnings.showwarning = tell
        yield


def _forget_stdout() -> None:
    """Keep the interpreter from complaining again when it flushes at exit."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
