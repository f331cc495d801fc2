"""Other estimators beside the one of a report: their intervals, and how they are shown."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest

import purecover as pu
from purecover import simulate
from purecover.html.page import estimation as estimation_table
from purecover.html.payload import make_payload
from purecover.intervals.resampling import resampler_for
from purecover.report.estimation import COMPARED, GROUPS, REPLICATES, other_intervals

SAMPLE = simulate.binormal(2.0).sample(150, 600, alpha=0.3, random_state=0)


@cache
def report(**more: Any) -> pu.PUReport:
    return pu.evaluate(SAMPLE.scores, SAMPLE.labeled, n_resamples=20, random_state=0, **more)


def test_every_other_estimator_has_intervals_around_what_it_says() -> None:
    found = report().estimation
    assert found is not None
    assert set(found.other_intervals) == set(found.others) == {
        "alphamax-n", "bbe", "dedpul", "roc-slope",
    }  # fmt: skip
    for name, intervals in found.other_intervals.items():
        assert set(intervals) == {"alpha", "beta", "delta"}
        alpha, beta = found.others[name]
        for key, value in {"alpha": alpha, "beta": beta, "delta": beta - alpha}.items():
            assert intervals[key].estimate == pytest.approx(value, abs=1e-12)
            assert 0 <= intervals[key].low <= intervals[key].high <= 1
        assert intervals["alpha"].low < intervals["alpha"].high
        assert intervals["alpha"].method == "bootstrap percentile, 20 replicates"
        assert intervals["alpha"].confidence_level == 0.95
    with pytest.raises(TypeError):
        found.other_intervals["bbe"]["alpha"] = None  # type: ignore[index]


def test_they_are_percentiles_of_estimates_from_the_same_replicates() -> None:
    """The slow way: draw counts, and fit an estimator to each."""
    counts = SAMPLE.counts
    others = {"bbe": pu.BBE().fit(counts), "dedpul": pu.DEDPUL().fit(counts)}
    found = other_intervals(
        others, counts, confidence_level=0.9, n_resamples=12, rng=np.random.default_rng(5)
    )
    rng = np.random.default_rng(int(np.random.default_rng(5).integers(2**63)))
    drawn = [resampler_for(counts, "multinomial").draw(rng) for _ in range(12)]
    for name, cls in (("bbe", pu.BBE), ("dedpul", pu.DEDPUL)):
        alphas = [cls().fit(each).proportions_.alpha for each in drawn]
        ends = np.quantile(alphas, [0.05, 0.95])
        assert set(found[name]) == {"alpha", "delta"}  # labels are clean to them
        np.testing.assert_allclose((found[name]["alpha"].low, found[name]["alpha"].high), ends)


def test_few_replicates_of_few_groups_suffice() -> None:
    large = simulate.binormal(2.0).sample(1000, 4000, alpha=0.3, random_state=0).counts
    assert large.n_thresholds > GROUPS
    found = other_intervals(
        {"bbe": pu.BBE().fit(large)},
        large,
        confidence_level=0.95,
        n_resamples=10 * REPLICATES,
        rng=np.random.default_rng(0),
    )
    n_groups = large.thinned(GROUPS).n_thresholds
    told = f"bootstrap percentile, {REPLICATES} replicates of {n_groups:,} groups of scores"
    assert found["bbe"]["alpha"].method == told


def test_a_seed_repeats_them() -> None:
    first, second = (
        pu.evaluate(SAMPLE.scores, SAMPLE.labeled, n_resamples=5, random_state=3).estimation
        for _ in range(2)
    )
    assert first is not None
    assert second is not None
    assert first.to_dict() == second.to_dict()


def test_where_beta_is_given_only_alpha_and_delta_vary() -> None:
    found = report(beta=0.9).estimation
    assert found is not None
    for name, intervals in found.other_intervals.items():
        assert set(intervals) == {"alpha", "delta"}
        assert found.others[name][1] == 0.9
        assert intervals["alpha"].high + intervals["delta"].low == pytest.approx(0.9)


@pytest.mark.parametrize("reason", ["no replicates", "groups"])
def test_without_independent_replicates_there_are_none(reason: str) -> None:
    if reason == "groups":
        made = pu.evaluate(
            SAMPLE.scores,
            SAMPLE.labeled,
            groups=np.arange(SAMPLE.scores.size) // 2,
            n_resamples=10,
            random_state=0,
        )
    else:
        made = pu.evaluate(SAMPLE.scores, SAMPLE.labeled, n_resamples=0)
    found, table = made.estimation, estimation_table(made)
    assert found is not None
    assert table is not None
    assert found.others
    assert found.other_intervals == {}
    assert not any("(" in cell for _, cells in table.rows[1:] for cell in cells)
    said = any("need independent rows" in note for note in table.notes)
    assert said is (reason == "groups")


def test_a_document_keeps_them_and_may_lack_them() -> None:
    document = report().to_dict()
    again = pu.PUReport.from_dict(document).estimation
    assert again is not None
    assert report().estimation is not None
    assert again.to_dict() == report().estimation.to_dict()  # type: ignore[union-attr]
    del document["estimation"]["other_intervals"]
    earlier = pu.PUReport.from_dict(document).estimation
    assert earlier is not None
    assert earlier.other_intervals == {}
    document["estimation"]["other_intervals"] = [1]
    with pytest.raises(ValueError, match=r"estimation\.other_intervals"):
        pu.PUReport.from_dict(document)


def test_the_page_shows_them() -> None:
    made = report()
    found = made.estimation
    assert found is not None
    markup, sent = made.to_html(), make_payload(made)["estimation"]
    for name, intervals in found.other_intervals.items():
        ends = intervals["alpha"]
        row = re.search(rf">{name}</bdi></th>(.*?)</tr>", markup)
        assert row is not None
        assert f"({ends.low:.4f} – {ends.high:.4f})" in row.group(1)
        (drawn,) = (each for each in sent["rows"] if each["name"] == name)
        np.testing.assert_allclose(drawn["alpha_interval"][:2], (ends.low, ends.high), atol=1e-6)
    figure = markup[markup.index('<figure data-chart="estimators">') :]
    bars = figure[: figure.index("</figure>")].count('class="curve recovered"')
    assert bars == 2 * (1 + len(COMPARED))
    assert "Intervals of the other estimators: bootstrap percentile, 20 replicates" in markup
