"""The study's tables: the printed ones come out of themselves, and every figure has a twin."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from scipy import stats
from tests.paper_records import paper_records

from purecover import prior_estimators, simulate
from purecover.estimators.choice import default_estimator
from purecover.exceptions import InvalidInputError
from purecover.paper import run as _measure
from purecover.paper.design import Cell, Draw, Record, StudySettings
from purecover.paper.findings import findings
from purecover.paper.standings import (
    cluster_means,
    clustered_test,
    counting_sheet,
    counting_test,
    coverage,
    coverage_sheets,
    estimators_sheet,
    is_default,
    promises,
    promises_sheet,
    shortfalls,
    standings,
    standings_sheet,
)
from purecover.paper.tables import (
    OURS,
    PAPERS,
    SUMMARY,
    Column,
    Combination,
    Methods,
    Row,
    Runs,
    Sheet,
    collapses,
    mean_of_rows,
    paper_combination,
    paper_table,
    printed_table,
    sheet_csv,
    sheet_markdown,
    summary_rows,
)


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return paper_records()


@pytest.fixture(scope="module")
def runs(records: list[Record]) -> Runs:
    return Runs(records)


def printed_records(methods: Methods) -> list[Record]:
    """A study whose errors are exactly the printed ones, estimates below the truth."""
    found = []

    def add(row: Row, what: Combination, value: float) -> None:
        found.append(Record(row.dataset, row.beta, 0, *what, value, None, None))

    for metric, name in (("auc", "auc"), ("auc_pr", "aucpr")):
        for row, line in printed_table(metric).items():
            add(row, Combination("alpha", "true"), line["alpha"])
            add(row, Combination("beta", "true"), row.beta)
            add(row, Combination("alpha", "estimate", methods.estimator), line["alpha"] + line["e"])
            add(row, Combination("beta", "estimate", methods.estimator), row.beta)
            add(row, Combination(metric, "traditional"), line[name])
            for column in ("pu", "ir", "dr", "ie", "de"):
                if column in line:
                    what = paper_combination(column, metric, methods)
                    add(row, what, line[name] - line[column])
    return found


# -- the printed tables -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("indirect", "direct", "counts", "successes", "p", "without"),
    [
        ("ir", "dr", (1, 28, 7), 31, 6.457e-6, 5.6e-8),
        # The paper says 9 / 25 / 2; its table gives one tie more, and the same k and P.
        ("ie", "de", (8, 25, 3), 26, 5.665e-3, 2.3e-3),
    ],
)
def test_counts_and_p_values_come_out_of_the_printed_table(
    indirect: str, direct: str, counts: tuple[int, ...], successes: int, p: float, without: float
) -> None:
    table = printed_table("auc").values()
    test = counting_test([r[indirect] for r in table], [r[direct] for r in table])
    assert (test.direct, test.indirect, test.ties) == counts
    assert test.successes == successes
    assert test.p_value == pytest.approx(p, rel=1e-3)
    assert test.p_without_ties == pytest.approx(without, rel=0.02)


def test_the_counts_in_the_papers_text_give_the_same_p() -> None:
    indirect, direct = [0.2] * 9 + [0.1] * 25 + [0.1] * 2, [0.1] * 9 + [0.2] * 25 + [0.1] * 2
    test = counting_test(indirect, direct)
    assert (test.direct, test.indirect, test.ties, test.successes) == (9, 25, 2, 26)
    assert test.p_value == pytest.approx(5.665e-3, rel=1e-3)


@pytest.mark.parametrize("metric", ["auc", "auc_pr"])
def test_a_study_with_the_printed_errors_gives_the_printed_table(metric: str) -> None:
    sheet = paper_table(Runs(printed_records(PAPERS)), metric, PAPERS, "traditional")
    assert len(sheet.rows) == 37
    names = [column.key for column in sheet.columns]
    checked = 0
    for row in sheet.rows:
        cells = dict(zip(names, row, strict=True))
        for name in names:
            # The observed area is rounded on its own in print.
            if name.endswith("_difference") and name not in {
                "auc_pu_difference", "aucpr_pu_difference",
            }:  # fmt: skip
                assert cells[name] == pytest.approx(0, abs=1e-12), (cells["dataset"], name)
                checked += 1
    assert checked == 37 * (8 if metric == "auc" else 6)
    means = dict(zip(names, sheet.rows[-1], strict=True))
    expected = {
        "auc": {"pu": 0.1818, "ir": 0.0338, "dr": 0.0363, "ie": 0.0434, "de": 0.0490},
        "auc_pr": {"pu": 0.5788, "ir": 0.0642, "ie": 0.1742},
    }[metric]
    # Four decimals are what is known of them.
    assert {name: means[name] for name in expected} == pytest.approx(expected, abs=6e-5)


def test_the_counting_sheet_says_the_same_of_print_and_of_such_a_study() -> None:
    rows = {row[0]: row[1:] for row in counting_sheet(Runs(printed_records(PAPERS))).rows}
    for columns in ("IR against DR", "IE against DE"):
        ours = rows[f"The paper's methods, the paper's truth: {columns}"]
        printed = rows[f"Printed: {columns}"]
        assert ours[:4] == printed[:4]
        assert ours[4:] == pytest.approx(printed[4:])
    assert rows["Printed: IR against DR"][:2] == ("1 / 28 / 7", "31 of 36")
    assert not any("same scores" in title for title in rows)  # nothing was judged by those


# -- tests of significance ----------------------------------------------------------------


def test_ties_are_given_in_turn_and_the_tail_is_the_binomial_one() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(1, 40))
        one, two = (rng.integers(0, 4, n) / 1000 for _ in range(2))
        test = counting_test(one.tolist(), two.tolist())
        given, turn = 0, 0
        for a, b in zip(one, two, strict=True):
            if a == b:
                given += turn  # the direct method first
                turn = 1 - turn
            else:
                given += bool(a < b)
        assert test.successes == given
        assert test.p_value == pytest.approx(stats.binom.sf(given - 1, n, 0.5))


def test_errors_are_compared_as_printed() -> None:
    assert counting_test([0.1001], [0.1004]).ties == 1
    assert counting_test([0.1004], [0.1006]).indirect == 1


def test_flipping_signs_equals_brute_force() -> None:
    rng = np.random.default_rng(1)
    differences = {Row(name, b): rng.normal(0.3) for name in "abcde" for b in (1.0, 0.75)}
    means = cluster_means(differences)
    as_large = [
        sum(s * m for s, m in zip(signs, means, strict=True)) >= means.sum() - 1e-12
        for signs in product((1, -1), repeat=5)
    ]
    test = clustered_test(differences)
    assert test.p_value == np.mean(as_large)
    assert test.mean == pytest.approx(means.mean())
    assert test.low < test.mean < test.high


def test_dependent_rows_add_no_evidence() -> None:
    rng = np.random.default_rng(2)
    once = {Row(f"d{i}", 1.0): float(rng.normal(0.5)) for i in range(12)}
    thrice = {Row(row.dataset, b): v for row, v in once.items() for b in (1.0, 0.95, 0.75)}
    one, three = clustered_test(once), clustered_test(thrice)
    assert one.p_value == three.p_value
    assert (one.low, one.high) == pytest.approx((three.low, three.high))
    # The counting test takes the same evidence for three times as much.
    plain = [counting_test([0.0] * len(d), list(d.values())).p_value for d in (once, thrice)]
    assert plain[1] < plain[0]


def test_the_clustered_test_holds_its_level() -> None:
    rng = np.random.default_rng(3)
    worlds = rng.normal(size=(400, 12)) + 0.0
    p = [
        clustered_test({Row(f"d{i}", 1.0): v for i, v in enumerate(w)}, n_resamples=10).p_value
        for w in worlds
    ]
    # Five standard errors around the level.
    assert abs(np.mean(np.array(p) <= 0.05) - 0.05) < 5 * math.sqrt(0.05 * 0.95 / 400)


def test_many_data_sets_are_flipped_at_random() -> None:
    test = clustered_test({Row(f"d{i}", 1.0): 0.1 for i in range(20)})
    assert 0 < test.p_value < 1e-3
    assert test.n_clusters == 20


def test_one_data_set_has_no_interval() -> None:
    test = clustered_test({Row("gas", 1.0): 0.1})
    assert math.isnan(test.low)
    assert math.isnan(test.high)
    assert test.p_value == 0.5


# -- records and errors -------------------------------------------------------------------


def test_rows_stand_in_the_order_of_the_paper(records: list[Record]) -> None:
    shuffled = [records[i] for i in np.random.default_rng(0).permutation(len(records))]
    other = Record("another", 0.5, 0, "auc", "same", "", "", 0.9, None, None)
    runs = Runs([other, *shuffled])
    assert runs.rows == (*printed_table("auc"), Row("another", 0.5))
    assert runs.n_runs == 36 * 4 + 1
    assert runs.datasets[:2] == ("bank", "concrete")


@pytest.mark.parametrize("truth", ["traditional", "same"])
@pytest.mark.parametrize("metric", ["auc", "auc_pr"])
def test_errors_equal_those_of_a_loop(records: list[Record], metric: str, truth: str) -> None:
    runs = Runs(records)
    what = Combination(metric, "indirect", "dedpul", "hull")
    by_key = {(r[:3], r[3:7]): r.value for r in records}
    for i, run in enumerate(runs.runs):
        key = (*run.row, run.repeat)
        expected = by_key[key, tuple(what)] - by_key[key, (metric, truth, "", "")]
        assert runs.errors(what, truth)[i] == pytest.approx(expected)  # type: ignore[arg-type]


def test_areas_outside_the_unit_interval_are_clipped_and_missing_ones_left_out() -> None:
    def record(repeat: int, method: str, value: float) -> Record:
        return Record("gas", 1.0, repeat, "auc", method, "", "", value, None, None)

    runs = Runs(
        [record(i, "same", 0.9) for i in range(4)]
        + [record(0, "direct", 1.3), record(1, "direct", -0.2), record(2, "direct", math.nan)]
    )
    errors = runs.errors(Combination("auc", "direct"), "same")
    np.testing.assert_allclose(errors, [0.1, -0.9, np.nan, np.nan])
    assert runs.by_row(errors)[Row("gas", 1.0)].size == 2
    assert runs.means(np.abs(errors))[Row("gas", 1.0)] == pytest.approx(0.5)


def test_no_records_say_what_to_run() -> None:
    with pytest.raises(InvalidInputError, match="purecover paper run"):
        Runs([])


def test_nothing_has_no_mean() -> None:
    assert math.isnan(mean_of_rows({}))


# -- tables -------------------------------------------------------------------------------


def test_collapsed_rows_are_marked() -> None:
    records = [
        Record(name, 1.0, i, "auc", method, "" if method == "traditional" else "true", repair,
               value, None, None)
        for name, collapsed in (("gas", 0.55), ("bank", 0.95))
        for i in range(4)
        for method, repair, value in (
            ("traditional", "", 1.0),
            ("direct", "", 1.05),  # counts as 1
            ("indirect", "paper", collapsed if i == 0 else 0.99),
        )
    ]  # fmt: skip
    runs = Runs(records)
    assert collapses(runs, "true") == {Row("bank", 1.0): 0.0, Row("gas", 1.0): 0.25}
    sheet = paper_table(runs, "auc", PAPERS, "traditional")
    assert [sheet.rows[i][0] for i in sheet.marked] == ["Gas"]
    assert sheet.columns[-1].key == "collapsed"
    assert [row[-1] for row in sheet.rows] == [0.0, 0.25, 0.125]


def test_a_table_of_a_part_holds_that_part(records: list[Record]) -> None:
    part = [r for r in records if r.dataset == "wine" and r.method != "estimate"]
    sheet = paper_table(Runs(part), "auc", OURS, "same")
    assert [row[:2] for row in sheet.rows] == [
        ("Wine", 1.0), ("Wine", 0.95), ("Wine", 0.75), ("Mean", None),
    ]  # fmt: skip
    e = [column.key for column in sheet.columns].index("e")
    assert [row[e] for row in sheet.rows] == [None] * 4
    assert "–" in sheet.texts[0]


def test_standings(runs: Runs) -> None:
    found = standings(runs, "auc", "same", known=False)
    assert len(found) == 3 * 6
    errors = [each.error for each in found]
    assert errors == sorted(errors)
    assert found[0].behind == found[0].behind_low == found[0].behind_high == 0
    assert found[0].what.estimator == "label-curve"
    assert all(each.low <= each.error <= each.high for each in found)
    assert all(each.behind >= 0 and abs(each.bias) <= each.error for each in found)
    assert all(each.complete and each.n_runs == 144 for each in found)
    naive = np.abs(runs.errors(found[3].what, "same")).mean()  # rows of equal size
    assert found[3].error == pytest.approx(naive)
    assert found[3].worst >= found[3].error
    known = standings(runs, "auc", "same", known=True)
    assert {each.what.estimator for each in known} == {"true"}


def test_who_gives_up_does_not_win(records: list[Record]) -> None:
    best = standings(Runs(records), "auc", "same", known=False)[0].what
    less = [r for r in records if not (tuple(r[3:7]) == tuple(best) and r.dataset == "wine")]
    found = standings(Runs(less), "auc", "same", known=False)
    assert found[-1].what == best
    assert not found[-1].complete
    assert found[-1].behind < 0  # it would have won


def test_the_defaults_are_marked(runs: Runs) -> None:
    sheet = standings_sheet(runs, "auc_pr", "same", known=False)
    assert [sheet.rows[i][:2] for i in sheet.marked] == [("label-curve", "blend")]
    assert is_default(Combination("auc", "indirect", "true", "isotonic"))
    assert not is_default(Combination("auc", "indirect", "label-curve", "paper"))
    assert prior_estimators()[_measure.DEFAULT] is type(default_estimator())


def test_estimates_of_the_proportions(records: list[Record], runs: Runs) -> None:
    sheet = estimators_sheet(runs)
    assert [row[0] for row in sheet.rows] == ["label-curve", "alphamax-n-released", "dedpul"]
    value = {tuple(r[:7]): r.value for r in records}

    def delta(key: tuple[object, ...], *what: str) -> float:
        return value[(*key, "beta", *what)] - value[(*key, "alpha", *what)]

    errors = [
        delta(key, "estimate", "dedpul", "") - delta(key, "true", "", "")
        for key in {r[:3] for r in records}
    ]
    row = dict(zip([c.key for c in sheet.columns], sheet.rows[2], strict=True))
    assert row["e"] == pytest.approx(np.mean(np.abs(errors)))
    assert row["bias"] == pytest.approx(np.mean(errors))
    assert row["low"] < row["e"] < row["high"]
    assert [sheet.rows[i][0] for i in sheet.marked] == ["label-curve"]


def test_coverage_by_hand() -> None:
    ends = {"gas": [(0.7, 0.9), (0.85, 0.95), (0.5, 0.7), None], "wine": [(0.8, 0.8)]}
    records = [
        record
        for name, intervals in ends.items()
        for i, interval in enumerate(intervals)
        for record in (
            Record(name, 1.0, i, "auc", "same", "", "", 0.8, None, None),
            Record(name, 1.0, i, "auc", "direct", "x", "", 0.8, *(interval or (None, None))),
        )
    ]
    found = coverage(Runs(records), Combination("auc", "direct", "x"))
    gas, everything = found["gas"], found[""]
    assert (gas.n_runs, gas.covered, gas.below, gas.above) == (4, 0.25, 0.25, 0.25)
    assert gas.width == pytest.approx((0.2 + 0.1 + 0.2) / 3)
    assert gas.score == pytest.approx((0.2 + (0.1 + 40 * 0.05) + (0.2 + 40 * 0.1)) / 3)
    assert everything.covered == pytest.approx(2 / 5)
    assert found["wine"].covered == 1
    assert coverage(Runs(records), Combination("auc", "same")) == {}


def test_a_data_set_without_any_interval_is_not_covered() -> None:
    def bare(record: Record) -> Record:
        return record._replace(low=None, high=None) if record.dataset == "wine" else record

    runs = Runs(map(bare, paper_records(2, ["gas", "wine"])))
    found = coverage(runs, paper_combination("ie", "auc", OURS))
    assert (found["wine"].covered, found["wine"].n_runs) == (0.0, 6)
    assert math.isnan(found["wine"].width)
    assert found[""].covered == found["gas"].covered / 2
    assert found[""].width == found["gas"].width
    promised = {each.title: each.value for each in promises(runs)}
    hold = "95 % intervals of AUC that hold the truth of the same scores"
    assert promised[f"{hold}, worst data set (Wine)"] == 0.0
    # The tidy file says the same.
    names = list(SUMMARY)
    rows = [dict(zip(names, row, strict=True)) for row in summary_rows(runs)]
    covered = [
        row["covered"] for row in rows
        if row["dataset"] == "wine" and (row["method"], row["repair"]) == ("indirect", "isotonic")
        and (row["metric"], row["estimator"]) == ("auc", "label-curve")
    ]  # fmt: skip
    assert covered == [0.0, 0.0, 0.0]


def test_coverage_has_a_table_for_everything_with_intervals(runs: Runs) -> None:
    sheets = coverage_sheets(runs)
    assert [sheet.name for sheet in sheets] == [
        "coverage-alpha-estimate-label-curve",
        "coverage-auc-indirect-label-curve-isotonic",
        "coverage-auc_pr-indirect-label-curve-blend",
        "coverage-beta-estimate-label-curve",
    ]
    assert all(len(sheet.rows) == 13 and sheet.rows[-1][0] == "All" for sheet in sheets)


# -- what it set out to show --------------------------------------------------------------


def test_a_good_study_meets_everything() -> None:
    found = promises(Runs(paper_records(50, noise=0.002)))
    judged = {each.title: each.outcome for each in found if each.bar is not None}
    assert set(judged.values()) == {"met"}, judged
    assert len(judged) == 12
    assert shortfalls(Runs(paper_records(50, noise=0.002))) == []


def test_a_bad_study_does_not() -> None:
    runs = Runs(paper_records(2, noise=0.3))
    found = promises(runs)
    assert {each.outcome for each in found if each.bar is not None} >= {"not met"}
    sheet = promises_sheet(runs)
    assert {sheet.rows[i][-1] for i in sheet.marked} == {"not met"}
    assert sum(row[-1] == "not met" for row in sheet.rows) == len(sheet.marked)


def test_what_was_not_measured_is_not_met_either() -> None:
    runs = Runs([Record("gas", 1.0, 0, "auc", "same", "", "", 0.9, None, None)])
    outcomes = {each.title: each.outcome for each in promises(runs)}
    assert outcomes.pop("Runs of the study") == "not met"
    assert set(outcomes.values()) == {"not measured"}


def test_printed_averages_stand_beside() -> None:
    found = {each.title: each.printed for each in promises(Runs(paper_records(1)))}
    assert found["DR, mean |error| of AUC, known proportions, the paper's truth"] == pytest.approx(
        0.0363, abs=5e-5
    )
    assert found["e, mean |error| of β − α"] == pytest.approx(0.1036, abs=5e-5)


@pytest.mark.parametrize(("shift", "outcome"), [(0.01, "met"), (0.05, "not met")])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_signed_error_keeps_its_sign(sign: int, shift: float, outcome: str) -> None:
    def shifted(record: Record) -> Record:
        if record.method != "estimate":
            return record
        printed = printed_table("auc")[Row(record.dataset, record.beta)]
        true = printed["alpha"] if record.metric == "alpha" else record.beta
        return record._replace(value=true - sign * shift * (record.metric == "alpha"))

    found = {each.title: each for each in promises(Runs(map(shifted, paper_records(1))))}
    promise = found["Mean signed error of β − α"]
    assert promise.value == pytest.approx(sign * shift)
    assert promise.outcome == outcome
    assert promise.texts == (f"{sign * shift:+.4f}", "within ±0.0200", "–")


def test_other_rows_and_more_repeats_fill_no_gap() -> None:
    more = paper_records(60, ["gas"])
    other = [r._replace(beta=0.5) for r in more if r.beta == 1.0]
    runs = Runs([*more, *other])
    assert runs.n_runs == 240
    assert promises(runs)[0].value == 150
    assert shortfalls(runs)[0] == "150 of 1,800 runs."
    assert findings(runs)[0].endswith("3 of the 36 rows of the paper's tables.")
    strange = Runs(r._replace(dataset="another") for r in paper_records(1, ["gas"]))
    assert shortfalls(strange) == [
        "0 of 1,800 runs.",
        "No run of any row of the paper's tables.",
    ]


def test_shortfalls() -> None:
    sentences = shortfalls(Runs(paper_records(3, ["bank", "gas"])))
    assert sentences[0] == "18 of 1,800 runs."
    assert sentences[1].startswith("No run of concrete; housing;")
    assert sentences[2] == "3 of 50 repeats of bank; gas."
    assert shortfalls(Runs(paper_records(2)))[1:] == ["2 of 50 repeats of every row."]
    less = [r for r in paper_records(50) if (r.dataset, r.beta) != ("wine", 0.75)]
    assert shortfalls(Runs(less)) == ["1,750 of 1,800 runs.", "No run of wine at beta 0.75."]


# -- all combinations ---------------------------------------------------------------------


def test_the_summary_is_tidy(records: list[Record], runs: Runs) -> None:
    text = sheet_csv(SUMMARY, summary_rows(runs))
    rows = list(csv.DictReader(io.StringIO(text)))
    keys = ["dataset", "beta", "metric", "method", "estimator", "repair"]
    assert len({tuple(row[key] for key in keys) for row in rows}) == len(rows)
    assert len(rows) == len(records) / 4
    row = next(
        r for r in rows
        if [r[k] for k in keys] == ["gas", "1", "auc", "indirect", "true", "paper"]
    )  # fmt: skip
    of = [
        r
        for r in records
        if (r[:2], r[3:7]) == (("gas", 1.0), ("auc", "indirect", "true", "paper"))
    ]
    values = np.array([r.value for r in of])
    assert float(row["mean"]) == pytest.approx(values.mean(), rel=1e-5)
    assert float(row["sd"]) == pytest.approx(values.std(ddof=1), rel=1e-5)
    assert float(row["error_traditional"]) == pytest.approx(np.abs(values - 1).mean(), rel=1e-5)
    assert float(row["bias_same"]) == pytest.approx((values - 0.98).mean(), rel=1e-4)
    assert (row["printed_error"], row["covered"], row["runs"]) == ("0.018", "", "4")
    truth = next(r for r in rows if r["method"] == "same")
    assert truth["error_same"] == truth["bias_same"] == ""
    covered = [r["covered"] for r in rows if r["covered"]]
    assert len(covered) == 4 * 36


def test_the_summary_clips_areas_as_the_errors_do() -> None:
    rows = [
        Record("gas", 1.0, 0, "auc", "same", "", "", 0.9, None, None),
        Record("gas", 1.0, 0, "auc", "indirect", "true", "none", 3e13, None, None),
    ]
    names = list(SUMMARY)
    found = [dict(zip(names, row, strict=True)) for row in summary_rows(Runs(rows))]
    (none,) = [row for row in found if row["repair"] == "none"]
    assert none["mean"] == 1.0
    assert none["error_same"] == pytest.approx(0.1)


def test_what_is_measured_is_what_the_tables_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names agree with those that a run of the study records."""
    every: Callable[[], dict[str, Callable[[], object]]] = _measure.estimators
    wanted = {name: every()[name] for name in (_measure.DEFAULT, _measure.RELEASED)}
    monkeypatch.setattr(_measure, "estimators", lambda: wanted)
    sample = simulate.binormal(2.0).sample(60, 300, alpha=0.3, beta=0.95, random_state=0)
    cell = Cell("gas", 0.95, 0, StudySettings(n_resamples=20))
    drawn = Draw(np.arange(len(sample)), sample.labeled, sample.truth)
    runs = Runs(_measure.measure(cell, drawn, sample.scores, sample.scores))
    for methods in (PAPERS, OURS):
        for metric, columns in (("auc", ("pu", "ir", "dr", "ie", "de")), ("auc_pr", ("pu", "ie"))):
            for column in columns:
                assert paper_combination(column, metric, methods) in runs
    outcomes = [each.outcome for each in promises(runs)]
    assert "not measured" not in outcomes
    sheet = paper_table(runs, "auc", OURS, "same")
    assert all(cell is not None for cell in sheet.rows[0])


# -- sheets -------------------------------------------------------------------------------


def test_cells_as_text() -> None:
    def show(cell: object, **options: object) -> str:
        return Column("", "", **options).show(cell)  # type: ignore[arg-type]

    assert show(-0.0001) == "0.000"
    assert show(0.00049, style="signed") == "0.000"
    assert show(-0.0312, style="signed") == "-0.031"
    assert show(math.nan) == show(None) == "–"
    assert show(6.457e-6, style="scientific") == "6.5e-06"
    assert show(0.25, style="scientific") == "0.25"
    assert show(1234, style="integer") == "1,234"
    assert show(0.912, style="percent") == "91.2 %"


def test_markdown_keeps_its_columns() -> None:
    sheet = Sheet(
        name="x", title="A | title", note="A note.",
        columns=(
            Column("a", "A", style="text"), Column("b", "ours", "B"), Column("c", "paper", "B"),
        ),
        rows=(("with | and <b>", 0.5, 0.25), ("", 0.1, None)),
    )  # fmt: skip
    lines = sheet_markdown(sheet).splitlines()
    assert lines[2:6] == [
        "| A | B: ours (paper) |",
        "| --- | ---: |",
        r"| with \| and &lt;b> | 0.500 (0.250) |",
        "|  | 0.100 (–) |",
    ]
    assert lines[-1] == "A note."
