"""The reference collection: no reserved table in it, no family on both sides, counts that agree."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]

# Kept for comparisons with others, or used by the paper, under all names they go by. A table of
# the collection may not have such a name, whatever package it comes from.
NAMES = """
    abalone ada adultada airfoil airfoilselfnoise ccpp powerplant compactiv cpuact cpusmall
    german germancredit credit creditg creditcard krvsk krkopt chess nursery puma32h puma8nh
    segment segmentation imagesegments imagesegmentation segmentationdata cells sylva yeast
    caravan ticdata tic sacramento doctoraus doctorvisits hmda hdma ofp nmes1988 participation
    swisslabor star mathstar modechoice travelmode wages psid7682 psid1982 psid1976 resume
    resumenames labormarketdiscrimination labsup fertility affairs fair mroz mroz87 smokeban
    pima pimaindiansdiabetes diabetes ionosphere sonar vehicle vowel letter letterrecognition
    satimage satellite landsat shuttle soybean dna splice glass zoo wisconsin
    breastcancerwisconsin biopsy boston bostonhousing hedonic housing hprice2 ozone housevotes
    housevotes84 voting servo income marketing musk promotergene reuters spam spam7 spambase
    spirals cars carprices bloodbrain cox2 dhfr mdrr oil oils pottery scat tecator meats bank
    bankmarketing concrete gas gasdrift mushroom pageblocks pageblock pageblocks0 pendigits
    pendigit penbased wine winequality waveform twonorm ring ringnorm banana monk2 led7digit
    magic default headinjury simdat student hpccv attrition wachurn mlcchurn biochemists phdpubs
    phdpublications municipalities munexp cps1985 cps85 cps1988 cps7885 caschools maschools
    collegedistance gsoep9402 gss7402 guns healthinsurance houseprices1987 medicaid1986
    teachingratings evals tradecredit strikeduration recreationdemand somerville fatalities
    fatality usseatbelts bankwages programeffectiveness parade2005 shipaccidents
    equationcitations cigarettessw cigarette murderrates
"""
RESERVED = set(NAMES.split())
RESERVED_PACKAGES = ("AER", "caret", "kernlab", "mlbench")


def module(name, monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module(f"studies.{name}")


@pytest.fixture
def tables(monkeypatch):
    return module("_reality_tables", monkeypatch)


def plain(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


def test_no_reserved_table(tables):
    for table in tables.tables():
        package, _, item = table.item.rpartition("/")
        assert package not in RESERVED_PACKAGES, table.key
        for name in (item.split(".")[0], table.family):
            assert plain(name) not in RESERVED, table.key
        assert not re.match(r"(s3bb|fake|kr.?vs|wine.?q|ecoli|abalone|yeast)", item, re.IGNORECASE)


def test_many_tables_of_many_fields_on_two_sides(tables):
    every = tables.tables()
    assert len(every) >= 80
    assert len({table.field for table in every}) >= 15
    items = [(table.source, table.item) for table in every]
    assert len(set(items)) == len(items)
    # no family on both sides, and the side is what the rule says
    sides = tables.drawn()
    assert {table.key: sides[table.family] for table in every} == {t.key: t.part for t in every}
    assert 0.4 < np.mean([table.part == "first" for table in every]) < 0.6


def test_bins_keep_the_ends_and_the_order(monkeypatch):
    reality = module("_reality", monkeypatch)
    scores = np.random.default_rng(1).normal(size=20_000)
    edges = reality.bin_edges(scores)
    assert len(edges) <= 330
    counts = np.bincount(np.searchsorted(edges, scores), minlength=len(edges))
    assert counts.sum() == len(scores)
    assert counts[:30].tolist() == counts[-30:].tolist() == [1] * 30
    assert counts.max() < 0.01 * len(scores)
    tied = reality.bin_edges(np.round(scores))
    np.testing.assert_array_equal(tied, np.unique(np.round(scores)))


@pytest.mark.parametrize("part", ["first", "second"])
def test_stored_problems_agree_with_themselves(part, monkeypatch):
    reality = module("_reality", monkeypatch)
    tables = {t.key: t for t in module("_reality_tables", monkeypatch).tables()}
    seen = []
    for problem in reality.load_problems(part):
        seen.append((problem.table, problem.design, problem.scorer))
        table = tables[problem.table]
        assert table.part == part
        assert problem.cut in {str(cut) for cut in table.cuts}
        assert problem.scorer in reality.SCORERS
        assert problem.labeling in reality.LABELINGS
        assert problem.n_labeled + problem.n_unlabeled <= table.rows
        assert len(problem.labeled) <= 330
        assert (problem.labeled + problem.unlabeled > 0).all()
        assert problem.alpha == problem.unlabeled_positive.sum() / problem.n_unlabeled
        assert problem.beta == problem.labeled_positive.sum() / problem.n_labeled
        ones = problem.positive / problem.positive.sum()
        zeros = problem.negative / problem.negative.sum()
        auc = ones @ (np.cumsum(zeros) - zeros / 2)
        assert auc == pytest.approx(problem.auc, abs=1e-3), seen[-1]
    assert len(set(seen)) == len(seen)
    assert {name for name, _, _ in seen} == {t.key for t in tables.values() if t.part == part}
