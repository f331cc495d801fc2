"""Calls whose results are kept: the same data must give the same figures from release to release.

The data come from NumPy's legacy generator, whose streams never change. ``make freeze`` runs all
calls and writes tests/frozen_results.json; tests/test_frozen.py compares.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

import purecover as pu
from purecover.estimators.assumptions import clean_many
from purecover.exceptions import PurecoverError

Case = Callable[[], Any]
World = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]

MOST = 6
"""Longer arrays are kept as sums."""

RANDOM_STATE = 7


def _call(function: Callable[..., Any], *given: Any, **options: Any) -> Case:
    return partial(function, *given, **options)


# -- data -----------------------------------------------------------------------------------


def _world(
    n_labeled: int, n_unlabeled: int, alpha: float, beta: float, separation: float, seed: int
) -> World:
    rng = np.random.RandomState(seed)
    labeled = np.repeat([True, False], [n_labeled, n_unlabeled])
    positive = np.repeat(
        [True, False, True, False],
        [
            round(beta * n_labeled),
            n_labeled - round(beta * n_labeled),
            round(alpha * n_unlabeled),
            n_unlabeled - round(alpha * n_unlabeled),
        ],
    )
    return rng.normal(size=labeled.size) + separation * positive, labeled


def _worlds() -> dict[str, World]:
    clean = _world(150, 600, 0.3, 1.0, 2.0, 1)
    noisy = _world(150, 600, 0.25, 0.8, 2.5, 2)
    apart = _world(120, 500, 0.15, 1.0, 4.0, 3)
    weak = _world(150, 450, 0.4, 0.9, 0.7, 4)
    small = _world(12, 40, 0.3, 1.0, 2.0, 5)
    return {
        "clean": clean,
        "noisy": noisy,
        "apart": apart,
        "weak": weak,
        "small": small,
        "tied": (np.round(2 * noisy[0]), noisy[1]),
        "probabilities": (1 / (1 + np.exp(1 - clean[0])), clean[1]),
        "heavy": (np.sinh(2 * apart[0]), apart[1]),
        "inverted": (-clean[0], clean[1]),
    }


WORLDS = _worlds()
MANY = _world(900, 4000, 0.2, 0.9, 2.0, 6)
COUNTS = {name: pu.ScoreCounts.from_scores(*world) for name, world in WORLDS.items()}
PROPORTIONS = {
    "clean": pu.MixtureProportions(0.3),
    "noisy": pu.MixtureProportions(0.25, 0.8),
    "none hidden": pu.MixtureProportions(0.0),
    "censoring": pu.MixtureProportions(0.2, 0.9, scenario="censoring"),
}


def _features(name: str, n_columns: int = 3) -> World:
    """Further columns that know a little less."""
    scores, labeled = WORLDS[name]
    rng = np.random.RandomState(len(name))
    others = [0.5 * scores + rng.normal(size=scores.size) for _ in range(n_columns - 1)]
    return np.column_stack([scores, *others]), labeled


def _weights(name: str) -> np.ndarray[Any, Any]:
    return 0.5 + np.arange(WORLDS[name][0].size) % 4


# -- estimators -----------------------------------------------------------------------------


def _fitted(make: Callable[[], Any], data: World, **options: Any) -> Case:
    return lambda: _shown(make().fit(*data, **options))


def _shown(estimator: Any) -> dict[str, Any]:
    kept = {key: each for key, each in estimator.diagnostics_.items() if key != "notes"}
    return {
        "proportions": estimator.proportions_,
        "n_notes": len(estimator.diagnostics_["notes"]),
        "diagnostics": kept,
    }


def _interval(make: Callable[[], Any], data: World, **options: Any) -> Case:
    return lambda: dict(make().fit(*data).interval(random_state=RANDOM_STATE, **options))


OPTIONS: dict[str, Callable[[], Any]] = {
    **{
        f"AlphaMax {elbow} {bins} {weighting}": _call(
            pu.estimators.AlphaMax, elbow=elbow, bins=bins, weighting=weighting
        )
        for elbow, bins, weighting in itertools.product(
            ["deviance", "paper", "released", "likelihood_ratio"],
            ["merged", "released", "equal-mass", 12],
            ["balanced", "counts"],
        )
    },
    "AlphaMax step": _call(pu.estimators.AlphaMax, step=0.01),
    "AlphaMaxN never": _call(pu.estimators.AlphaMaxN, clean="never"),
    "AlphaMaxN always": _call(pu.estimators.AlphaMaxN, clean="always"),
    "BBE error": _call(pu.estimators.BBE, error=0.3, gamma=0.1),
    "DEDPUL logit": _call(pu.estimators.DEDPUL, scale="logit", n_points=200),
    "DEDPUL normal": _call(pu.estimators.DEDPUL, scale="normal", n_points=200),
    "DEDPUL none": _call(pu.estimators.DEDPUL, scale="none", n_points=200),
    "DEDPUL bandwidths": _call(
        pu.estimators.DEDPUL, bandwidth_unlabeled=0.1, bandwidth_labeled=0.2
    ),
    **{
        f"ElkanNoto {variant} {rule} {calibration}": _call(
            pu.estimators.ElkanNoto,
            variant=variant,
            rule=rule,
            calibration=calibration,
            quantile=0.8,
        )
        for variant, rule, calibration in itertools.product(
            ["e1", "e2", "e3"], ["alternative", "main"], ["isotonic", "none"]
        )
    },
    "FittedRoc power": _call(pu.estimators.FittedRoc, family="power"),
    "FittedRoc all": _call(pu.estimators.FittedRoc, n_thresholds=None),
    "GaussianMixtures never": _call(pu.estimators.GaussianMixtures, clean="never", n_starts=2),
    "GaussianMixtures always": _call(pu.estimators.GaussianMixtures, clean="always", n_starts=2),
    "GaussianMixtures diagonal": _call(
        pu.estimators.GaussianMixtures, covariance="diagonal", logit_scores=False, ridge=0.1
    ),
    "KernelMean km1": _call(
        pu.estimators.KernelMean, variant="km1", max_points=120, random_state=1
    ),
    "KernelMean width": _call(pu.estimators.KernelMean, width=0.7, max_points=100, random_state=1),
    "LabelCurve never": _call(pu.estimators.LabelCurve, clean="never"),
    "LabelCurve always": _call(pu.estimators.LabelCurve, clean="always"),
    "MedianEnsemble": lambda: pu.estimators.MedianEnsemble(
        [pu.estimators.BBE(), pu.estimators.RocSlope(), pu.estimators.PatraSen()]
    ),
    "NoisyLabels test": lambda: pu.estimators.NoisyLabels(pu.estimators.RocSlope()),
    "NoisyLabels never": lambda: pu.estimators.NoisyLabels(pu.estimators.RocSlope(), clean="never"),
    "NoisyLabels always": lambda: pu.estimators.NoisyLabels(
        pu.estimators.RocSlope(), clean="always"
    ),
    "PatraSen": _call(pu.estimators.PatraSen, n_grid=50, max_thresholds=40),
    "PearsonDivergence": _call(
        pu.estimators.PearsonDivergence, n_centers=20, n_folds=3, random_state=1
    ),
    "PenalizedL1": _call(pu.estimators.PenalizedL1, n_centers=30, n_folds=3, random_state=1),
    "Regrouping": lambda: pu.estimators.Regrouping(pu.estimators.BBE(), share=0.2),
    "RocSlope": _call(pu.estimators.RocSlope, error=0.3, n_thresholds=None),
    "Subsampling": lambda: pu.estimators.Subsampling(pu.estimators.RocSlope(), ceiling=0.8),
    "TIcE": lambda: pu.estimators.TIcE(
        n_intervals=11, max_bepp=5, max_splits=40, min_size=20, error=None, n_folds=3, n_rounds=1
    ),
}


def _estimators() -> Iterator[tuple[str, Case]]:
    for (name, cls), (world, data) in itertools.product(
        pu.estimators.prior_estimators().items(), WORLDS.items()
    ):
        if world != "heavy" or cls.takes == "scores":
            yield f"{name} of {world}", _fitted(cls, data)
    for (name, make), world in itertools.product(OPTIONS.items(), ["noisy", "probabilities"]):
        yield f"{name} of {world}", _fitted(make, WORLDS[world])
    for name, cls in pu.estimators.prior_estimators().items():
        if cls.takes == "features":
            for world in ("clean", "noisy"):
                yield f"{name} of features, {world}", _fitted(cls, _features(world))
            if name == "msgmm":  # the one that merges scores
                yield f"{name} of many", _fitted(cls, MANY)
        else:
            yield f"{name} of many", _fitted(cls, MANY)
            weights = _weights("clean")
            yield f"{name} of weights", _fitted(cls, WORLDS["clean"], sample_weight=weights)


def _interval_cases() -> Iterator[tuple[str, Case]]:
    quick: dict[str, Callable[[], Any]] = {
        "bbe": pu.estimators.BBE,
        "roc slope": pu.estimators.RocSlope,
        "alphamax-n": pu.estimators.AlphaMaxN,
        "dedpul": pu.estimators.DEDPUL,
        "patra-sen": pu.estimators.PatraSen,
        "elkan-noto": pu.estimators.ElkanNoto,
        "median": pu.estimators.MedianEnsemble,
        "noisy": lambda: pu.estimators.NoisyLabels(pu.estimators.BBE()),
    }
    methods = ["bootstrap", "m-out-of-n", "bound"]
    for (name, make), method in itertools.product(quick.items(), methods):
        yield (
            f"interval of {name}, {method}",
            _interval(make, WORLDS["noisy"], method=method, n_resamples=20, confidence_level=0.8),
        )
    for world in ("noisy", "small", "weak"):
        yield f"posterior of {world}", _interval(pu.estimators.LabelCurve, WORLDS[world])
    yield (
        "halves of features",
        _interval(
            lambda: pu.estimators.KernelMean(max_points=60), _features("clean"), n_resamples=6
        ),
    )
    yield "halves of a tree", _interval(pu.estimators.TIcE, _features("noisy"), n_resamples=6)


def _scar(world: str, **options: Any) -> Case:
    X, labeled = _features(world)
    return lambda: pu.estimators.scar_test(
        X, labeled, n_permutations=30, random_state=RANDOM_STATE, **options
    )


def _compared(**options: Any) -> Case:
    def case() -> Any:
        found = pu.compare_priors(random_state=RANDOM_STATE, **options)
        return {
            row.name: (row.proportions, row.intervals, len(row.notes), row.error is None)
            for row in found
        }

    return case


def _tests_and_bounds() -> Iterator[tuple[str, Case]]:
    for world, counts in COUNTS.items():
        yield f"clean test of {world}", _call(pu.estimators.clean_test, counts)
        for method, level in itertools.product(["scott", "bbe"], [0.5, 0.95]):
            yield (
                f"inclusion bound of {world}, {method} {level}",
                _call(pu.estimators.inclusion_bound, counts, method=method, confidence_level=level),
            )
    counts = COUNTS["noisy"]
    rows = np.stack([counts.labeled, counts.labeled[::-1], np.roll(counts.labeled, 5)])
    yield (
        "clean test of replicates",
        _call(clean_many, counts, rows, np.broadcast_to(counts.unlabeled, rows.shape)),
    )
    weights = _weights("noisy")
    yield (
        "inclusion bound of weights",
        lambda: pu.estimators.inclusion_bound(*WORLDS["noisy"], sample_weight=weights),
    )
    yield (
        "clean test of weights",
        lambda: pu.estimators.clean_test(*WORLDS["noisy"], sample_weight=weights),
    )
    yield "scar test", _scar("clean", alpha=0.3)
    yield "scar test, few hidden", _scar("noisy", alpha=0.02)
    yield "scar test of scores", _scar("noisy", alpha=0.25, scores=WORLDS["noisy"][0])
    scores, labeled = WORLDS["small"]
    yield (
        "comparison",
        _compared(
            scores=scores,
            labeled=labeled,
            estimators=["bbe", "label-curve", "roc-slope", "alphamax-n"],
        ),
    )
    yield (
        "comparison, beta known",
        _compared(
            scores=COUNTS["noisy"],
            estimators=["bbe", "noisy", "label-curve"],
            beta=0.8,
            n_resamples=10,
        ),
    )
    X, labeled = _features("small", 2)
    yield (
        "comparison of features",
        _compared(
            scores=X[:, 0], labeled=labeled, features=X, estimators=["bbe", "tice", "kernel-mean"]
        ),
    )


# -- recovery -------------------------------------------------------------------------------


SOME = ("noisy", "tied", "small")


def _curves() -> Iterator[tuple[str, Case]]:
    repairs = ("none", "paper", "isotonic", "hull", "likelihood", "blend")
    areas = {
        "population": "davis-goadrich",
        "deployment": "average-precision",
        "pooled": "trapezoid",
    }
    options: Any = {"threshold": 1.0, "f_beta": 2.0, "cost_fn": 3.0, "cost_fp": 0.5, "top_k": 10}
    for world, given, repair in itertools.product(SOME, PROPORTIONS, repairs):
        of = f"{world}, {given}, {repair}"
        data: Any = (COUNTS[world], PROPORTIONS[given])
        how: Any = {"repair": repair}
        yield f"roc of {of}", _call(_roc, *data, repair)
        yield f"metrics of {of}", _call(pu.recover_metrics, *data, **how, **options)
        for target, area in areas.items():
            how = {"repair": repair, "target": target, "area": area}
            yield f"pr of {of}, {target}", _call(pu.recover_pr, *data, **how)


def _roc(counts: pu.ScoreCounts, proportions: pu.MixtureProportions, repair: Any) -> Any:
    roc = pu.recover_roc(counts, proportions, repair=repair)
    free = pu.recover_roc(counts, proportions, repair=repair, concavity_guard=False)
    return {
        "roc": roc,
        "without guard": free.auc,
        "partial": [roc.partial_auc(x, standardized=s) for x in (0.1, 1.0) for s in (False, True)],
        "tpr_at": [roc.tpr_at(x) for x in (0.0, 0.05, 0.5, 1.0)],
        "fpr_at": [roc.fpr_at(x) for x in (0.0, 0.5, 0.9, 1.0)],
    }


def _thresholds() -> Iterator[tuple[str, Case]]:
    wanted = {"precision": 0.7, "recall": 0.6, "fpr": 0.1, "specificity": 0.8, "npv": 0.9}
    wanted["fdr"] = 0.3
    best = dict.fromkeys(["f1", "f_beta", "mcc", "youden", "cost", "lift", "lee_liu", "accuracy"])
    for world, given in itertools.product([*SOME, "clean", "weak"], ["clean", "noisy"]):
        data: Any = (COUNTS[world], PROPORTIONS[given])
        of = f"{world}, {given}"
        options: Any = {"target": "deployment", "f_beta": 0.5, "cost_fn": 2.0}
        yield f"metric curves of {of}", _call(pu.recovery.recover_metric_curves, *data, **options)
        yield f"metrics of {of}", _call(pu.recover_metrics, *data, target=0.1)
        for among in ("unlabeled", "pooled"):
            options = {"threshold": 1.0, "among": among}
            yield (
                f"confusion of {of}, {among}",
                _call(pu.recovery.recover_confusion, *data, **options),
            )
        for criterion, value in {**wanted, **best}.items():
            yield f"{criterion} of {of}", _call(_chosen, *data, criterion, value)


def _chosen(*given: Any) -> float:
    return pu.choose_threshold(*given, f_beta=2.0, cost_fp=0.3, min_labeled=5).threshold


def _bounds() -> Iterator[tuple[str, Case]]:
    for world, method, target, noise in itertools.product(
        ["clean", "tied", "small"],
        ["dkw", "bootstrap", "box"],
        ["pooled", "deployment"],
        [True, False],
    ):
        options: Any = {"method": method, "target": target, "latent_noise": noise}
        yield (
            f"bounds of {world}, {method}, {target}, {noise}",
            _call(pu.recover_bounds, COUNTS[world], (0.2, 0.4), **options),
        )
    options = {"beta_range": (0.7, 0.9), "method": "box", "confidence_level": 0.8}
    yield (
        "bounds of wrong labels",
        _call(pu.recover_bounds, COUNTS["noisy"], (0.2, 0.3), **options),
    )
    for world, given in itertools.product(["clean", "noisy"], PROPORTIONS):
        counts, proportions = COUNTS[world], PROPORTIONS[given]
        for bins in (5, 40):
            yield (
                f"{bins} bins of {world}, {given}",
                _call(pu.recovery.binning_bounds, counts.thinned(bins), proportions),
            )
        yield f"direct areas of {world}, {given}", _call(_direct_areas, counts, proportions)


def _direct_areas(counts: pu.ScoreCounts, proportions: pu.MixtureProportions) -> list[float]:
    return [
        pu.recover_auc(counts, proportions),
        pu.recovery.recover_auc_pr_direct(counts, proportions),
        *(pu.recovery.recover_partial_auc_direct(counts, proportions, x) for x in (0.02, 0.3, 1.0)),
    ]


def _maps() -> Iterator[tuple[str, Case]]:
    for alpha, beta, auc in [(0.25, 0.95, 0.8), (0.0, 1.0, 0.65), (0.5, 0.75, 0.95)]:
        of = f"{alpha} {beta} {auc}"
        yield f"interval {of}", _call(pu.recovery.auc_identification_interval, auc, alpha, 1 - beta)
    shares: Any = {"alphas": [0, 0.1, 0.3, 0.9], "betas": [0.6, 0.9, 1]}
    for metric in ("roc_auc", "precision", "auc_pr", "f1"):
        yield (
            f"sensitivity of {metric}",
            _call(pu.recovery.sensitivity, COUNTS["tied"], metric, **shares),
        )
    yield "sensitivity, usual grid", _call(pu.recovery.auc_sensitivity, COUNTS["clean"])
    for given, proportions in PROPORTIONS.items():
        for prior in (None, 0.1):
            yield f"posterior, {given}, {prior}", _call(_posterior, proportions, prior)
        yield f"rates, {given}", _call(_rates, proportions)


def _posterior(proportions: pu.MixtureProportions, prior: float | None) -> list[Any]:
    posterior = np.linspace(0, 1, 5)
    return [
        pu.recovery.correct_posterior(posterior, 0.3, proportions, prior=prior),
        pu.recovery.correct_posterior(posterior, 0.3, proportions, prior=prior, clip=False),
        pu.recovery.posterior_band(0.3, proportions),
    ]


def _rates(proportions: pu.MixtureProportions) -> list[Any]:
    rates = np.array([0.0, 0.2, 0.7, 1.0])
    return [
        *pu.recovery.recover_rates(rates, rates**2, proportions),
        *pu.recovery.observe_rates(rates, rates**2, proportions),
        pu.recovery.recover_precision(0.4 + rates / 2, 0.3, proportions),
        [pu.recovery.auc_from_pu(0.7, proportions), pu.recovery.auc_to_pu(0.7, proportions)],
    ]


PROBABLE = ("brier", "brier_miscalibration", "log_loss", "calibration_slope", "ece", "net_benefit")


def _cautious() -> Iterator[tuple[str, Case]]:
    """What follows from the default's posterior, from probabilities, and from two scores."""
    for world in ("clean", "noisy", "weak", "apart"):
        yield f"cautious AUC of {world}", _call(_cautious_auc, world)
    options: Any = {"metrics": PROBABLE, "threshold": 0.4}
    for given, proportions in PROPORTIONS.items():
        data: Any = (COUNTS["probabilities"], proportions)
        yield f"probabilities, {given}", _call(pu.recover_metrics, *data, **options)
    for world, beta in (("clean", 1.0), ("many", 0.9)):
        yield f"two views of {world}", _call(_of_two_views, world, beta)
    for world, alpha in (("clean", 0.3), ("apart", None)):
        yield f"quantifier of {world}", _call(_quantified, world, alpha)


def _cautious_auc(world: str) -> Any:
    report = pu.evaluate(*WORLDS[world], n_resamples=0)
    estimation = report.estimation
    assert estimation is not None
    return {"auc": report.auc, "direct": report.auc_direct, "intervals": estimation.intervals}


def _of_two_views(world: str, beta: float) -> Any:
    """From two scores that are, given the class, independent of each other."""
    scores, labeled = MANY if world == "many" else WORLDS[world]
    positive = scores > np.where(labeled, -9.0 if beta == 1 else 0.0, 1.0)
    views = np.random.RandomState(len(world)).laplace(size=(scores.size, 2)) + 2 * positive[:, None]
    found = pu.estimators.TwoViews(beta=beta).fit(views, labeled)
    return {**_shown(found), "interval": found.interval_}


def _quantified(world: str, alpha: float | None) -> Any:
    scores, labeled = WORLDS[world]
    found = pu.estimators.Quantifier(alpha=alpha, n_resamples=20).fit(scores, labeled)
    later = np.sort(scores[~labeled])
    samples = (later[::3], later[::-4], later[later.size // 2 :])
    return [*(found.quantify(each) for each in samples), *found.quantify_many(samples)]


def _named() -> dict[str, Case]:
    parts = [_estimators, _interval_cases, _tests_and_bounds, _curves, _thresholds, _bounds, _maps]
    parts.append(_cautious)
    return dict(itertools.chain.from_iterable(part() for part in parts))


CASES = _named()


# -- results --------------------------------------------------------------------------------


def result_of(case: Case) -> dict[str, Any]:
    """What a call gives, flat: numbers and texts by where they are; or the kind of its error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = dict(_flat("", case()))
        except PurecoverError as error:
            found = {"error": type(error).__name__}
    kinds = sorted({each.category.__name__ for each in caught})
    return found | ({"warnings": " ".join(kinds)} if kinds else {})


def _flat(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    if dataclasses.is_dataclass(value):
        for name in _fields(value):
            yield from _flat(f"{place}.{name}", getattr(value, name))
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _flat(f"{place}.{key}", each)
    elif isinstance(value, (np.ndarray, list, tuple)):
        yield from _flat_array(place, value)
    elif value is None or isinstance(value, (str, bool)):
        yield place, value
    elif isinstance(value, (int, float, np.integer, np.floating, np.bool_)):
        yield place, _number(value)
    # Counts and functions are what was given, not what was found.


def _fields(value: Any) -> list[str]:
    """Fields and properties: what a person can read off a result."""
    fields = [each.name for each in dataclasses.fields(value) if not each.name.startswith("_")]
    properties = inspect.getmembers(type(value), lambda each: isinstance(each, property))
    return [*fields, *(name for name, _ in properties if not name.startswith("_"))]


def _flat_array(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    try:
        array = np.asarray(value, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        for i, each in enumerate(value):
            yield from _flat(f"{place}.{i}", each)
        return
    if array.size <= MOST:
        yield from ((f"{place}.{i}", _number(each)) for i, each in enumerate(array))
        return
    finite = np.isfinite(array)
    usual = np.where(finite, array, 0.0)
    yield f"{place}.size", array.size
    yield f"{place}.finite", int(finite.sum())
    yield f"{place}.sum", _number(usual.sum())
    yield f"{place}.moment", _number(usual @ np.linspace(-1, 1, array.size))


def _number(value: Any) -> float | str:
    number = float(f"{float(value):.12g}")
    return number if np.isfinite(number) else str(number)


# Machines differ in the last digits; tests with the oldest dependencies agreed to twelve.
RELATIVE, ABSOLUTE = 1e-7, 1e-9


def same(found: Any, kept: Any) -> bool:
    """Whether a figure is the one that was kept, up to what machines differ by."""
    if isinstance(found, float) and isinstance(kept, float):
        return math.isclose(found, kept, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return bool(found == kept)
