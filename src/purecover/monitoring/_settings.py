"""What a monitor is told at its start, and what it is given later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from purecover._given import GivenProportions
from purecover._typing import Scenario
from purecover._validation import bad_type, bad_value, check_integer, check_real, show
from purecover.counts import ScoreCounts
from purecover.estimation._asked import check_estimator
from purecover.intervals._interval import check_level

__all__ = ["Settings", "check_name", "check_settings", "make_settings", "read_counts"]

_LONGEST = 200


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The parameters of a monitor, as a state file keeps them."""

    alpha: float | None
    beta: float | None
    prior: float | None
    label_frequency: float | None
    scenario: Scenario | None
    estimator: str | None
    window: int
    false_alarms: float
    confidence_level: float
    n_resamples: int
    max_thresholds: int
    random_state: int
    columns: dict[str, str]

    @property
    def given(self) -> GivenProportions:
        """What is known of alpha and beta."""
        return GivenProportions(
            self.alpha,
            self.beta,
            None,
            self.prior,
            self.label_frequency,
            self.scenario,
            self.estimator,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self)

    def require(self, function: str, wanted: Mapping[str, Any]) -> None:
        """Complain of settings that are not these; files may name their columns anew."""
        mine = self.to_dict()
        for key, value in wanted.items():
            if key != "columns" and not _same(value, mine[key]):
                must = f"{show(mine[key])}, as in the state file"
                hint = "leave it out, or start a new state file"
                raise bad_value(function, key, must, show(value), hint)


def _same(one: object, other: object) -> bool:
    try:
        return bool(one == other)
    except Exception:  # noqa: BLE001 - a hostile __eq__, or an array
        return False


def make_settings(function: str, given: dict[str, Any]) -> Settings:
    """Settings, or a complaint about the first that cannot be."""
    estimator, columns = given["estimator"], given["columns"]
    if estimator is not None and not isinstance(estimator, str):
        hint = "a state file can keep nothing else; the names are those of prior_estimators()"
        raise bad_type(function, "estimator", "the name of an estimator", estimator, hint)
    columns = {} if columns is None else columns
    if not isinstance(columns, Mapping) or not all(
        isinstance(word, str) for pair in columns.items() for word in pair
    ):
        raise bad_type(function, "columns", "a mapping of text to text", columns)
    known = Settings(**given).given.validated(function, can_estimate=True)
    if estimator is not None:
        check_estimator(function, estimator)
    shares = ("alpha", "beta", "prior", "label_frequency")
    numbers: dict[str, Any] = {
        name: None if getattr(known, name) is None else float(getattr(known, name))
        for name in shares
    }
    whole = {"window": (1, 10**6), "n_resamples": (0, 10**6), "max_thresholds": (64, 10**7)}
    for name, (low, high) in whole.items():
        numbers[name] = check_integer(function, name, given[name], low=low, high=high)
    return Settings(
        **numbers,
        scenario=known.scenario,
        estimator=estimator,
        false_alarms=check_real(
            function, "false_alarms", given["false_alarms"], low=0, high=1, closed="neither"
        ),
        confidence_level=check_level(function, given["confidence_level"]),
        random_state=check_integer(function, "random_state", given["random_state"], low=0),
        columns=dict(columns),
    )


def check_settings(function: str, settings: object) -> dict[str, Any]:
    """Settings to be passed on by name."""
    must = "a mapping of parameters of ScoreMonitor"
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise bad_type(function, "settings", must, settings)
    known = list(Settings.__dataclass_fields__)
    for key in settings:
        if key not in known:
            hint = f"they are {', '.join(known)}"
            raise bad_value(function, "settings", must, f"one called {show(key)}", hint)
    return dict(settings)


def check_name(function: str, name: object) -> str:
    """The name of a partition, which stands in tables."""
    if not isinstance(name, str):
        raise bad_type(function, "name", "a text", name)
    if not 0 < len(name) <= _LONGEST or not name.isprintable() or name != name.strip():
        must = f"1 to {_LONGEST} printable characters without blanks at the ends"
        raise bad_value(function, "name", must, show(name))
    return name


def read_counts(
    function: str, scores: Any, labeled: Any, sample_weight: Any, **labels: object
) -> ScoreCounts:
    """Counts of rows, or those that are given instead of rows."""
    if not isinstance(scores, ScoreCounts):
        if labeled is None:
            hint = "pass the labels of the scores, or counts of both as scores"
            raise bad_type(function, "labeled", "given beside scores", labeled, hint)
        return ScoreCounts._from_rows(
            function,
            {"scores": scores},
            labeled,
            sample_weight=sample_weight,
            positive_label=labels["positive_label"],
            negative_label=labels["negative_label"],
        )
    for parameter, value in (("labeled", labeled), ("sample_weight", sample_weight)):
        if value is not None:
            raise bad_value(function, parameter, "left out beside a ScoreCounts", show(value))
    return scores
