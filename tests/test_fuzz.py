"""Hostile input: always an error of purecover's own or a valid result, and no foreign warning.

The tests try some examples of everything, `make fuzz` more than ten thousand.
"""

from __future__ import annotations

import inspect
import json
import math
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import counts, nasty_columns, nasty_numbers, nasty_scalars, proportions
from tests.test_counts import assert_valid
from tests.test_errors import FREE_EVERYWHERE, VALID, find

import purecover as pu
from purecover._codec import document_text
from purecover.exceptions import PurecoverError, PurecoverWarning


def outcome(call: Callable[[], Any]) -> Any:
    """The result, or None after an error of ours; anything else is what the tests are after."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PurecoverWarning)
        try:
            return call()
        except PurecoverError as error:
            message = str(error)
            assert message
            assert len(message) < 1500
            return None


def assert_curve(fpr: Any, tpr: Any) -> None:
    """What any repaired ROC curve is."""
    assert (fpr[0], tpr[0]) == (0, 0)
    assert (fpr[-1], tpr[-1]) == (1, 1)
    for rate in (fpr, tpr):
        assert np.all((rate >= 0) & (rate <= 1))
        assert np.all(np.diff(rate) >= 0)


# Each entry draws its input and judges what comes out. Its name is the test's.

SIZE = 4
TARGETS: dict[str, Callable[[st.DataObject], None]] = {}


def target(function: Callable[[st.DataObject], None]) -> Callable[[st.DataObject], None]:
    TARGETS[function.__name__] = function
    return function


@target
def from_scores(data: st.DataObject) -> None:
    arguments = {
        "scores": data.draw(st.one_of(nasty_columns(SIZE), st.just([3.0, 1.0, 1.0, 0.0]))),
        "labeled": data.draw(st.one_of(nasty_columns(SIZE), st.just([1, 0, 1, -1][:SIZE]))),
        "sample_weight": data.draw(st.one_of(st.none(), nasty_columns(SIZE))),
        "positive_label": data.draw(st.one_of(st.none(), nasty_scalars)),
        "negative_label": data.draw(st.one_of(st.none(), st.just(-1), nasty_scalars)),
    }
    counted = outcome(lambda: pu.ScoreCounts.from_scores(**arguments))
    if counted is not None:
        assert_valid(counted)
        assert 0 <= pu.recovery.auc_pu(counted) <= 1
        assert not pu.recovery.auc_pu_variance(counted) < 0


@target
def from_counts(data: st.DataObject) -> None:
    column = st.one_of(
        nasty_columns(SIZE),
        st.lists(st.floats(0, 1e120), min_size=SIZE, max_size=SIZE),
        st.lists(st.integers(0, 2**54), min_size=SIZE, max_size=SIZE),
    )
    arguments = [data.draw(column) for _ in range(3)]
    negative = data.draw(st.one_of(st.none(), column))
    counted = outcome(lambda: pu.ScoreCounts.from_counts(*arguments, negative=negative))
    if counted is not None:
        assert_valid(counted)
        assert 0 <= pu.recovery.auc_pu(counted) <= 1
        assert not pu.recovery.auc_pu_variance(counted) < 0


@target
def mixture_proportions(data: st.DataObject) -> None:
    number = st.one_of(st.floats(0, 1), nasty_numbers, nasty_scalars)
    make = data.draw(
        st.sampled_from(
            [
                pu.MixtureProportions,
                pu.MixtureProportions.from_case_control,
                pu.MixtureProportions.from_inclusions,
                lambda prior, beta: pu.MixtureProportions.from_censoring(
                    labeled_share=0.1, prior=prior, beta=beta
                ),
                lambda share, frequency: pu.MixtureProportions.from_censoring(
                    labeled_share=share, label_frequency=frequency
                ),
            ]
        )
    )
    arguments = data.draw(number), data.draw(number)
    p = outcome(lambda: make(*arguments))
    if p is None:
        return
    assert 0 <= p.alpha < p.beta <= 1
    assert p.delta > 0
    assert 0 <= p.unlabeled_inclusion < 1
    assert 0 <= p.labeled_inclusion <= 1
    outcome(p.flipped)
    prior = outcome(lambda: p.prior(data.draw(st.one_of(nasty_scalars, st.just("pooled")))))
    assert prior is None or 0 <= prior <= 1


# Grid points and replicates are paid for in time and memory.
_LIMITS = {"n_resamples": 50}
_TRIED = [
    (name, parameter)
    for name in VALID
    for parameter in inspect.signature(find(name)).parameters
    if parameter not in FREE_EVERYWHERE
]


def anything_for(parameter: str) -> st.SearchStrategy[Any]:
    anything = st.one_of(nasty_scalars, nasty_columns(6), nasty_columns(2))
    limit = _LIMITS.get(parameter, math.inf)
    return anything.filter(lambda v: not isinstance(v, (int, float)) or not v > limit)


@target
def any_parameter(data: st.DataObject) -> None:
    name, parameter = data.draw(st.sampled_from(_TRIED))
    changed = {**VALID[name], parameter: data.draw(anything_for(parameter))}
    # A second wrong parameter may meet code that the first one shields.
    others = [p for n, p in _TRIED if n == name and p != parameter]
    if others and data.draw(st.booleans()):
        other = data.draw(st.sampled_from(others))
        changed[other] = data.draw(anything_for(other))
    if name == "evaluate":
        changed.setdefault("n_resamples", 3)
    outcome(lambda: find(name)(**changed))


@target
def evaluate(data: st.DataObject) -> None:
    column = st.one_of(nasty_columns(6), st.just([5, 4, 3, 2, 1, 0]), st.just([1, 0, 1, 0, 0, 1]))
    maybe = st.one_of(st.none(), column)
    arguments = {
        "labeled": data.draw(column),
        "alpha": data.draw(st.one_of(st.floats(0, 0.99), nasty_scalars)),
        "beta": data.draw(st.one_of(st.just(1.0), nasty_scalars)),
        "sample_weight": data.draw(maybe),
        "groups": data.draw(st.one_of(maybe, st.lists(st.integers(0, 3), max_size=7))),
        "truth": data.draw(maybe),
        "threshold": data.draw(st.one_of(st.none(), nasty_scalars)),
        "n_resamples": data.draw(st.sampled_from([0, 3])),
    }
    scores = data.draw(column)
    report = outcome(lambda: pu.evaluate(scores, **arguments))
    if report is not None:
        assert_valid(report.counts)
        assert 0 <= report.auc <= 1
        assert_curve(report.roc.fpr, report.roc.tpr)
        assert str(report)
        json.dumps(report.to_dict(), allow_nan=False)


@target
def extreme_but_valid(data: st.DataObject) -> None:
    """Any counts with any identifiable proportions can be recovered from."""
    counted = data.draw(counts(max_size=12))
    p = data.draw(st.one_of(proportions(), proportions(least_delta=1e-6)))
    repair = data.draw(st.sampled_from(["none", "paper", "isotonic", "hull", "likelihood"]))
    area = data.draw(st.sampled_from(["davis-goadrich", "average-precision", "trapezoid"]))
    where = data.draw(
        st.one_of(
            st.none(),
            st.floats(allow_nan=False, allow_infinity=False),
            st.sampled_from(counted.thresholds.tolist()),
        )
    )
    aim = data.draw(st.one_of(st.sampled_from(["population", "deployment", "pooled"]),
                              st.floats(0, 1)))  # fmt: skip

    roc = outcome(lambda: pu.recover_roc(counted, p, repair=repair))
    assert np.isfinite(roc.fpr_raw).all()
    assert math.isfinite(roc.auc_direct)
    if repair != "none":
        assert_curve(roc.fpr, roc.tpr)
        assert 0 <= roc.auc <= 1 + 1e-12
    assert 0 <= outcome(lambda: pu.recover_auc(counted, p)) <= 1
    pr = outcome(lambda: pu.recover_pr(counted, p, repair=repair, area=area, target=aim))
    assert pr is not None
    if repair != "none":
        assert math.isnan(pr.auc_pr) or -1e-12 <= pr.auc_pr <= 1 + 1e-12
    metrics = outcome(
        lambda: pu.recover_metrics(
            counted, p, threshold=where, repair=repair, area=area, target=aim
        )
    )
    assert metrics is not None
    assert not any(math.isinf(metrics[name]) for name in metrics)
    interval = outcome(lambda: pu.intervals.auc_interval(counted, p))
    assert interval is not None
    assert math.isnan(interval.low) or 0 <= interval.low <= interval.high <= 1
    outcome(lambda: pu.recover_bounds(counted, (p.alpha, p.alpha)))
    context = outcome(lambda: pu.checks.CheckContext(counts=counted, proportions=p, roc=roc))
    assert outcome(lambda: pu.checks.run_checks(context)) is not None


@target
def resampling_valid_counts(data: st.DataObject) -> None:
    counted = data.draw(counts(max_size=8))
    p = data.draw(proportions())
    result = outcome(
        lambda: pu.intervals.bootstrap(
            counted,
            p,
            n_resamples=4,
            repair=data.draw(st.sampled_from(["none", "paper", "isotonic", "hull"])),
            random_state=0,
        )
    )
    assert result is not None
    for name in result.estimates:
        interval = outcome(lambda n=name: result.interval(n))
        assert interval is None or math.isnan(interval.low) or interval.low <= interval.high


@cache
def saved_documents() -> tuple[str, ...]:
    sample = pu.simulate.binormal(1.5).sample(15, 40, alpha=0.25, random_state=0)
    truth = np.arange(55) % 3 == 0
    chances = 1 / (1 + np.exp(-sample.scores))
    further = pu.Settings(probabilities=True, top_k=5)
    given = {"alpha": 0.2, "beta": 0.95, "truth": truth, "settings": further}
    reports = (
        pu.evaluate(sample.scores, sample.labeled, n_resamples=5),
        pu.evaluate(chances, sample.labeled, n_resamples=5, random_state=0, **given),
        pu.evaluate(sample.scores, sample.labeled, alpha=0.9, n_resamples=0, review=9),
    )
    return tuple(report.to_json() for report in reports)


def places(document: Any) -> Iterator[tuple[Any, Any]]:
    """All containers of a document with each of their keys."""
    for key in range(len(document)) if isinstance(document, list) else list(document):
        yield document, key
        if isinstance(document[key], (dict, list)):
            yield from places(document[key])


@target
def saved_report_that_was_changed(data: st.DataObject) -> None:
    """With a right checksum, too, it is refused or printed in every form."""
    document = json.loads(data.draw(st.sampled_from(saved_documents())))
    del document["checksum"]
    leaves = list(places(document))
    for _ in range(data.draw(st.integers(1, 3))):
        inside, key = data.draw(st.sampled_from(leaves))
        old = inside[key]
        numbers = [0, 1, -1, 0.5, 7, 1e9, 1e-300, -1e300, 10**30]
        if isinstance(old, (int, float)):
            numbers += [-old, old / 2, old + 1e-4, old * 1e6]
        deep: Any = []
        for _ in range(data.draw(st.sampled_from([1, 300, 900, 5000]))):
            deep = [deep]
        inside[key] = data.draw(
            st.one_of(
                st.sampled_from([*numbers, None, True, "", "x" * 300, [], {}]),
                st.sampled_from([deep, {"": old}, [old], [old, old]]),
            )
        )
    try:
        text = document_text(document, None)
    except (RecursionError, ValueError):
        text = ""  # what we cannot write, we need not read
    for read in (lambda: pu.PUReport.from_json(text), lambda: pu.PUReport.from_dict(document)):
        report = outcome(read)
        if report is not None:
            for write in ("__str__", "details", "to_markdown", "to_html"):
                assert outcome(getattr(report, write))
            assert outcome(partial(pu.PUReport.from_json, report.to_json(counts=True)))


@pytest.mark.parametrize("name", TARGETS)
@given(data=st.data())
def test_fuzz(name: str, data: st.DataObject) -> None:
    TARGETS[name](data)
