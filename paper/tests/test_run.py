"""The study of the paper: its grid, its runs that go on where they were, and their store."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import joblib
import numpy as np
import pytest
from joblib._parallel_backends import ThreadingBackend
from paper.tests import driver as paper_driver
from paper.tests.driver import REPEATS, design, measure_little, problems, score_at_once

from purecover_paper import measure as _measure
from purecover_paper import run as _run
from purecover_paper.design import BETAS, Cell, Draw, StudySettings, cells, draw
from purecover_paper.measure import DEFAULT, RELEASED, measure
from purecover_paper.run import run_study
from purecover_paper.store import Record, Store

POSITIVE = np.arange(2000) % 4 == 0


@pytest.mark.parametrize("beta", BETAS)
def test_rows_of_a_cell(beta: float) -> None:
    found = draw(Cell("bank", beta, 0), POSITIVE, 200)
    assert found.labeled.sum() == 200
    assert found.labeled[:200].all()
    assert len(set(found.rows.tolist())) == 2000
    np.testing.assert_array_equal(found.positive, POSITIVE[found.rows])
    assert found.beta == beta
    assert found.alpha == pytest.approx((500 - beta * 200) / 1800)
    again = draw(Cell("bank", beta, 0), POSITIVE, 200)
    np.testing.assert_array_equal(found.rows, again.rows)
    assert not np.array_equal(found.rows, draw(Cell("bank", beta, 1), POSITIVE, 200).rows)


@pytest.fixture(scope="module")
def measured() -> tuple[Draw, np.ndarray, list[Record]]:
    rng = np.random.default_rng(0)
    positive = np.concatenate([np.arange(200) < 190, np.arange(1000) < 300])
    labeled = np.arange(1200) < 200
    scores = rng.normal(size=1200) + 2 * positive
    drawn = Draw(np.arange(1200), labeled, positive)
    cell = Cell("bank", 0.95, 0, StudySettings(n_resamples=20))
    return drawn, scores, measure(cell, drawn, scores, scores + positive)


def one(records: list[Record], *key: str) -> Record:
    (found,) = [r for r in records if (r.metric, r.method, r.estimator, r.repair) == key]
    return found


def test_measured(measured: tuple[Draw, np.ndarray, list[Record]]) -> None:
    from sklearn.metrics import average_precision_score, roc_auc_score

    drawn, scores, records = measured
    keys = Counter((r.metric, r.method, r.estimator, r.repair) for r in records)
    assert max(keys.values()) == 1
    assert all(np.isfinite(r.value) for r in records)
    assert {r.estimator for r in records} >= {"true", DEFAULT, RELEASED, "alphamax-n", "bbe"}
    assert one(records, "alpha", "true", "", "").value == 0.3
    same = one(records, "auc", "same", "", "").value
    assert same == pytest.approx(roc_auc_score(drawn.positive, scores))
    traditional = one(records, "auc", "traditional", "", "").value
    assert traditional == pytest.approx(roc_auc_score(drawn.positive, scores + drawn.positive))
    observed = one(records, "auc", "observed", "", "").value
    assert observed == pytest.approx(roc_auc_score(drawn.labeled, scores))
    naive = one(records, "auc_pr", "observed", "", "").value
    assert naive == pytest.approx(average_precision_score(drawn.labeled, scores), abs=0.01)
    # Equation 4 with the true proportions, and two curves that recover the same scores.
    direct = one(records, "auc", "direct", "true", "").value
    assert direct == pytest.approx((observed - (1 - 0.65) / 2) / 0.65)
    assert direct == pytest.approx(same, abs=0.05)
    for repair in ("isotonic", "paper", "hull", "likelihood"):
        assert one(records, "auc", "indirect", "true", repair).value == pytest.approx(
            same, abs=0.07
        )


DRIVER = Path(paper_driver.__file__)


@pytest.fixture
def little(monkeypatch) -> None:
    monkeypatch.setattr(_run, "bagged_scores_many", score_at_once)
    monkeypatch.setattr(_run, "measure", measure_little)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> list[Record]:
    """The rows of the driver's study, run in peace."""
    with pytest.MonkeyPatch.context() as patch, Store(tmp_path_factory.mktemp("peace")) as store:
        patch.setattr(_run, "bagged_scores_many", score_at_once)
        patch.setattr(_run, "measure", measure_little)
        run_study(design(), store=store, data=problems())
        return store.records()


def rows(folder: Path) -> list[Record]:
    with Store(folder, read_only=True) as store:
        store.verify()
        return store.records()


def test_a_cell_is_trained_measured_and_kept(store, monkeypatch) -> None:
    two = {name: _measure.estimators()[name] for name in (_measure.DEFAULT, "roc-slope")}
    monkeypatch.setattr(_measure, "estimators", lambda: two)  # all of them take seconds
    cell = Cell("one", 1.0, 0, StudySettings(n_networks=25, n_resamples=100))
    told = []
    done = run_study(
        [cell],
        store=store,
        data=problems(),
        keep_scores=True,
        about={"command": "make study"},
        on_progress=lambda *counts: told.append(counts),
    )
    assert (done.n_cells, done.n_before, done.n_added, done.failed) == (1, 0, 1, ())
    assert told == [(0, 1), (1, 1)]
    found = store.records()
    assert {row[:3] for row in found} == {("one", 1.0, 0)}
    methods = {row.method for row in found}
    assert methods >= {"traditional", "same", "observed", "direct", "indirect", "estimate", "true"}
    (kept,) = store.cells()
    assert kept.about["command"] == "make study"
    assert kept.about["numpy"] == np.__version__
    assert kept.seconds > 0
    # The scores that were kept are those that were measured.
    arrays = store.scores(cell.key)
    drawn = draw(cell, problems()["one"].positive, 30)
    np.testing.assert_array_equal(arrays["labeled"], drawn.labeled)
    np.testing.assert_array_equal(arrays["positive"], drawn.positive)
    again = measure_little(cell, drawn, arrays["scores"], arrays["traditional_scores"])
    assert set(again) <= set(found)


@pytest.mark.usefixtures("little")
def test_only_what_is_missing_is_computed(store, monkeypatch) -> None:
    run_study(design(2), store=store, data=problems())
    before = store.cells()
    computed = []
    run_cell = _run._run_cell
    monkeypatch.setattr(
        _run, "_run_cell", lambda cell, *rest: computed.append(cell) or run_cell(cell, *rest)
    )
    done = run_study(design(3), store=store, data=problems())
    assert (done.n_cells, done.n_before, done.n_added) == (12, 8, 4)
    assert {cell.repeat for cell in computed} == {2}
    assert [cell for cell in store.cells() if cell.repeat < 2] == before
    assert run_study(design(3), store=store, data={}).n_added == 0  # nor is data needed


class InRounds(ThreadingBackend):
    """Returns its results all at once, as Ray's does."""

    supports_return_generator = False


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("backend", [ThreadingBackend(), InRounds(), "sequential"])
def test_any_backend_of_joblib_gives_the_same_rows(store, undisturbed, backend) -> None:
    with joblib.parallel_config(backend, n_jobs=1 if backend == "sequential" else 2):
        done = run_study(design(3), store=store, data=problems())
    assert done.n_added == 12
    assert store.records() == [row for row in undisturbed if row.repeat < 3]


@pytest.mark.usefixtures("little")
def test_cells_for_a_card_are_trained_together(store, monkeypatch, undisturbed) -> None:
    """The bookkeeping of a card, on one that is none."""
    wanted = list(cells(["one", "two"], [1.0, 0.75], 3, StudySettings(device="cuda")))
    calls = []

    def train(features, rows, marks, *, device, **options):
        calls.append((device, len(rows)))
        return score_at_once(features, rows, marks, **options)

    monkeypatch.setattr(_run, "bagged_scores_many", train)
    monkeypatch.setattr(_run, "_about", lambda missing: {})
    run_study([wanted[0]], store=store, data=problems())
    assert calls == [("cuda", 1)] * 2
    done = run_study(wanted, store=store, data=problems())
    assert done.n_added == 11
    assert sorted(calls[2:]) == [("cuda", 2)] * 2 + [("cuda", 3)] * 6
    # Each got the seeds and labels it would have got alone.
    assert store.records() == [row for row in undisturbed if row.repeat < 3]


def start(folder: Path, jobs: int) -> subprocess.Popen[str]:
    """The driver, with whatever it starts, in a group that can be killed at a blow."""
    return subprocess.Popen(
        [sys.executable, DRIVER, folder, str(jobs)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # What a killed joblib leaves behind goes where tests tidy up.
        env=os.environ | {"JOBLIB_TEMP_FOLDER": str(folder)},
    )


@pytest.mark.slow
def test_workers_end_with_the_process_that_started_them(tmp_path) -> None:
    def living(group: int) -> list[list[str]]:
        stats = [each / "stat" for each in Path("/proc").iterdir() if each.name.isdigit()]
        texts = [stat.read_text() for stat in stats if stat.exists()]
        fields = [text.rpartition(")")[2].split() for text in texts]
        return [each for each in fields if int(each[2]) == group and each[0] != "Z"]

    with start(tmp_path, jobs=2) as running:
        for _ in range(3):  # both workers have had a cell
            assert running.stdout.readline()
        assert len(living(running.pid)) > 2
        os.kill(running.pid, signal.SIGKILL)  # and nobody else
        running.wait()
        for _ in range(300):
            if not living(running.pid):
                break
            time.sleep(0.1)
        assert living(running.pid) == []


@pytest.mark.slow
def test_killed_often_it_ends_with_the_rows_of_an_undisturbed_run(tmp_path, undisturbed) -> None:
    rng = random.Random(0)  # noqa: S311 - moments, not secrets
    seen = [0]
    for kill in range(3):
        # Mostly one process, at times a parent with workers, which takes longer to start.
        with start(tmp_path, jobs=2 if kill == 1 else 1) as running:
            for _ in range(rng.choice([1, 1, 2, 3, 4])):  # the first line comes before any cell
                assert running.stdout.readline()
            time.sleep(rng.uniform(0, 0.2))  # somewhere in the middle of the next cell
            os.killpg(running.pid, signal.SIGKILL)
            assert running.wait() == -signal.SIGKILL
        found = rows(tmp_path)
        assert set(found) <= set(undisturbed)
        seen.append(len(found))
    assert seen == sorted(seen)  # what was kept stays
    assert 0 < seen[-1] < len(undisturbed)  # so that every one of them had something to lose
    with start(tmp_path, jobs=1) as running:
        out, _ = running.communicate()
    assert running.returncode == 0
    assert out.splitlines()[-1] == f"{4 * REPEATS} {4 * REPEATS}"
    assert rows(tmp_path) == undisturbed
