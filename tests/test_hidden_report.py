"""Hidden positives in reports: a section, a chart, and the theta at which a metric tips."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import purecover as pu
from purecover.documents.details import MARKS

DEMO = pu.load_example()


@pytest.fixture(scope="module")
def report() -> pu.PUReport:
    wanted = {"auc": 0.7, "recall": 0.99, "precision": 0.01}
    return pu.evaluate(
        DEMO.scores, DEMO.labeled, alpha=0.4, n_resamples=0, settings=pu.Settings(at_least=wanted)
    )


def all_positives(report: pu.PUReport, theta: float) -> float:
    """The AUC of all positives with clean labels, in closed form."""
    alpha, n = report.alpha, report.counts
    labeled = (report.auc_pu - alpha * theta) / (1 - alpha)
    hidden = ndtr(ndtri(labeled) - ndtri(theta))
    share = n.n_labeled / (n.n_labeled + alpha * n.n_unlabeled)
    return float(share * labeled + (1 - share) * hidden)


def test_the_tipping_point_is_where_the_metric_has_the_value(report: pu.PUReport) -> None:
    found = re.search(
        r"AUC of all positives is below 0\.70 only if theta > (0\.\d\d)",
        " ".join(str(report).split()),
    )
    assert found is not None
    theta = float(found[1])
    assert all_positives(report, theta + 0.006) < 0.7 < all_positives(report, theta - 0.006)
    told = " ".join(str(report).split())
    assert "At this alpha the recall of all positives is below 0.99 even for random labels." in told
    assert len(str(report).splitlines()) <= 25


def test_the_details_have_metrics_by_theta(report: pu.PUReport) -> None:
    text = report.details().partition("Hidden positives\n")[2].partition("Assumptions")[0]
    rows = re.findall(
        r"^ +(0\.\d\d)[^\d\n]* (0\.\d{3}) +0\.\d{3} +0\.\d{3} +([\d,]+)$", text, re.MULTILINE
    )
    assert [float(row[0]) for row in rows] == sorted({*MARKS.values(), 0.6, 0.8, 0.9})
    for theta, auc, _ in rows:
        assert float(auc) == pytest.approx(all_positives(report, float(theta)), abs=6e-4)
    assert [int(row[2].replace(",", "")) for row in rows] == sorted(
        int(row[2].replace(",", "")) for row in rows
    )


def test_the_page_has_the_same_metrics(report: pu.PUReport) -> None:
    page = report.to_html()
    payload = json.loads(re.findall(r'id="payload">(.*?)</script>', page)[0])["hidden"]
    for theta, auc in zip(payload["theta"], payload["auc"], strict=True):
        assert auc == pytest.approx(all_positives(report, theta), abs=1e-5)
    assert 'id="hidden-positives"' in page


def test_marks_are_those_of_the_study() -> None:
    study = (Path(__file__).parents[1] / "studies/results/real_labels.md").read_text()
    rows = re.findall(r"^\| (\S+) +\| (.*?) +\| (\d+) +\| (0\.\d\d) ", study, re.MULTILINE)
    assert len(rows) > 10

    def mean(folds: str, *sources: str) -> float:
        used = [(float(t), int(n)) for s, f, n, t in rows if f == folds and s in sources]
        values, sizes = zip(*used, strict=True)
        return float(np.average(values, weights=sizes))

    species = ("AWT", "CAN", "NSW", "NZ", "SA", "SWI")
    for name, value in (
        ("species records, other places", mean("spatial blocks", *species)),
        ("species records, same places", mean("random folds", *species)),
        ("diabetes told by a doctor", mean("random folds", "nhanes/diabetes")),
    ):
        assert MARKS[name] == pytest.approx(value, abs=0.02), name


WAYS: dict[str, Any] = {
    "estimated": {},
    "assumed": {"assume": ["pure-top"]},
    "a range": {"alpha": (0.1, 0.6)},
    "hits": {"hits": (25, 40)},
}


@pytest.mark.parametrize("way", WAYS)
def test_an_alpha_that_assumes_random_labels_judges_no_theta(way: str) -> None:
    rows: Any = {"scores": DEMO.scores[::4], "labeled": DEMO.labeled[::4], "n_resamples": 0}
    known = pu.evaluate(**rows, **WAYS[way])
    with pytest.raises(pu.exceptions.InvalidInputError, match="unless alpha is given"):
        pu.evaluate(**rows, **WAYS[way], settings=pu.Settings(at_least={"auc": 0.85}))
    saved = replace(known, at_least={"auc": 0.85})  # as an earlier version took it
    assert "of all positives is" not in str(saved) + saved.details()


def test_no_sentence_is_made_of_a_value_that_is_hardly_known(report: pu.PUReport) -> None:
    wide = replace(
        pu.evaluate(DEMO.scores[::4], DEMO.labeled[::4], alpha=0.4, n_resamples=20).intervals[
            "precision"
        ],
        low=0.01,
        high=0.99,
    )
    unknown = replace(report, intervals={"precision": wide})
    for text in (str(unknown), unknown.details()):
        told = " ".join(text.split())
        assert "Whether the precision of all positives is at least 0.01 is not known." in told
        assert "precision of all positives is at least 0.01 whatever" not in told
    page = json.loads(re.findall(r'id="payload">(.*?)</script>', unknown.to_html())[0])["hidden"]
    assert page["precision"] is None
    assert page["auc"]


def test_saved_reports_keep_what_was_wanted(report: pu.PUReport) -> None:
    again = pu.PUReport.from_json(report.to_json())
    assert again.at_least == report.at_least
    assert str(again) == str(report)


def test_without_hidden_positives_there_is_no_section() -> None:
    counts = pu.ScoreCounts.from_counts([2, 1], [30, 20], [300, 700])
    for alpha in (0.0, 0.9):  # none, and more than the scores allow
        report = pu.evaluate(
            counts, alpha=alpha, n_resamples=0, settings=pu.Settings(at_least={"auc": 0.7})
        )
        assert "Hidden positives" not in report.details()
        assert "theta" not in str(report)
        assert "hidden-positives" not in report.to_html()
    assert math.isnan(report.auc)
