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
from purecover.intervals import evidence_thresholds
from purecover.report import evaluate_many
from purecover.report.text import render_evidence_text, render_threshold_text

FOLDER = Path(__file__).parent / "golden"
ROWS = pu.simulate.binormal(1.5).sample(150, 1500, alpha=0.25, beta=0.95, random_state=0)
RARE = pu.simulate.binormal(2.0).sample(100, 3000, alpha=0.03, random_state=0)


def text_and_markdown(report: pu.PUReport) -> str:
    # Versions are those of whoever runs the test.
    return f"{report}\n\n{re.sub(r'<sub>.*</sub>', '<sub></sub>', report.to_markdown())}"


def alpha_given() -> str:
    return text_and_markdown(
        pu.evaluate(ROWS.scores, ROWS.labeled, alpha=0.25, truth=ROWS.truth, n_resamples=50)
    )


def estimated() -> str:
    return text_and_markdown(pu.evaluate(ROWS.scores, ROWS.labeled, n_resamples=50))


def noisy_labels() -> str:
    weak = ROWS.scores + np.random.default_rng(0).normal(size=ROWS.scores.size)
    return text_and_markdown(
        pu.evaluate(weak, ROWS.labeled, beta=0.95, estimator="alphamax-n", n_resamples=30)
    )


def options() -> str:
    scores = 1 / (1 + np.exp(-RARE.scores))
    report = pu.evaluate(
        scores, RARE.labeled, alpha=0.03, scenario="censoring", target="pooled", threshold=0.8,
        top_k=40, f_beta=2, cost_fn=5, probabilities=True, area="trapezoid", n_resamples=30,
    )  # fmt: skip
    return text_and_markdown(report)


def warnings_and_errors() -> str:
    """Alpha and beta that contradict the scores, scores the wrong way round, and few rows."""
    few = pu.evaluate([5, 4, 3, 2, 1, 0], [1, 1, 1, 0, 0, 0], alpha=0.4, n_resamples=20)
    reversed_ = pu.evaluate(-ROWS.scores, ROWS.labeled, alpha=0.25, n_resamples=0)
    return f"{text_and_markdown(few)}\n{reversed_}"


def threshold() -> str:
    choice = pu.choose_threshold(RARE.counts, pu.MixtureProportions(0.03), "f1")
    report = pu.evaluate(
        RARE.scores, RARE.labeled, alpha=0.03, threshold=choice.threshold, n_resamples=30
    )
    return render_threshold_text(choice, report)


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
    return render_evidence_text(found, report)


CASES: tuple[Callable[[], str], ...] = (
    alpha_given, estimated, noisy_labels, options, warnings_and_errors, threshold, comparison, many,
    evidence,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_text(case: Callable[[], str], request: pytest.FixtureRequest) -> None:
    file = FOLDER / f"{case.__name__}.txt"
    written = case() + "\n"
    if request.config.getoption("--renew"):
        file.write_text(written, encoding="utf-8")
    assert written == file.read_text(encoding="utf-8")
