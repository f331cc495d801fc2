"""One number for one thing, nothing from what says nothing, and nothing that answers exclude."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.command_line import call_main

import purecover as pu
from purecover.exceptions import ContradictionError
from purecover.intervals.replicates import draw_positives
from purecover.recovery.metrics import METRICS
from purecover.recovery.rates import largest_alpha, least_delta, rounded_down

WORLDS = {
    "wide": pu.simulate.binormal(1.5).sample(150, 800, alpha=0.25, random_state=0),
    "narrow": pu.simulate.binormal(3.0).sample(400, 1500, alpha=0.3, beta=0.9, random_state=1),
    "weak": pu.simulate.binormal(0.6).sample(100, 600, alpha=0.1, random_state=2),
}
FEW: dict[str, Any] = {"n_resamples": 60}


@cache
def plain(world: str, **known: Any) -> str:
    s = WORLDS[world]
    return pu.evaluate(s.scores, s.labeled, **FEW, **known).to_json()


def unanswered(world: str) -> pu.audit.JudgedRows:
    s = WORLDS[world]
    return pu.audit.draw(s.scores, s.labeled, n=7).answer([None] * 7)


# What says nothing, and what the report is the same as.
NOTHING: dict[str, tuple[Callable[[str], dict[str, Any]], dict[str, Any]]] = {
    "alpha from 0 to 0.99": (lambda _: {"alpha": (0, 0.99)}, {}),
    "alpha from 0 to 1": (lambda _: {"alpha": (0, 1)}, {}),
    "beta from 0 to 1": (lambda _: {"beta": (0, 1)}, {}),
    "beta above 0": (lambda _: {"beta": (1e-9, 1)}, {}),
    "both": (lambda _: {"alpha": (0, 1), "beta": (0, 1)}, {}),
    "a prior": (lambda _: {"prior": (0, 1), "scenario": "case-control"}, {}),
    "a prior of all rows": (
        lambda _: {"prior": (0, 1), "scenario": "censoring"},
        {"scenario": "censoring"},
    ),
    "a label frequency": (lambda _: {"label_frequency": (1e-9, 1)}, {"scenario": "censoring"}),
    "alpha where labels are clean": (lambda _: {"alpha": (0, 0.99), "beta": 1}, {"beta": 1}),
    "no hits": (lambda _: {"hits": (0, 0)}, {}),
    "no hits of the top": (
        lambda _: {"hits": (0, 0), "settings": pu.Settings(hits_from="top:50")},
        {},
    ),
    "no answers": (lambda world: {"judged": unanswered(world)}, {}),
    "no answers and a range": (
        lambda world: {"judged": unanswered(world), "alpha": (0, 1)},
        {},
    ),
}


@pytest.mark.parametrize(("place", "name"), list(enumerate(NOTHING)))
def test_what_says_nothing_changes_nothing(place: int, name: str) -> None:
    says, known = NOTHING[name]
    world = list(WORLDS)[place % len(WORLDS)]
    s = WORLDS[world]
    found = pu.evaluate(s.scores, s.labeled, **FEW, **says(world)).to_json()
    assert found == plain(world, **known)  # all values, intervals, checks and prices


@pytest.mark.parametrize("estimator", ["label-curve", "bbe"])
def test_it_changes_nothing_for_other_estimators(estimator: str) -> None:
    s = WORLDS["wide"]
    how = {**FEW, "settings": pu.Settings(estimator=estimator)}
    found = pu.evaluate(s.scores, s.labeled, alpha=(0, 1), **how)
    assert found.to_json() == pu.evaluate(s.scores, s.labeled, **how).to_json()


def test_judged_rows_make_the_same_report_with_a_range_that_says_nothing() -> None:
    s = WORLDS["wide"]
    design = pu.audit.draw(s.scores, s.labeled, n=10)
    judged = design.answer(s.truth[design.rows])
    found = [
        pu.evaluate(s.scores, s.labeled, judged=judged, **FEW, **known).to_json()
        for known in ({}, {"alpha": (0, 1)}, {"beta": (0, 1)}, {"hits": (0, 0)})
    ]
    assert len(set(found)) == 1


def test_it_changes_nothing_through_any_door(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    s, file = WORLDS["wide"], tmp_path / "rows.csv"
    frame = pd.DataFrame({"score": s.scores, "labeled": s.labeled.astype(int)})
    frame.to_csv(file, index=False)
    columns = {"score": "score", "labeled": "labeled"}
    doors: dict[str, set[str]] = {"frame": set(), "counts": set(), "file": set()}
    given = ({}, {"alpha": (0, 0.99)}, {"beta": (0, 1)}, {"hits": (0, 0)})
    for known in given:
        doors["frame"].add(pu.evaluate(frame, **columns, **FEW, **known).to_json())
        doors["counts"].add(pu.evaluate(s.counts, **FEW, **known).to_json())
        words = [
            f"--{name}={'/'.join(map(str, ends))}"
            if name == "hits"
            else f"--{name}={ends[0]}..{ends[1]}"
            for name, ends in known.items()
        ]
        call = call_main(capsys, "evaluate", file, "--n-resamples=60", "--json", *words)
        found = call.json
        del found["source"], found["checksum"]
        doors["file"].add(json.dumps(found))
    assert {door: len(each) for door, each in doors.items()} == dict.fromkeys(doors, 1)


@pytest.mark.parametrize("world", WORLDS)
def test_a_range_that_says_next_to_nothing_changes_next_to_nothing(world: str) -> None:
    s = WORLDS[world]
    plain_report = pu.evaluate(s.scores, s.labeled)
    draws = pu.estimators.ReferencePosterior().fit(s.scores, s.labeled).draws(2**12)[:, 0]
    found = pu.evaluate(s.scores, s.labeled, alpha=(0, np.sort(draws)[-3]))
    assert found.state == "determined"  # by another way, with the same random numbers
    for name in ("roc_auc", "auc_pr", "recall"):
        before, after = plain_report.intervals[name], found.intervals[name]
        assert after.low == pytest.approx(before.low, abs=0.02 * before.width + 0.002), name
        assert after.high == pytest.approx(before.high, abs=0.06 * before.width + 0.002), name


def answered(seed: int) -> tuple[pu.simulate.Sample, pu.audit.JudgedRows, dict[str, Any]]:
    """Random rows, judged in a random design with random verdicts, and a random threshold."""
    rng = np.random.default_rng(seed)
    s = pu.simulate.binormal(rng.uniform(0.5, 3)).sample(
        80, 400, alpha=rng.uniform(0.05, 0.5), random_state=seed
    )
    how: dict[str, Any] = [{}, {"review": 60}, {"design": "random"}, {"design": "stratified"}][
        seed % 4
    ]
    design = pu.audit.draw(s.scores, s.labeled, n=int(rng.integers(1, 50)), **how)
    verdicts = rng.random(design.rows.size) < rng.choice([0.0, 0.2, 0.8, 1.0])
    known: dict[str, Any] = {"review": 60} if "review" in how else {}
    if seed % 3 == 1:
        known = {"threshold": float(rng.choice(s.scores))}
    return s, design.answer(verdicts), known


@pytest.mark.filterwarnings("ignore:.*contradict these scores")
@pytest.mark.parametrize("seed", range(8))
def test_no_figure_of_these_rows_reaches_what_an_answer_excludes(seed: int) -> None:
    s, judged, known = answered(seed)
    try:
        report = pu.evaluate(s.scores, s.labeled, judged=judged, **FEW, **known)
    except ContradictionError:
        return  # verdicts that no alpha allows
    if report.contradicted:
        return
    rows, positive = judged.design.rows, judged.verdicts == 1
    above = s.scores[rows] >= report.threshold
    n, flagged = s.counts.n_unlabeled, report.confusion.flagged
    yes, no = ((positive & above).sum(), (~positive & above).sum())
    missed, passed = ((positive & ~above).sum(), (~positive & ~above).sum())
    most_flagged, most_missed = flagged - no, n - flagged - passed
    allowed = {
        "tp": (yes, most_flagged),
        "fp": (no, flagged - yes),
        "fn": (missed, most_missed),
        "tn": (passed, n - flagged - missed),
    }
    for name, (low, high) in allowed.items():
        for value in (getattr(report.confusion, name), *report.confusion.intervals.get(name, ())):
            assert low - 1e-9 <= value <= high + 1e-9, name

    assert report.metrics["precision"] == pytest.approx(report.confusion.tp / flagged)
    assert report.metrics["npv"] == pytest.approx(report.confusion.tn / (n - flagged))

    def share(part: float, rest: float) -> float:
        return part / (part + rest) if part + rest else np.nan

    # Recall is of the labeled positives as well.
    high = s.scores[s.labeled] >= report.threshold
    limits = {
        "precision": (share(yes, flagged - yes), share(most_flagged, no)),
        "recall": (
            share(yes, most_missed + (~high).sum()),
            share(most_flagged + high.sum(), missed),
        ),
        "npv": (share(passed, n - flagged - passed), share(n - flagged - missed, missed)),
    }
    for name, (low, high) in limits.items():
        interval = report.intervals[name]
        for value in (report.metrics[name], interval.low, interval.high):
            assert not value < low - 1e-9, name
            assert not value > high + 1e-9, name
    assert pu.PUReport.from_json(report.to_json()).confusion == report.confusion

    both = pu.audit.combine(judged, s.scores, s.labeled)
    again = pu.evaluate(s.scores, s.labeled, proportions=both, **FEW, **known)
    assert again.confusion == report.confusion
    found, asked = judged.tally(labeled=False)
    for i, (number, purity) in enumerate(zip(both.n_positive, both.purity, strict=True)):
        size = judged.design.n_unlabeled[i]
        assert found[i] <= number.low <= number.high <= size - (asked[i] - found[i])
        assert purity.high == pytest.approx(number.high / max(size, 1))


def test_rows_that_are_all_judged_are_known() -> None:
    s = WORLDS["wide"]
    design = pu.audit.draw(s.scores, s.labeled, review=30, n=30)
    report = pu.evaluate(
        s.scores, s.labeled, judged=design.answer(s.truth[design.rows]), review=30, **FEW
    )
    share = s.truth[design.rows].mean()
    found = report.intervals["precision"]
    assert (found.low, found.estimate, found.high) == pytest.approx((share, share, share))


def test_answers_about_other_rows_bound_nothing() -> None:
    s = WORLDS["wide"]
    design = pu.audit.draw(s.scores, s.labeled, review=30, n=30)
    audit = pu.audit.combine(design.answer(s.truth[design.rows]), s.scores, s.labeled)
    other = pu.simulate.binormal(1.5).sample(150, 800, alpha=0.25, random_state=9)
    report = pu.evaluate(other.scores, other.labeled, proportions=audit, review=30, **FEW)
    assert report.intervals["precision"].width > 0
    assert report.confusion.answers == ((0.0, 0.0), (0.0, 0.0))


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("assume", [(), ("pure-top",)])
def test_the_largest_alpha_is_one_number(world: str, assume: tuple[str, ...]) -> None:
    s = WORLDS[world]
    report = pu.evaluate(s.scores, s.labeled, assume=assume, **FEW)
    most = report.largest_alpha
    ends = report.estimation.identification
    assert ends["alpha"] == (0.0, most)
    assert report.to_dict()["estimation"]["identification"]["alpha"] == [0.0, most]
    text = " ".join(str(report).split())
    line = re.search(r"\(at most (\S+) %\): AUC (\S+) to (\d\.\d+),", text)
    assert line is not None
    assert float(line[1]) == pytest.approx(100 * most, abs=0.11)
    low, high = ends["auc"]
    assert (line[2], line[3]) == (f"{low:.3f}", f"{high:.3f}")
    alpha = f"{rounded_down(most):.3g}"
    details = " ".join(report.details().split())
    assert f"alpha 0 to {alpha}," in details
    assert f"auc {low:.3f} to {high:.3f}." in details
    told = next(check.message for check in report.checks if check.code == "PU017")
    assert "overlap everywhere" not in told or f"alpha from 0 to {alpha}," in told
    payload = json.loads(re.findall(r'id="payload">(.*?)</script>', report.to_html())[0])
    assert payload["report"]["largest_alpha"] == pytest.approx(most)
    if most < 0.9:
        with pytest.raises(ContradictionError, match=rf"alpha between 0 and {alpha}, not"):
            pu.evaluate(s.scores, s.labeled, alpha=(0.98, 0.99), assume=assume, **FEW)


@pytest.mark.parametrize("world", ["wide", "narrow"])
def test_a_limit_is_the_same_wherever_alpha_is_given(world: str) -> None:
    s = WORLDS[world]
    report = pu.evaluate(s.scores, s.labeled, alpha=0.95, n_resamples=0)
    most = f"{rounded_down(largest_alpha(s.counts)):g}"
    assert report.contradicted
    assert report.largest_alpha == largest_alpha(s.counts) < 0.95
    limits = pu.estimators.inclusion_bound(s.counts), 1 - least_delta(s.counts)
    assert report.largest_alpha == pytest.approx(min(limits))
    assert f"at most {most}" in report.contradiction
    told = next(check.message for check in report.checks if check.code == "PU008")
    assert f"at most {most} fits" in told


def test_one_place_says_what_an_interval_is_of() -> None:
    s = WORLDS["wide"]
    report = pu.evaluate(s.scores, s.labeled, alpha=0.25, **FEW)
    other = pu.evaluate(s.scores, s.labeled, alpha=0.25, target=0.01, **FEW)
    for name, metric in METRICS.items():
        if name in report.metrics:
            assert report.intervals[name].scope == metric.scope("population"), name
            assert other.intervals[name].scope == metric.scope(0.01), name
    assert report.to_dict()["intervals"]["precision"]["scope"] == "rows"
    assert (other.intervals["recall"].scope, other.intervals["precision"].scope) == (
        "rows",
        "population",
    )
    assert report.details().count("are of these very rows") == 1
    none = pu.evaluate(s.scores, s.labeled, alpha=0.25, n_resamples=0)
    assert "are of these very rows" not in none.details()


def test_precision_and_the_number_flagged_are_one() -> None:
    s = WORLDS["wide"]
    report = pu.evaluate(s.scores, s.labeled, alpha=0.25, threshold=1.0, n_resamples=300)
    low, high = report.confusion.intervals["tp"]
    found = report.intervals["precision"]
    ends = (low / report.confusion.flagged, high / report.confusion.flagged)
    assert (found.low, found.high) == pytest.approx(ends)


@pytest.mark.parametrize(("size", "share"), [(5, 0.5), (20, 0.9), (60, 0.05), (1000, 0.3)])
def test_numbers_are_drawn_as_binomial_ones(size: int, share: float) -> None:
    drawn = draw_positives(size, np.full(40_000, share), 1.0, np.random.default_rng(0))
    whole = np.arange(size + 1)
    seen = np.searchsorted(np.sort(drawn), whole, side="right") / drawn.size
    assert np.abs(seen - stats.binom(size, share).cdf(whole)).max() < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("world", [pu.simulate.binormal(1.5), pu.simulate.binormal(0.8)])
def test_realized_figures_are_held_as_often_as_the_level_says(world: pu.simulate.World) -> None:
    held = dict.fromkeys(("precision", "recall", "f1", "npv"), 0)
    n = 600
    for seed in range(n):
        s = world.sample(200, 1000, alpha=0.25, random_state=seed)
        report = pu.evaluate(
            s.scores, s.labeled, alpha=0.25, threshold=1.0, n_resamples=400, random_state=seed
        )
        hidden, flagged = s.truth[~s.labeled], s.scores[~s.labeled] >= 1.0
        tp, fp, fn = (hidden & flagged).sum(), (~hidden & flagged).sum(), (hidden & ~flagged).sum()
        real = {
            "precision": tp / (tp + fp),
            "recall": s.truth[s.scores >= 1].sum() / s.truth.sum(),
            "f1": 2 * tp / (2 * tp + fp + fn),
            "npv": 1 - fn / (~flagged).sum(),
        }
        for name, value in real.items():
            held[name] += value in report.intervals[name]
    for name, hits in held.items():
        assert 0.93 <= hits / n <= 0.97, name
