"""What the command line says on standard error, in the words of its own options."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from purecover.exceptions import PurecoverError

__all__ = ["CommandError", "in_options", "note", "rename", "say"]

_OPTIONS = {
    "alpha": "--alpha",
    "area": "--area",
    "beta": "--beta",
    "confidence_level": "--confidence-level",
    "cost_fn": "--cost-fn",
    "cost_fp": "--cost-fp",
    "edges": "--edges",
    "estimate_from": "--estimate-from",
    "estimator": "--estimator",
    "f_beta": "--f-beta",
    "features": "--features",
    "groups": "--group",
    "ignore": "--ignore-check",
    "ignore_checks": "--ignore-check",
    "label_frequency": "--label-frequency",
    "labeled": "--labeled",
    "max_fpr": "--max-fpr",
    "memory_limit": "--memory-limit",
    "metrics": "--metric",
    "min_rows": "--min-rows",
    "n": "--size",
    "n_jobs": "--jobs",
    "n_labeled": "--labeled",
    "n_resamples": "--resamples",
    "n_unlabeled": "--unlabeled",
    "negative": "--negative",
    "negative_label": "--negative-label",
    "negative_mass": "--negative",
    "positive": "--positive",
    "positive_label": "--positive-label",
    "positive_mass": "--positive",
    "positive_sd": "--positive-sd",
    "prior": "--prior",
    "random_state": "--seed",
    "repair": "--repair",
    "sample_weight": "--weight",
    "scenario": "--scenario",
    "scores": "--score",
    "separation": "--separation",
    "target": "--target",
    "threshold": "--threshold",
    "tolerance": "--tolerance",
    "top_k": "--top-k",
    "truth": "--truth",
}
"""How the library calls its parameters, and how the command line does."""

_CALLABLE = r"(?:purecover \w+|[A-Za-z_][\w.]*)"
_PARAMETER = re.compile(rf"The '(\w+)' parameter of {_CALLABLE} must")
_NEEDS = re.compile(rf"\A{_CALLABLE} (?=needs |cannot )")
_TYPE = re.compile(r" \(type \w+\)\.")
# What only a Python name looks like; "alpha" and "prior" are words, and quotes hold data.
_PYTHON = sorted((name for name in _OPTIONS if "_" in name), key=len, reverse=True)
_NAME = re.compile(rf"(?<![\w'.-])({'|'.join(_PYTHON)})\b(?!')(=?)")


class CommandError(PurecoverError):
    """Bad usage or bad input, said in the words of the command line already.

    Not a ValueError, which the parser of the arguments would dress in words of its own.
    """


def in_options(message: str) -> str:
    """A complaint of the library, about options where it speaks of parameters."""
    message = _PARAMETER.sub(lambda m: f"{_OPTIONS.get(m[1], m[1])} must", message)
    message = _TYPE.sub(".", _NEEDS.sub("purecover ", message))

    def option(match: re.Match[str]) -> str:
        value_follows = match[2] and re.match(r"[\w'\"-]", match.string[match.end() :])
        return _OPTIONS[match[1]] + (" " if value_follows else "")

    return _NAME.sub(option, message)


def rename(message: str, names: Mapping[str, str]) -> str:
    """A complaint about some parameters, under other names."""

    def subject(match: re.Match[str]) -> str:
        return f"{names[match[1]]} must" if match[1] in names else match[0]

    return _PARAMETER.sub(subject, message)


def note(message: str, *, quiet: bool) -> None:
    """Something worth knowing that is neither a result nor an error."""
    if not quiet:
        if sys.stdout is not None:
            sys.stdout.flush()  # so that a terminal shows both in order
        say(f"purecover: {message}")


def say(message: str) -> None:
    """Print to standard error whatever its encoding can show."""
    if sys.stderr is None:  # closed by the caller
        return
    encoding = sys.stderr.encoding or "utf-8"
    print(message.encode(encoding, "backslashreplace").decode(encoding), file=sys.stderr)  # noqa: T201
