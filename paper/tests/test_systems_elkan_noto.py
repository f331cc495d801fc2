"""ElkanNoto against scikit-learn's isotonic regression, its edge, and roles exchanged."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from tests.strategies import two_samples

from purecover import simulate
from purecover.counts import ScoreCounts
from purecover_paper.systems import ElkanNoto


def test_the_default_is_the_relaxed_maximum():
    sample = simulate.binormal(3).sample(1000, 5000, alpha=0.25, random_state=0)
    found = ElkanNoto().fit(sample.scores, sample.labeled)
    # An independent account of it: scikit-learn's isotonic regression and NumPy's quantile.
    tau = IsotonicRegression().fit(sample.scores, sample.labeled).predict(sample.scores)
    share = np.quantile(tau[sample.labeled], 0.9, method="inverted_cdf")
    expected = (1000 / share - 1000) / 5000
    assert found.proportions_.alpha == pytest.approx(expected, rel=1e-9)


def test_the_maximum_of_calibrated_scores_is_fragile():
    # One labeled row on top of all others.
    scores, labeled = two_samples([9, 3, 2, 1, 3, 2, 1] * 2, [*range(4)] * 10)
    found = ElkanNoto(quantile=1.0).fit(scores, labeled)
    assert found.proportions_.alpha == 0
    assert found.diagnostics_["at_edge"]
    assert any("alpha = 0" in note for note in found.diagnostics_["notes"])
    relaxed = ElkanNoto(quantile=0.7).fit(scores, labeled)
    assert relaxed.proportions_.alpha > 0.1
    assert not relaxed.diagnostics_["at_edge"]


def test_flipping_mirrors_the_problem():
    sample = simulate.binormal(3).sample(1000, 3000, alpha=0.3, beta=0.9, random_state=0)
    flipped = ElkanNoto()._estimate_flipped(sample.counts)
    mirrored = ElkanNoto()._estimate(ScoreCounts.from_scores(-sample.scores, ~sample.labeled))
    assert flipped.a == pytest.approx(mirrored.a, abs=1e-9)
