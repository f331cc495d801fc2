"""The command line: ``purecover evaluate``, ``priors``, ``threshold`` and so on.

A thin shell: it reads files, calls the public functions and prints. Nothing scientific is
imported before a command needs it, so that ``purecover --help`` answers at once.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; those of the process by default.

    Returns
    -------
    int
        0 if all is well; 1 if alpha and beta contradict the scores, if a check fails the command
        (``--strict``, ``--fail-on``), or if scores drift and ``--fail-on-drift`` was given;
        2 for bad usage or bad input; 130 after Ctrl-C; 141 if the reader of the output left.
    """
    try:
        from purecover.cli.shell import run

        return run(argv)
    except KeyboardInterrupt:
        return 130
