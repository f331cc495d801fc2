"""The script of the page against Python, in a real browser: the same counts, the same numbers."""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.browsing import chromium

import purecover as pu
from purecover.exceptions import RecoveryWarning
from purecover.html.page import ENGINE
from purecover.html.payload import make_payload
from purecover.recovery.curves import AREA_RULES, REPAIRS, pr_from_roc
from purecover.recovery.metrics import (
    MetricOptions,
    confusion_from_roc,
    metrics_from_roc,
    recover_both,
    resolve_metrics,
)

TOLERANCE = {"large numbers": 1e-6}
"""Of every number, relative where it is above 1: what the page promises; elsewhere 1e-9.

Tens of millions in a block bring out where Python's root of the likelihood stops, at 1e-14 of all
rows; the script halves on to the last digit.
"""

FOLDER = Path(__file__).parents[1] / "src" / "purecover" / "html"


def _draw(n: int, shift: float, seed: int, *, share: float = 0.3) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    labeled = np.arange(n) < max(int(share * n), 1)
    return rng.normal(shift * labeled), labeled


def _thinned() -> pu.ScoreCounts:
    scores, labeled = _draw(20_000, 1.2, 5, share=0.1)
    report = pu.evaluate(scores, labeled, alpha=0.2, n_resamples=0)
    counts = pu.ScoreCounts.from_dict(make_payload(report)["counts"])
    assert 1850 < counts.n_thresholds <= 2000
    return counts


@cache
def count_sets() -> dict[str, pu.ScoreCounts]:
    """Counts of every kind by name."""
    rng = np.random.default_rng(0)
    make = pu.ScoreCounts.from_scores
    scores, labeled = _draw(60, 1.5, 0)
    tied, tied_labeled = _draw(400, 1.0, 1)
    near, near_labeled = _draw(50, 4.0, 2)
    weight = rng.exponential(size=60) * (rng.random(60) < 0.9)
    weight[[0, -1]] = 1.0
    codes = np.where(~labeled & (np.arange(60) % 3 == 0), -1, labeled.astype(int))
    bent = np.concatenate([rng.normal(0.0, 3.0, 300), rng.normal(0.0, 1.0, 900)]).round(1)
    return {
        "random": make(scores, labeled),
        "ties": make(tied.round(), tied_labeled),
        "weighted": make(scores, labeled, sample_weight=weight),
        "negative": make(scores, codes, negative_label=-1),
        "near-perfect": make(near, near_labeled),
        "separated": make([5, 4, 3, 2, 1], [1, 1, 0, 0, 0]),
        "worse than chance": make(-scores, labeled),
        "not concave": make(bent, np.arange(1200) < 300),
        "two rows": make([0.9, 0.1], [1, 0]),
        "one threshold": pu.ScoreCounts.from_counts([0.5], [3], [7]),
        "one labeled": make([0.9, 0.5, 0.4, 0.4, 0.1], [0, 1, 0, 0, 0]),
        "large numbers": pu.ScoreCounts.from_counts(
            [1e300, 7.0, 0.25, -1e-300], [5_000_000, 3, 0, 1], [10, 0, 70_000_000, 123_456]
        ),
        "two thousand cells": _thinned(),
    }


NAMES = [
    "random", "ties", "weighted", "negative", "near-perfect", "separated", "worse than chance",
    "not concave", "two rows", "one threshold", "one labeled", "large numbers",
    "two thousand cells",
]  # fmt: skip


PAIRS = [
    (alpha, beta)
    for alpha, beta in itertools.product((0.0, 1e-6, 0.05, 0.3, 0.7, 0.95), (1.0, 0.97, 0.8, 0.4))
    if alpha < beta
]
TARGETS = ("population", "deployment", "pooled", 0.01)


def settings_of(counts: pu.ScoreCounts) -> list[dict[str, Any]]:
    """The table of vectors: alpha x beta x repairs, with the other settings in turn."""
    thresholds = [*counts.thresholds[:: max(counts.n_thresholds // 4, 1)].tolist(), 0.37, -9e9, 9e9]
    turns = [
        itertools.cycle(values)
        for values in (
            AREA_RULES, TARGETS, ("case-control", "censoring"), thresholds,
            (1.0, 0.5, 2.0), (1.0, 5.0), (1.0, 0.0, 0.3), (0.1, 1.0, 0.02),
            (None, 1, int(counts.n_unlabeled), max(int(counts.n_unlabeled) // 3, 1)),
            (None, (0.03, -0.01), (-0.2, 0.4)),
        )
    ]  # fmt: skip
    keys = (
        "area", "target", "scenario", "threshold", "f_beta", "cost_fn", "cost_fp", "max_fpr",
        "top_k", "optimism",
    )  # fmt: skip
    found = []
    for (alpha, beta), repair in itertools.product(PAIRS, (None, *REPAIRS)):
        rest = {key: next(turn) for key, turn in zip(keys, turns, strict=True)}
        found.append({"alpha": alpha, "beta": beta, "repair": repair, **rest})
    return found


def data_of(counts: pu.ScoreCounts) -> dict[str, Any]:
    return make_payload(pu.evaluate(counts, alpha=0.0, n_resamples=0))["counts"]


def python_answer(
    counts: pu.ScoreCounts, s: dict[str, Any], found: dict[str, Any]
) -> dict[str, Any]:
    """The layout of the script's answer, filled by the package."""
    proportions = pu.MixtureProportions(s["alpha"], s["beta"], scenario=s["scenario"])
    names = ("f_beta", "cost_fn", "cost_fp", "max_fpr", "top_k", "area")
    options = MetricOptions(**{name: s[name] for name in names if name in s})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecoveryWarning)  # of the concavity guard
        roc, roc_pr = recover_both(counts, proportions, s["repair"])
        prior = proportions.prior(s["target"], counts)
        optimism = s.get("optimism") or (0.0, 0.0)
        metrics = metrics_from_roc(
            roc,
            roc_pr,
            counts,
            threshold=s["threshold"],
            prior=prior,
            metrics=resolve_metrics(None, counts, options),
            options=options,
            optimism=optimism,
        )
        pr = pr_from_roc(roc_pr, counts, prior, options.area)
        confusion = confusion_from_roc(roc, counts, s["threshold"], optimism=optimism)
    curves = {"roc": roc, "pr": pr, "confusion": confusion}
    wanted = {
        "feasible": 0 <= roc.auc_direct <= 1,
        "auc_pu": pu.recovery.auc_pu(counts),
        "auc_direct": roc.auc_direct,
        "auc": min(max(roc.auc_direct, 0.0), 1.0),
        "auc_repaired": roc.auc,
        "prior": prior,
        "repair": roc.repair,
        "repair_pr": roc_pr.repair,
        "metrics": dict(metrics),
        "observed": dict(metrics.observed),
    }
    for name, result in curves.items():
        if name in found:
            wanted[name] = {key: getattr(result, key) for key in found[name]}
    return wanted


def largest_difference(found: Any, wanted: Any, where: str = "") -> tuple[float, str]:
    """Over all numbers of two nested answers, relative above 1; undefined must be undefined."""
    if isinstance(wanted, dict):
        assert set(found) == set(wanted), where
        each = [largest_difference(found[key], wanted[key], f"{where}.{key}") for key in wanted]
        return max(each)
    if isinstance(wanted, bool | str):
        assert found == wanted, where
        return 0.0, where
    one = np.atleast_1d(np.array(found, dtype=np.float64))
    two = np.atleast_1d(np.asarray(wanted, dtype=np.float64))
    assert one.shape == two.shape, where
    defined = np.isfinite(two)
    assert np.array_equal(np.isfinite(one), defined), where
    gaps = np.abs(one - two)[defined] / np.maximum(np.abs(two[defined]), 1.0)
    return float(gaps.max(initial=0.0)), where


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Generator[Any, None, None]:
    """Gives the value of a JavaScript expression over ``input``, computed by the scripts."""
    folder = tmp_path_factory.mktemp("engine")
    scripts = "".join(f"<script>{(FOLDER / name).read_text('utf-8')}</script>" for name in ENGINE)
    (folder / "engine.html").write_text(f"<!doctype html><meta charset=utf-8>{scripts}", "utf-8")
    with chromium() as browser:
        tab = browser.new_page()
        complaints: list[str] = []
        tab.on("console", lambda message: complaints.append(message.text))
        tab.goto((folder / "engine.html").as_uri())

        def run(data: Any, work: str) -> Any:
            answer = tab.evaluate(
                """([text, work]) => JSON.stringify(
                  new Function("input", `return ${work}`)(JSON.parse(text)),
                  (key, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value))""",
                [json.dumps(data, allow_nan=False), work],
            )
            assert complaints == []
            return json.loads(answer)

        yield run


@pytest.fixture(scope="module")
def answers(run: Any) -> dict[str, list[dict[str, Any]]]:
    """All settings for all counts."""
    data = {
        name: {"counts": data_of(counts), "settings": settings_of(counts)}
        for name, counts in count_sets().items()
    }
    # After the first round of repairs, curves of 2,001 points are compared by figures alone.
    work = """Object.fromEntries(Object.entries(input).map(([name, { counts, settings }]) =>
      [name, settings.map((s, i) => {
        const { roc, pr, ...figures } = purecover.recover(counts, s);
        return counts.labeled.length > 1000 && i > 7 ? figures : { ...figures, roc, pr };
      })]))"""
    found: dict[str, list[dict[str, Any]]] = run(data, work)
    return found


@pytest.mark.browser
@pytest.mark.parametrize("name", NAMES)
def test_same_numbers_as_python(
    answers: dict[str, list[dict[str, Any]]], name: str, record_property: Any
) -> None:
    counts = count_sets()[name]
    settings = settings_of(counts)
    assert len(answers[name]) == len(settings) >= len(PAIRS) * (1 + len(REPAIRS))
    worst = (0.0, "")
    for s, found in zip(settings, answers[name], strict=True):
        wanted = python_answer(counts, s, found)
        difference, where = largest_difference(found, wanted)
        assert difference <= TOLERANCE.get(name, 1e-9), (s, where)
        worst = max(worst, (difference, where))
    record_property("largest_difference", worst)


@pytest.mark.browser
def test_the_answers_cover_every_case(answers: dict[str, list[dict[str, Any]]]) -> None:
    """The comparison is only worth something if guards, gaps and impossible values occur."""
    every = [answer for each in answers.values() for answer in each]
    assert set(answers) == set(NAMES)
    assert {answer["feasible"] for answer in every} == {True, False}
    assert {answer["repair"] for answer in every} == set(REPAIRS)
    bent = zip(answers["not concave"], settings_of(count_sets()["not concave"]), strict=True)
    assert any(a["repair"] == "isotonic" for a, s in bent if s["repair"] == "likelihood")
    assert any(answer["metrics"]["precision"] is None for answer in every)
    assert any(None in answer["roc"]["thresholds"][1:] for answer in every if "roc" in answer)


@pytest.mark.browser
def test_the_map_and_the_histogram(run: Any) -> None:
    scores, labeled = _draw(3000, 1.5, 7)
    payload = make_payload(pu.evaluate(scores, labeled, alpha=0.3, beta=0.9, n_resamples=0))
    alphas, betas, seen = [0.0, 0.2, 0.7, 0.95], [0.4, 0.8, 1.0], payload["report"]["auc_pu"]
    work = """{
      aucs: input.alphas.map((a) => input.betas.map((b) => purecover.auc(input.seen, a, b))),
      bins: purecover.histogram(input.bins, 0.3, 0.9),
      no_contrast: purecover.recover(
        { thresholds: [3, 2, 1], labeled: [2, 1, 1], unlabeled: [0, 1, 3] },
        { alpha: 0.25, beta: 0.25 + 1e-14, repair: "likelihood" },
      ).roc,
    }"""
    bins = payload["histogram"]
    found = run({"bins": bins, "alphas": alphas, "betas": betas, "seen": seen}, work)
    for alpha, row in zip(alphas, found["aucs"], strict=True):
        for beta, value in zip(betas, row, strict=True):
            wanted = 0.5 + (seen - 0.5) / (beta - alpha) if alpha < beta else np.inf
            assert value == (pytest.approx(wanted) if 0 <= wanted <= 1 else None)
    assert None in found["aucs"][2]
    g, f = (np.array(bins[name]) for name in ("labeled", "unlabeled"))
    positive, negative = (0.7 * g - 0.1 * f) / 0.6, (0.9 * f - 0.3 * g) / 0.6
    assert min(positive.min(), negative.min()) < 0
    for name, wanted in (("positive", positive), ("negative", negative), ("labeled", g)):
        assert found["bins"][name] == pytest.approx(wanted.clip(0), abs=1e-9)
    # Eight rows, of which alpha says that two are positive: both of the highest score.
    assert found["no_contrast"]["tpr"] == pytest.approx([0, 1, 1, 1])
    assert found["no_contrast"]["fpr"] == pytest.approx([0, 0, 1 / 3, 1])
