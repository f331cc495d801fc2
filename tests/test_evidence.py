"""Evidence thresholds against closed forms."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest
from tests.command_line import call_main

import purecover as pu
from purecover.displays import EvidenceDisplay
from purecover.exceptions import InvalidInputError
from purecover.intervals import evidence_constant, evidence_thresholds
from purecover.intervals.evidence import local_ratio
from purecover.report import evidence_page

# Distance of normal scores, alpha, beta, sizes.
WORLDS = {
    "good": (2.0, 0.1, 1.0, (2000, 10_000)),
    "noisy": (2.0, 0.25, 0.9, (2000, 10_000)),
    "rare": (3.0, 0.05, 1.0, (2000, 20_000)),
}


def test_odds_of_very_strong_evidence_are_the_published_ones() -> None:
    assert evidence_constant(0.1) == pytest.approx(350, abs=0.5)
    assert evidence_constant(0.0441) == pytest.approx(1124, rel=0.01)
    with pytest.raises(InvalidInputError, match="'prior'"):
        evidence_constant(0)


@pytest.mark.parametrize("name", [*WORLDS, "beta"])
def test_thresholds_are_those_of_the_closed_form(name: str) -> None:
    # Beta(2, 1) against Beta(1, 2) has the likelihood ratio x / (1 - x).
    shift, alpha, beta, sizes = WORLDS.get(name, WORLDS["good"])
    world = pu.simulate.beta((2, 1), (1, 2)) if name == "beta" else pu.simulate.binormal(shift)
    z = []
    for seed in range(4):
        s = world.sample(*sizes, alpha=alpha, beta=beta, random_state=seed)
        found = evidence_thresholds(s.counts, s.proportions, n_resamples=50, random_state=0)
        # The log of the likelihood ratio is shift * score - shift^2 / 2.
        truth = (np.log(found.odds) + shift**2 / 2) / shift
        if name == "beta":
            truth = found.odds / (1 + found.odds)
        z.append((found.thresholds - truth) / found.standard_errors)
        middle = np.abs(found.points) <= 2
        assert np.isfinite(found.bounds[middle]).all()
        # Bounds are on the safe side of the thresholds.
        safe = np.where(found.points > 0, 1, -1) * (found.bounds - found.thresholds)
        assert np.nanmin(safe) > -1e-9
        assert np.all(np.diff(found.thresholds[np.isfinite(found.thresholds)]) >= 0)
    assert np.nanmax(np.abs(np.mean(z, axis=0))) < 2
    assert np.all(np.isfinite(np.mean(z, axis=0))[2:6])


@pytest.mark.slow
def test_bounds_are_rarely_too_close() -> None:
    shift, alpha, _, sizes = WORLDS["good"]
    wrong = []
    for seed in range(8):
        s = pu.simulate.binormal(shift).sample(*sizes, alpha=alpha, random_state=seed)
        found = evidence_thresholds(s.counts, s.proportions, n_resamples=60, random_state=0)
        truth = (np.log(found.odds) + shift**2 / 2) / shift
        sign = np.where(found.points > 0, 1, -1)
        wrong.append(np.where(np.isnan(found.bounds), False, sign * (found.bounds - truth) < 0))
    assert np.mean(wrong) < 0.12  # one in twenty, more or less
    assert np.mean(np.array(wrong)[:, [0, -1]]) < 0.1  # few rows make no very strong evidence


@pytest.mark.parametrize("beta", [1.0, 0.8])
def test_no_row_of_a_class_is_at_most_three(beta: float) -> None:
    """Scores that separate the classes have the ratio that three rows more would make."""
    alpha, n_labeled, n_unlabeled = 0.1, 10_000, 100_000
    counts = pu.ScoreCounts.from_counts(
        [2, 1],
        [n_labeled * beta, n_labeled * (1 - beta)],
        [n_unlabeled * alpha, n_unlabeled * (1 - alpha)],
    )
    scores, ratio = local_ratio(counts, pu.MixtureProportions(alpha, beta), 2)
    assert scores.tolist() == [1, 2]
    positives = (1 - alpha) * 3 / n_labeled / (beta - alpha)
    negatives = beta * 3 / n_unlabeled / (beta - alpha)
    assert np.exp(ratio) == pytest.approx([positives, 1 / negatives], rel=2e-3)


def test_points_table_and_picture() -> None:
    s = pu.simulate.binormal(2.0).sample(2000, 10_000, alpha=0.1, random_state=0)
    found = evidence_thresholds(s.counts, s.proportions, n_resamples=50, random_state=0)
    order = np.linspace(-2, 4, 50)
    points = found.points_of(order)
    assert set(points) <= {-8, -4, -2, -1, 0, 1, 2, 4, 8}
    assert np.all(np.diff(points) >= 0)
    assert list(found.frame()) == [
        "evidence", "points", "odds", "posterior", "threshold", "standard_error", "bound",
    ]  # fmt: skip
    assert "moderate for positive" in str(found)
    reached = np.isfinite(found.bounds).sum()
    assert 0 < reached < 8
    assert f"{reached} of 8 strengths" in repr(found)
    display = EvidenceDisplay(found).plot()
    np.testing.assert_array_equal(display.line_.get_ydata(), found.likelihood_ratio)
    assert display.ax_.get_yscale() == "log"
    with pytest.raises(InvalidInputError, match="'target'"):
        evidence_thresholds(s.counts, s.proportions, target=1.0)


def test_an_estimated_alpha_moves_bounds_out() -> None:
    from purecover.estimators import ReferencePosterior

    s = pu.simulate.binormal(2.5).sample(1000, 5000, alpha=0.1, random_state=0)
    estimator = ReferencePosterior().fit(s.counts)
    exact, varied = (
        evidence_thresholds(
            s.counts, estimator.proportions_, estimator=each, n_resamples=60, random_state=0
        )
        for each in (None, estimator)
    )
    assert varied.varied == "scores and proportions"
    page = evidence_page(varied, title="<Score>")
    assert "&lt;Score&gt;" in page
    assert "taken as exact. If it is an estimate" in evidence_page(exact)
    for bound in varied.bounds[np.isfinite(varied.bounds)]:
        assert f"{bound:.4g}".replace("-", "−") + "</bdi></td>" in page
    widths = [np.nan_to_num(each.bounds[4:], nan=99) for each in (exact, varied)]
    assert np.all(widths[1] >= widths[0] - 0.05)
    assert np.any(widths[1] > widths[0] + 0.05)


def test_the_command_writes_the_page(tmp_path, capsys) -> None:
    run = partial(call_main, capsys, "evidence")
    s = pu.simulate.binormal(2.0).sample(300, 1500, alpha=0.1, random_state=0)
    lines = [f"{a!r},{int(b)}" for a, b in zip(s.scores.tolist(), s.labeled.tolist(), strict=True)]
    (tmp_path / "a.csv").write_text("\n".join(["score,labeled", *lines]))
    options = (str(tmp_path / "a.csv"), "--alpha", "0.1", "--resamples", "20")
    page = tmp_path / "a.html"
    said = run(*options, "--html", str(page), "--json")
    assert said.code == 0, said.err
    direct = evidence_thresholds(s.counts, s.proportions, n_resamples=20, random_state=0)
    assert said.json["constant"] == direct.constant
    np.testing.assert_array_equal(np.array(said.json["bounds"], float), direct.bounds)
    assert "supporting +1" in page.read_text()
    assert run(*options, "--target", "1").code == 2
    assert "--html" in run(*options, "--title", "Score").err


@pytest.mark.parametrize(
    ("distance", "n_labeled", "options", "codes", "says"),
    [
        (0.7, 300, (), [], "rows are positive (estimated from comparable data;"),
        (2.0, 5, ("--alpha", "0.3"), ["PU010"], "The prior is taken as exact."),
    ],
)
def test_the_command_warns_as_evaluate_does(
    tmp_path, capsys, distance, n_labeled, options, codes, says
) -> None:
    s = pu.simulate.binormal(distance).sample(n_labeled, 900, alpha=0.3, random_state=0)
    file, page = tmp_path / "a.csv", tmp_path / "a.html"
    columns = np.column_stack((s.scores, s.labeled))
    np.savetxt(file, columns, delimiter=",", header="score,labeled", comments="", fmt="%.17g")
    run = partial(call_main, capsys, "evidence", file, *options, "--n-resamples", 50)
    text = " ".join(run("--html", page).out.split())
    assert says in text
    assert ("The prior is taken as exact." in text) == ("--alpha" in options)
    assert re.findall(r"\((PU\d+)\)", text) == codes
    assert all(f"({code})" in page.read_text() for code in codes)
    document = run("--json").json
    assert [found["code"] for found in document["findings"]] == codes
    assert ("alpha" in document["intervals"]) == ("--alpha" not in options)
    assert document["proportions"]["alpha"] == pytest.approx(document["prior"])


@pytest.mark.parametrize(
    ("labeled", "alpha", "match"),
    [
        ([50, 50], 0.2, "score higher than the unlabeled"),
        ([90, 10], 0.9, "contradict these scores"),
        ([60, 40], 0.88, "needs rarer positives"),
    ],
)
def test_what_is_no_evidence_is_refused(labeled: list[int], alpha: float, match: str) -> None:
    counts = pu.ScoreCounts.from_counts([1, 0], labeled=labeled, unlabeled=[50, 50])
    with pytest.raises(InvalidInputError, match=match):
        pu.intervals.evidence_thresholds(counts, pu.MixtureProportions(alpha), n_resamples=20)
