"""Isotonic regression is SciPy's, with and without its package."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import isotonic_regression as theirs

from purecover.recovery import repairs as _isotonic


@pytest.mark.parametrize("alone", [True, False])
@given(
    values=hnp.arrays(np.float64, st.integers(1, 40), elements=st.integers(-3, 3).map(float)),
    seed=st.integers(0, 99),
)
def test_as_scipy(alone: bool, values: np.ndarray, seed: int) -> None:
    weights = np.random.default_rng(seed).uniform(0.1, 2, values.size)
    with pytest.MonkeyPatch.context() as patch:
        if not alone:
            patch.setattr(_isotonic, "_pava", lambda: None)
        found = _isotonic.isotonic_regression(values, weights=weights)
    expected = theirs(values, weights=weights)
    np.testing.assert_array_equal(found.x, expected.x)
    np.testing.assert_array_equal(found.blocks, expected.blocks)


def test_scipy_has_the_solver_where_it_is_looked_for() -> None:
    """It is private. The error says what another SciPy does; reports are right, but slower."""
    _isotonic._solver_of_scipy()
    assert _isotonic._pava() is not None


@pytest.mark.parametrize("spread", [0.3, 0.9, 2.5])
def test_rows_are_projected_apart(spread: float) -> None:
    rng = np.random.default_rng(0)
    rates, weights = spread * rng.random((4, 30)), rng.random((4, 29)) + 0.1
    rates[1] += 0.2  # the next row begins below the end of this one
    found = _isotonic.project(rates, weights)
    for i in range(4):
        alone = _isotonic.project(rates[i : i + 1], weights[i : i + 1])[0]
        np.testing.assert_allclose(found[i], alone, atol=1e-12)
