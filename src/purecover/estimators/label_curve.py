"""`LabelCurve`: floor and ceiling of the share of labeled rows along the ranking.

For each kind of shape the posterior of (a, b) is laid out on a grid around its peak; at every
node the four parameters of the shape are fitted anew and integrated by Laplace's method.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from purecover._parameters import checked
from purecover._typing import BoolArray, CountArray, FloatArray, IntArray
from purecover._validation import check_choice
from purecover.counts import ScoreCounts
from purecover.estimators.base import Inclusions, PriorEstimator, register_prior_estimator
from purecover.estimators.curve_fit import (
    HIGH,
    LARGEST,
    LOW,
    Curves,
    deviance,
    fit_curves,
    label_shares,
)
from purecover.estimators.rank_bins import RankBins


@dataclass(frozen=True, eq=False)
class Posterior:
    """Cells of a grid over (a, b) with their probabilities.

    Attributes
    ----------
    a, b : ndarray of shape (3, n_cells)
        Low end, middle and high end of each cell; all 0 in b where labels are clean.
    weight : ndarray of shape (n_cells,)
        Posterior probability of each cell.
    clean : ndarray of bool of shape (n_cells,)
        Which cells say that labels are clean.
    kinds : ndarray of str of shape (n_cells,)
        Which kind of shape each cell belongs to.
    shares : ndarray of shape (n_cells, n_bins)
        Share of labeled rows in each bin, by the curve of each cell.
    bins : RankBins
        The data.
    """

    a: FloatArray
    b: FloatArray
    weight: FloatArray
    clean: BoolArray
    kinds: NDArray[np.str_]
    shares: FloatArray
    bins: RankBins

    @property
    def alpha(self) -> FloatArray:
        """Alpha in the middle of each cell."""
        return alpha_of(self.a[1], self.b[1])

    @property
    def beta(self) -> FloatArray:
        """Beta in the middle of each cell; exactly 1 where labels are clean."""
        return beta_of(self.a[1], self.b[1])

    @property
    def mean(self) -> tuple[float, float]:
        """Means of alpha and beta."""
        return self.mean_over(np.ones_like(self.clean))

    def mean_over(self, cells: BoolArray) -> tuple[float, float]:
        """Means of alpha and beta over some cells only; NaN if they have no weight."""
        with np.errstate(invalid="ignore", divide="ignore"):
            weight = self.weight[cells] / self.weight[cells].sum()
        noise = float(weight @ (1 - self.beta[cells]))  # exactly 0 if labels are clean
        return float(weight @ self.alpha[cells]), 1 - noise

    @property
    def clean_probability(self) -> float:
        """Posterior probability of beta = 1."""
        return float(self.weight[self.clean].sum())

    def kind_probability(self, kind: str) -> float:
        """Posterior probability of a kind of shape."""
        return float(self.weight[self.kinds == kind].sum())

    def moved(self, labeled: FloatArray, total: FloatArray, cells: BoolArray) -> FloatArray:
        r"""How far replicates of the bins move the means over some cells, shape (n_rows, 2).

        One more labeled row in bin i moves the mean of alpha by the covariance
        :math:`\sum_j w_j (\alpha_j - \bar\alpha) \log\tau_{ij}` over cells j with the weights
        :math:`w_j` and the shares :math:`\tau_{ij}`; one more unlabeled row by that with
        :math:`\log(1 - \tau_{ij})`.
        """
        weight = self.weight[cells] / self.weight[cells].sum()
        away = np.column_stack((self.alpha, self.beta))[cells] - self.mean_over(cells)
        tau, pull = self.shares[cells].T, weight[:, None] * away
        more, everyone = labeled - self.bins.labeled, total - self.bins.total
        found = more @ (np.log(tau) @ pull) + (everyone - more) @ (np.log1p(-tau) @ pull)
        return np.asarray(found, dtype=np.float64)

    def ends(self, level: float) -> dict[str, tuple[float, float]]:
        """Quantiles of alpha, beta and delta at both ends of an interval.

        Probability is spread evenly over each cell. An interval always holds the mean.
        """
        (a_low, _, a_high), (b_low, _, b_high) = self.a, self.b
        alpha, beta = self.mean
        ranges = {
            "alpha": (alpha_of(a_low, b_high), alpha_of(a_high, b_low), alpha),
            "beta": (beta_of(a_low, b_high), beta_of(a_high, b_low), beta),
            "delta": (delta_of(a_high, b_high), delta_of(a_low, b_low), beta - alpha),
        }
        tails = np.array([(1 - level) / 2, (1 + level) / 2])
        ends = {}
        for name, (low, high, mean) in ranges.items():
            found = _quantiles(low, high, self.weight, tails)
            ends[name] = float(min(found[0], mean)), float(max(found[1], mean))
        return ends


def _quantiles(
    low: FloatArray, high: FloatArray, weight: FloatArray, tails: FloatArray
) -> FloatArray:
    """Quantiles of a mixture of uniform distributions; a cell without width is a point."""
    high = np.maximum(high, low + 1e-12)
    places = np.unique(np.concatenate((low, high)))
    passed = ((places[:, None] - low) / (high - low)).clip(0, 1) @ weight
    return np.interp(tails * passed[-1], passed, places)


def alpha_of(a: FloatArray, b: FloatArray) -> FloatArray:
    """Share of positives among the unlabeled, from the inclusions."""
    return np.asarray(a * (1 - b) / (1 - a * b), dtype=np.float64)


def beta_of(a: FloatArray, b: FloatArray) -> FloatArray:
    """Share of positives among the labeled, from the inclusions."""
    return np.asarray((1 - b) / (1 - a * b), dtype=np.float64)


def delta_of(a: FloatArray, b: FloatArray) -> FloatArray:
    """Beta less alpha, from the inclusions."""
    return np.asarray((1 - a) * (1 - b) / (1 - a * b), dtype=np.float64)


# Chosen on simulated worlds and on scores of real classifiers; the leaderboard also shows worlds
# and data sets that had no part in the choice.
SHAPES = {
    "smooth": np.array([[0.0, 0.3, 0.14, 0.14], [4.0, 0.8, 0.15, 0.15]]),
    "steep": np.array([[0.0, -1.5, -1.0, -1.0], [4.0, 1.5, 0.6, 0.6]]),
    "pure": np.array([[0.0, -0.5, 0.14, 0.14], [4.0, 1.5, 0.3, 0.3]]),
}
"""Means and standard deviations of the prior of t, s, k0 and k1 for each kind of shape: like two
normals or logistics; steep at the ends; anything between ends of one class."""

WEIGHTS = {"smooth": 0.7, "steep": 0.1, "pure": 0.2}
"""Prior probability of each kind of shape; all pairs of ends of one class share theirs."""

CLEAN_PRIORS = {"weigh": 0.6, "never": 0.0, "always": 1.0}
"""Prior probability that labels are clean."""

_ALL_FREE = np.ones(6, dtype=np.bool_)
_CLEAN_FREE = np.array([True, False, True, True, True, True])
_SHAPE_FREE = np.array([False, False, True, True, True, True])
_NOISY_MASS = np.pi**2 / 3 - 3
_CLEAN_MASS = 0.5
"""Integrals of beta - alpha over a and b in the unit square, and over a where b = 0."""
_MOST_EXAMPLES = 1e5
_LOG_TWO_PI = float(np.log(2 * np.pi))
_GRID_SPREADS = 4.5
"""The grid reaches so many standard deviations to each side of the peak."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Kinds of shape with their prior probability, and where their fits begin; one a row."""

    kinds: NDArray[np.str_]
    offset: FloatArray
    log_weight: FloatArray
    start: FloatArray
    clean_start: FloatArray

    def only(self, places: Any) -> Candidates:
        """Select some candidates, in this order."""
        return Candidates(*(getattr(self, name)[places] for name in self.__dataclass_fields__))

    def curves(self, bins: RankBins) -> Curves:
        """The curve of each candidate, all with the same data."""
        n = len(self.kinds)
        mean, sd = np.stack([SHAPES[kind] for kind in self.kinds], axis=1)
        return Curves(
            labeled=np.tile(bins.labeled, (n, 1)),
            total=np.tile(bins.total, (n, 1)),
            offset=self.offset,
            mean=mean,
            sd=sd,
            log_below=bins.log_below,
            log_above=bins.log_above,
            share=bins.labeled_share,
        )


def find_candidates(
    bins: RankBins, *, clean_prior: float, most: int = 8, drop: float = 7.0
) -> Candidates:
    """Find the kinds of shape that are not out of the question for these data, best first.

    Parameters
    ----------
    bins : RankBins
        The data.
    clean_prior : float
        Prior probability of clean labels, 0 to 1.
    most : int, default=8
        Keep no more.
    drop : float, default=7.0
        Keep none whose log-evidence is lower than the best one's by more.
    """
    none = np.zeros((1, bins.total.size))
    offsets = {"smooth": none, "steep": none, "pure": bins.pure_ends()}
    kinds = np.repeat(list(offsets), [len(each) for each in offsets.values()])
    weights = np.array([WEIGHTS[kind] / len(offsets[kind]) for kind in kinds])
    start = np.stack([np.concatenate(([0.3, 0.05], SHAPES[kind][0])) for kind in kinds])
    offset = np.concatenate(list(offsets.values()))
    every = Candidates(kinds, offset, np.log(weights), start, start)
    curves = every.curves(bins)
    noisy, noisy_evidence = _evidence(curves, start, _ALL_FREE)
    clean, clean_evidence = _evidence(curves, noisy, _CLEAN_FREE)
    with np.errstate(divide="ignore"):  # of a case that is ruled out
        evidence = every.log_weight + np.logaddexp(
            np.log(1 - clean_prior) + noisy_evidence, np.log(clean_prior) + clean_evidence
        )
    best = np.argsort(-evidence, kind="stable")[:most]
    best = best[evidence[best] > evidence.max() - drop]
    # Candidates also carry the weight of those of their kind that are left out.
    log_weight = every.log_weight[best]
    for kind in np.unique(kinds[best]):
        here = kinds[best] == kind
        all_of_kind = np.logaddexp.reduce(evidence[kinds == kind])
        log_weight[here] += all_of_kind - np.logaddexp.reduce(evidence[best[here]])
    return Candidates(kinds[best], offset[best], log_weight, noisy[best], clean[best])


def _evidence(curves: Curves, start: FloatArray, free: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Peaks, and Laplace's approximation of the log-evidence of each."""
    x, value, curvature = fit_curves(curves, np.where(free, start, 0.0), free, n_steps=60, tol=1e-3)
    curvature[:, [0, 1], [0, 1]] += 1.0  # a and b themselves vary by less than 1
    log_volume = -0.5 * np.linalg.slogdet(curvature[:, free][:, :, free])[1]
    log_prior = 0.5 * free.sum() * _LOG_TWO_PI - np.log(curves.sd).sum(axis=1)
    return x, value + log_volume + log_prior


def dispersion(bins: RankBins, candidates: Candidates) -> float:
    """How many times more than chance the data scatter around the best curve, at least 1.

    Where even the best curve misses the data by more than chance explains, each row counts
    less than it seems to, and the likelihood is tempered by this factor. No curve is exact, so
    that rows beyond a hundred thousand add nothing to the certainty.
    """
    least = max(1.0, float(bins.total.sum()) / _MOST_EXAMPLES)
    freedom = bins.total.size - 6
    if freedom < 1:
        return least
    best = candidates.only([0])
    curves = best.curves(bins)
    missed = float(deviance(curves, best.start)[0])
    by_chance = freedom + 1.645 * (2 * freedom) ** 0.5
    return max(least, missed / freedom) if missed > by_chance else least


def find_posterior(
    bins: RankBins, candidates: Candidates, *, clean_prior: float, n_nodes: int = 9
) -> Posterior:
    r"""Compute the posterior of alpha and beta.

    The prior density of (a, b) is proportional to :math:`\beta - \alpha`, with probability
    ``clean_prior`` on b = 0.

    Parameters
    ----------
    bins : RankBins
        The data.
    candidates : Candidates
        Kinds of shape to average over.
    clean_prior : float
        Prior probability of clean labels, 0 to 1.
    n_nodes : int, default=9
        Nodes of the grid in a and in b.

    Returns
    -------
    Posterior
        Its nodes.
    """
    curves = candidates.curves(bins)
    log_prior = candidates.log_weight - np.log(curves.sd).sum(axis=1)
    parts: list[tuple[FloatArray, ...]] = []
    clean: list[bool] = []
    for start, free, prior in (
        (candidates.start, _ALL_FREE, (1 - clean_prior) / _NOISY_MASS),
        (candidates.clean_start, _CLEAN_FREE, clean_prior / _CLEAN_MASS),
    ):
        if prior == 0:
            continue
        x, _, curvature = fit_curves(curves, start, free, n_steps=60, tol=1e-5)
        a, b, log, shares = _grid(curves, x, curvature, free, n_nodes)
        log += log_prior[:, None] + np.log(prior) + np.log(delta_of(a[1], b[1]))
        parts.append((np.stack((*a, *b, log), axis=-1), shares))
        clean += [free is _CLEAN_FREE] * log.shape[1]
    cells, shares = (np.concatenate(each, axis=1) for each in zip(*parts, strict=True))
    *ends, log = np.moveaxis(cells, -1, 0).reshape(7, -1)
    weight = np.exp(log - log.max())
    return Posterior(
        a=np.array(ends[:3]),
        b=np.array(ends[3:]),
        weight=weight / weight.sum(),
        clean=np.tile(clean, len(candidates.kinds)),
        kinds=np.repeat(candidates.kinds, len(clean)),
        shares=shares.reshape(log.size, -1),
        bins=bins,
    )


def _grid(
    curves: Curves, peak: FloatArray, curvature: FloatArray, free: BoolArray, n_nodes: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Cells around a peak, log-density times area of each, and its curve; b is 0 if not free."""
    spread = _spread(curvature[:, free][:, :, free], curves)
    a = _cells(peak[:, 0], spread[:, 0], n_nodes)
    b = np.zeros_like(a)
    area = a[2] - a[0]
    if free[1]:
        a = np.repeat(a, n_nodes, axis=2)
        b = np.tile(_cells(peak[:, 1], spread[:, 1], n_nodes), n_nodes)
        area = (a[2] - a[0]) * (b[2] - b[0])
    log, shares = _integrate_shape(curves, peak, curvature, a[1], b[1])
    return a, b, log + np.log(area), shares


def _spread(curvature: FloatArray, curves: Curves) -> FloatArray:
    """Standard deviations of the first two parameters at a peak.

    At 0 the posterior falls off as fast as one over the number of rows at most.
    """
    ridge = np.eye(curvature.shape[1]) * 1e-9
    variance = np.linalg.inv(curvature + ridge)[:, [0, 1], [0, 1]]
    least = 2 / curves.total.sum(axis=1, keepdims=True)
    return np.asarray(np.sqrt(variance.clip(0)).clip(np.minimum(least, 0.5), 1))


def _cells(center: FloatArray, spread: FloatArray, n_nodes: int) -> FloatArray:
    """Low ends, middles and high ends of cells around a center, finer towards 0.

    Their roots are evenly spaced.
    """
    low = np.sqrt(np.clip(center - _GRID_SPREADS * spread, 0, 0.98))
    high = np.sqrt(np.clip(center + _GRID_SPREADS * spread, 0, LARGEST))
    step = ((high - low) / n_nodes)[:, None]
    edges = low[:, None] + step * np.arange(n_nodes + 1)
    middle = low[:, None] + step * (np.arange(n_nodes) + 0.5)
    return np.stack((edges[:, :-1], middle, edges[:, 1:])) ** 2


def _integrate_shape(
    curves: Curves, peak: FloatArray, curvature: FloatArray, a: FloatArray, b: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Log-density at nodes, the shape integrated by Laplace's method, and the best curve of each.

    Two steps suffice, because the quadratic around the peak shows where to begin.
    """
    n_rows, n_nodes = a.shape
    away = np.stack((a - peak[:, :1], b - peak[:, 1:2]), axis=2)
    drift = -np.linalg.solve(curvature[:, 2:, 2:], curvature[:, 2:, :2])
    moved = peak[:, None, 2:] + np.clip(away @ np.swapaxes(drift, 1, 2), -3, 3)
    x = np.concatenate((a[..., None], b[..., None], moved), axis=2).reshape(n_rows * n_nodes, 6)
    many = curves.only(np.repeat(np.arange(n_rows), n_nodes))
    best, value, inner = fit_curves(many, np.clip(x, LOW, HIGH), _SHAPE_FREE, n_steps=2, tol=0.0)
    log = value - 0.5 * np.linalg.slogdet(inner[:, 2:, 2:])[1]
    return log.reshape(n_rows, n_nodes), label_shares(many, best).reshape(n_rows, n_nodes, -1)


_last_solved: tuple[str, Posterior] | None = None


def solve_label_curve(counts: ScoreCounts, clean: str = "weigh") -> Posterior:
    """Compute the posterior of the label curve, or return it if these counts were the last.

    Replicates come in parts, and each part asks for the posterior of the data again; so does what
    compares the default estimator with this one.

    Parameters
    ----------
    counts : ScoreCounts
        The data.
    clean : {"weigh", "never", "always"}, default="weigh"
        See :class:`LabelCurve`.
    """
    global _last_solved  # noqa: PLW0603 - replaced as a whole
    content = hashlib.sha256(clean.encode())
    for column in (counts.labeled, counts.unlabeled, counts.labeled_sq, counts.unlabeled_sq):
        content.update(b"" if column is None else np.ascontiguousarray(column).tobytes())
    known, key = _last_solved, content.hexdigest()
    if known is None or known[0] != key:
        known = _last_solved = key, _solve(counts, clean)
    return known[1]


def _solve(counts: ScoreCounts, clean: str) -> Posterior:
    clean_prior = CLEAN_PRIORS[clean]
    bins = RankBins.from_counts(counts)
    candidates = find_candidates(bins, clean_prior=clean_prior)
    bins = bins.tempered(dispersion(bins, candidates))
    return find_posterior(bins, candidates, clean_prior=clean_prior)


WIDEST = 0.5
"""If alpha or delta can be anywhere in an interval as wide, the scores do not determine them."""

_FEWEST_BINS = 4
"""With fewer different scores the curve is all prior; with five intervals are valid."""

_SMALLEST_DELTA = 0.02
"""If delta may be smaller, labeled and unlabeled may be the same."""

_LEVEL = 0.95
_HANDFUL = 5
_ENOUGH_ROWS = 20


@register_prior_estimator("label-curve")
@dataclass(kw_only=True, eq=False, repr=False)
class LabelCurve(PriorEstimator):
    r"""Posterior mean of alpha and beta from the share of labeled along the ranking.

    Assumes: the share of positives rises with the score along one S-shaped curve, towards 0 and 1.

    Known to fail: positives of several separate kinds; a pure region too small to leave a trace.

    Among rows of one rank the share of labeled rises along the ranking from a floor, where
    all are negative, to a ceiling, where all are positive. Floor and ceiling determine alpha and
    beta. They are inferred from a flexible S-curve, which also says what the curve does beyond
    the best and the worst scores there are. Only the order of the scores matters.

    Parameters
    ----------
    clean : {"weigh", "never", "always"}, default="weigh"
        Whether labels may be clean, which is beta = 1 exactly: the data decide how likely it
        is, and the estimate is the average over both cases; never; or always. Other estimators
        test it instead and take one case for granted.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The intervals are quantiles of the posterior. The
        diagnostics hold ``"clean_probability"``, the probability of each kind of shape
        (``"smooth"``, ``"steep"``, ``"pure"``), and ``"alpha_interval"``, ``"beta_interval"``
        and ``"delta_interval"`` at 95 %.

    See Also
    --------
    AlphaMaxN : The estimator of the paper.
    NoisyLabels : Any other estimator, run both ways.

    Notes
    -----
    With the share :math:`c` of labeled rows and :math:`u` the rank of a row among all,

    .. math::

        P(\text{labeled} \mid u) = B + (A-B)\,\sigma(t + e^s z(u)), \quad
        A = \frac{c}{c+(1-c)a}, \quad B = \frac{cb}{cb+1-c},

    where :math:`\sigma` is the chance of being positive, :math:`z` a transform of the rank with
    a parameter for each tail, and :math:`a = \alpha/\beta`, :math:`b = (1-\beta)/(1-\alpha)`.
    Psychometric functions have the same form, with a chance rate and a lapse rate. Three kinds
    of shape are weighed by their evidence: smooth ones, as two normals or logistics make; steep
    ones; and any between two ends that are pure outright. The prior density of (a, b) is
    proportional to :math:`\beta-\alpha`, so that scores without information do not end up at
    :math:`\alpha = \beta`. The shape is integrated by Laplace's method, a and b on a grid.

    The estimate assumes that the best scores are positives and the worst are negatives, or
    that the curve shows where it is heading. If negatives are among the positives at the very
    top, as many as they may be, alpha is too large, as with every estimator that has
    only scores to go by.

    References
    ----------
    Lancaster & Imbens (1996), "Case-control studies with contaminated controls", Journal of
    Econometrics, for the model with a logistic curve of known form.

    Examples
    --------
    >>> import purecover as pu
    >>> world = pu.simulate.binormal(separation=2.5)
    >>> sample = world.sample(1000, 5000, alpha=0.3, beta=0.9, random_state=0)
    >>> estimator = pu.estimators.LabelCurve().fit(sample.scores, sample.labeled)
    >>> 0.3 in estimator.interval_["alpha"], 0.9 in estimator.interval_["beta"]
    (True, True)
    """

    noisy: ClassVar[bool] = True
    interval_method: ClassVar[str] = "posterior"

    clean: Literal["weigh", "never", "always"] = checked(
        "weigh", check_choice, choices=CLEAN_PRIORS
    )

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        found = solve_label_curve(counts, self.clean)
        alpha, beta = found.mean
        ends = _round_handfuls(found.ends(_LEVEL), counts)
        widest = max(high - low for low, high in (ends["alpha"], ends["delta"]))
        enough = found.bins.total.size >= _FEWEST_BINS and ends["delta"][0] > _SMALLEST_DELTA
        identifiable = widest <= WIDEST and enough
        notes = []
        if not identifiable:
            (low, high), (lower, higher) = ends["alpha"], ends["beta"]
            notes.append(
                "the scores hardly determine alpha and beta, since positives and negatives overlap "
                "throughout or there are few rows or few different scores: alpha may be "
                f"anything from {low:.2f} to {high:.2f}, and beta from {lower:.2f} to {higher:.2f}"
            )
        clean = found.clean_probability
        if self.clean == "weigh" and clean > 0.5:
            notes.append(f"labels are clean with probability {clean:.2f}")
        details: dict[str, Any] = {
            "identifiable": identifiable,
            "clean_probability": clean,
            **{kind: found.kind_probability(kind) for kind in WEIGHTS},
            **{f"{key}_interval": pair for key, pair in ends.items()},
        }
        return Inclusions(alpha / beta, (1 - beta) / (1 - alpha), tuple(notes), details)

    def proportions_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        """Alpha and beta of replicates, one row each.

        Means of replicates vary less than the posterior says they should, where the prior and
        the choice of a shape hold them in place. What is missing is made up for by draws from
        the posterior, so that intervals of anything computed from the rows are honest about
        what the scores cannot show. Labels are clean in as many rows as the posterior says.
        """
        found = solve_label_curve(counts, self.clean)
        few, everyone = found.bins.tally(labeled, unlabeled)
        rng = np.random.default_rng(zlib.crc32(np.ascontiguousarray(labeled).tobytes()))
        places = draw_cells(found.weight, len(labeled), rng)
        rows = np.empty((len(labeled), 2))
        for clean in np.unique(found.clean[places]):
            here, case = found.clean[places] == clean, found.clean == clean
            away = np.column_stack((found.alpha, found.beta)) - found.mean_over(case)
            wanted = found.weight[case] / found.weight[case].sum() @ away[case] ** 2
            moved = found.moved(few, everyone, case)
            # Too few rows do not determine their variance.
            present = moved.var(axis=0) if len(moved) >= _ENOUGH_ROWS else wanted / 2
            with np.errstate(divide="ignore", invalid="ignore"):
                missing = np.sqrt(np.nan_to_num(1 - present / wanted).clip(0))
            rows[here] = found.mean_over(case) + moved[here] + missing * away[places[here]]
        rows = rows.clip(0, 1)
        lost = ~(rows[:, 0] < rows[:, 1])
        return np.where(lost[:, None], np.nan, rows)

    def _posterior_ends(self, level: float) -> dict[str, tuple[float, float]]:
        return _round_handfuls(solve_label_curve(self._data, self.clean).ends(level), self._data)


def _round_handfuls(
    ends: dict[str, tuple[float, float]], counts: ScoreCounts
) -> dict[str, tuple[float, float]]:
    """Move ends of intervals to 0 or 1 where only a handful of rows lies beyond."""
    (alpha_low, alpha_high), (beta_low, beta_high), (low, high) = ends.values()
    if alpha_low * counts.n_unlabeled < _HANDFUL:
        alpha_low = 0.0
    if (1 - beta_high) * counts.n_labeled < _HANDFUL:
        beta_high = 1.0
    if alpha_low == 0 and beta_high == 1 and alpha_high * counts.n_unlabeled < _HANDFUL:
        high = 1.0
    return {"alpha": (alpha_low, alpha_high), "beta": (beta_low, beta_high), "delta": (low, high)}


def draw_cells(weight: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
    """Draw cells by their weights, spread evenly over the posterior, in random order."""
    reached = np.cumsum(weight)
    places = np.searchsorted(reached, (np.arange(n) + rng.random(n)) / n * reached[-1])
    return rng.permutation(places.clip(0, reached.size - 1))
