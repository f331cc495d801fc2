"""How reports are made: what functions that make reports show, and the `Settings` behind it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypedDict

import numpy as np

from purecover import _validation as valid
from purecover._inputs import LabelMeaning
from purecover._parameters import DECLARED, Parameters, again, parameter
from purecover._progress import Progress
from purecover._typing import RandomState, Repair, Target
from purecover._validation import public
from purecover.checks.catalog import CHECKS
from purecover.intervals.replicates import Resampling
from purecover.proportions import ProportionEstimator
from purecover.recovery.metrics import MetricOptions, RecoveryOptions


def check_at_least(name: str, value: Any) -> dict[str, float]:
    """Return wanted values of metrics of all positives, by metric."""
    must = "a mapping such as {'auc': 0.7}, of auc, recall or precision to shares"
    if not isinstance(value, Mapping):
        raise valid.bad_type(name, must, value)
    for metric in value:
        if metric not in ("auc", "recall", "precision"):
            raise valid.bad_value(name, must, valid.show(metric))
    return {metric: valid.check_real(name, least, low=0, high=1) for metric, least in value.items()}


@dataclass(frozen=True, kw_only=True)
class Settings(LabelMeaning, MetricOptions):
    """Rarely used parameters of :func:`evaluate` and other functions that make reports.

    Parameters
    ----------
    positive_label, negative_label
    estimator, hits_from
    repair, area, top_k, probabilities, threshold_probability, max_fpr, f_beta, cost_fn, cost_fp
    at_least, ignore_checks, progress

    See Also
    --------
    evaluate : Takes them as ``settings``.

    Examples
    --------
    >>> from purecover import Settings, evaluate
    >>> scores, labels = [4, 3, 2, 1, 0], ["hit", "other", "hit", "other", "other"]
    >>> settings = Settings(positive_label="hit", top_k=2)
    >>> report = evaluate(scores, labels, alpha=0.1, n_resamples=0, settings=settings)
    >>> report.metrics.options.top_k
    2
    """

    estimator: ProportionEstimator | str | None = again("estimator")
    hits_from: float | str | None = again("hits_from")
    repair: Repair | None = again("repair")
    at_least: Mapping[str, float] | None = parameter(
        None,
        "mapping",
        """Values that metrics of all positives should have at least, such as ``{"auc": 0.7}``,
        where alpha is given as a number: the report says how much easier labeled positives must
        be for them to fall below.""",
        check_at_least,
    )
    ignore_checks: Collection[str] = parameter(
        (),
        "collection of str",
        "Codes of checks to silence.",
        partial(valid.check_names, choices=CHECKS),
    )
    progress: Progress | None = again("progress")

    @public
    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            object.__setattr__(self, name, DECLARED[name].checked(name, value))


@dataclass(frozen=True)
class Rarely(Parameters):
    """The parameter of functions that take `Settings`."""

    settings: Settings | None = parameter(
        None,
        "Settings",
        """Rarely used parameters, such as values of labels, further metrics and the estimator of
        alpha: ``Settings(top_k=50)``. See :class:`Settings`.""",
        partial(valid.check_instance, kind=Settings, hint="pass Settings(top_k=50), for example"),
    )


def spread(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of `evaluate` with those in ``settings`` by their names."""
    inside = Rarely.among(options).validated().settings or Settings()
    return {**vars(inside), **options}


def gathered(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options by name as arguments of `evaluate`: some of them in ``settings``."""
    inside = {name: options[name] for name in vars(Settings()) if name in options}
    shown = {name: value for name, value in options.items() if name not in inside}
    return shown | ({"settings": Settings(**inside)} if inside else {})


@dataclass(frozen=True)
class ReportSettings(RecoveryOptions, Resampling):
    """How a report is made; the same for all scores that are looked at."""

    threshold: float | None = parameter(
        None,
        "float",
        "Where threshold metrics are taken; by default where the Youden index is highest.",
        valid.check_real,
    )
    review: int | None = parameter(
        None,
        "int",
        """How many unlabeled rows you can review, instead of a threshold: the lowest
        threshold is taken that flags no more of them.""",
        partial(valid.check_integer, low=1),
    )
    at_least: Mapping[str, float] | None = again("at_least")
    ignore_checks: Collection[str] = again("ignore_checks")

    @property
    def rng(self) -> np.random.Generator:
        """A generator of random numbers, which starts anew each time where there is a seed."""
        return valid.check_random_state(self.random_state)


class SettingKeywords(TypedDict, total=False):
    """How reports are made."""

    target: Target
    review: int | None
    confidence_level: float
    random_state: RandomState
    settings: Settings | None


class ReportKeywords(SettingKeywords, total=False):
    """How the report of one score is made."""

    threshold: float | None
    n_resamples: int | None
