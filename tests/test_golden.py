"""The text and the Markdown of typical results, word for word.

``python -m pytest tests/test_golden.py --renew`` writes the files anew; read the difference
before committing it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import purecover as pu
from purecover.documents.thresholds import evidence_text, threshold_text
from purecover.intervals import evidence_thresholds
from purecover.report import evaluate_many

FOLDER = Path(__file__).parent / "golden"
ROWS = pu.simulate.binormal(1.5).sample(150, 1500, alpha=0.25, beta=0.95, random_state=0)
DEMO = pu.load_example()
RARE = pu.simulate.binormal(2.0).sample(100, 3000, alpha=0.03, random_state=0)


def without_versions(report: pu.PUReport) -> str:
    # Versions are those of whoever runs the test.
    return re.sub(r"<sub>.*</sub>", "<sub></sub>", report.to_markdown())


def alpha_unknown() -> str:
    return str(pu.evaluate(DEMO.scores, DEMO.labeled, truth=DEMO.truth))


def alpha_known() -> str:
    return str(pu.evaluate(DEMO.scores, DEMO.labeled, alpha=DEMO.alpha))


def ten_judged() -> str:
    design = pu.audit.draw(DEMO.scores, DEMO.labeled)
    verdicts = design.answer(DEMO.truth[design.rows])
    return str(pu.evaluate(DEMO.scores, DEMO.labeled, judged=verdicts))


def weak_scores() -> str:
    """Classes that overlap so much that alpha hardly changes the AUC."""
    sample = pu.simulate.binormal(0.55).sample(200, 2000, alpha=0.2, random_state=0)
    return str(pu.evaluate(sample.scores, sample.labeled))


def contradiction() -> str:
    """An alpha that the scores exclude, and scores that rank the wrong way round."""
    too_large = pu.evaluate(DEMO.scores, DEMO.labeled, alpha=0.6)
    reversed_ = pu.evaluate(-ROWS.scores, ROWS.labeled, alpha=0.25, n_resamples=0)
    return f"{too_large}\n\n{reversed_}"


def pure_top() -> str:
    return str(pu.evaluate(DEMO.scores, DEMO.labeled, assume=["pure-top"]))


def details() -> str:
    """The rest of a report, as text and in Markdown."""
    report = pu.evaluate(ROWS.scores, ROWS.labeled, truth=ROWS.truth, n_resamples=50)
    return f"{report.details()}\n\n{without_versions(report)}"


def options() -> str:
    scores = 1 / (1 + np.exp(-RARE.scores))
    report = pu.evaluate(
        scores, RARE.labeled, alpha=0.03, scenario="censoring", target="pooled", threshold=0.8,
        settings=pu.Settings(top_k=40, f_beta=2, cost_fn=5, probabilities=True, area="trapezoid"),
        n_resamples=30,
    )  # fmt: skip
    return f"{report}\n\n{without_versions(report)}"


def threshold() -> str:
    choice = pu.choose_threshold(RARE.counts, pu.MixtureProportions(0.03), "f1")
    report = pu.evaluate(
        RARE.scores, RARE.labeled, alpha=0.03, threshold=choice.threshold, n_resamples=30
    )
    return threshold_text(choice, report)


def comparison() -> str:
    rng = np.random.default_rng(0)
    scores = {
        "full": ROWS.scores,
        "small": ROWS.scores + rng.normal(size=ROWS.scores.size),
        "noise": rng.normal(size=ROWS.scores.size),
    }
    given = pu.compare_scores(scores, ROWS.labeled, alpha=0.25, n_resamples=50)
    estimated = pu.compare_scores(scores, ROWS.labeled, n_resamples=0)
    return f"{given}\n\n{estimated}"


def many() -> str:
    task = np.resize(["east", "west", "north"], ROWS.scores.size)
    labeled = ROWS.labeled & (task != "north")
    table = {"task": task, "risk": ROWS.scores, "low": -ROWS.scores, "labeled": labeled}
    found = evaluate_many(
        table, "labeled", score=["risk", "low"], by="task", alpha=0.25, n_resamples=20
    )
    return str(found)


def evidence() -> str:
    report = pu.evaluate(ROWS.scores, ROWS.labeled, alpha=0.25, n_resamples=0)
    found = evidence_thresholds(ROWS.counts, report.proportions, n_resamples=50, random_state=0)
    return evidence_text(found, report)


CASES: tuple[Callable[[], str], ...] = (
    alpha_unknown, ten_judged, alpha_known, weak_scores, contradiction, pure_top, details, options,
    threshold, comparison, many, evidence,
)  # fmt: skip
LONGEST = 25
"""Most lines of a report."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_text(case: Callable[[], str], request: pytest.FixtureRequest) -> None:
    file = FOLDER / f"{case.__name__}.txt"
    written = case() + "\n"
    if request.config.getoption("--renew"):
        file.write_text(written, encoding="utf-8")
    assert written == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("case", [alpha_unknown, ten_judged, alpha_known, weak_scores, pure_top])
def test_a_report_is_short(case: Callable[[], str]) -> None:
    text = (FOLDER / f"{case.__name__}.txt").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST
    assert max(map(len, text.splitlines())) <= 100
