"""Work sent to a cluster gives what one process gives: Dask with two workers, Spark with two."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from tests.clusters import need, spark_session

import purecover as pu
from purecover_paper.design import StudySettings, cells
from purecover_paper.networks import BaggedNetworks
from purecover_paper.run import Problem, run_study
from purecover_paper.store import Store

# What Dask and Spark say at their start and end is not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore")


@dataclass(frozen=True)
class Cluster:
    """Workers in other processes, and how much they have been given."""

    backend: str
    handed_out: Any

    def config(self) -> AbstractContextManager[Any]:
        return joblib.parallel_config(self.backend, n_jobs=2)


def _transitions(dask_scheduler: Any) -> int:
    return int(dask_scheduler.transition_counter)


@pytest.fixture(scope="module")
def dask_cluster() -> Iterator[Cluster]:
    need("distributed", "'purecover[engines]' distributed")
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(2)
        yield Cluster("dask", lambda: client.run_on_scheduler(_transitions))


@pytest.fixture(scope="module")
def spark_cluster() -> Cluster:
    session = spark_session()
    need("joblibspark", "joblibspark")
    from joblibspark import register_spark

    register_spark()
    jobs = session.sparkContext._jsc.sc().dagScheduler()
    return Cluster("spark", lambda: int(jobs.numTotalJobs()))


@pytest.fixture(
    params=[
        pytest.param("dask_cluster", marks=pytest.mark.dask),
        pytest.param("spark_cluster", marks=pytest.mark.spark),
    ]
)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    found: Cluster = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray]:
    """Features of three kinds of rows, and who is labeled."""
    rng = np.random.default_rng(0)
    positive = rng.random(400) < 0.4
    features = rng.normal(size=(400, 3)) + 1.5 * positive[:, None]
    return features, positive & (rng.random(400) < 0.5)


def test_evaluate_many(cluster):
    samples = [
        pu.simulate.binormal(1.5).sample(60, 240, alpha=0.2, random_state=i) for i in range(3)
    ]
    table = {
        "task": np.repeat(["a", "b", "c"], 300),
        "s": np.concatenate([sample.scores for sample in samples]),
        "y": np.concatenate([sample.labeled for sample in samples]),
    }
    table["t"] = table["s"] + np.random.default_rng(0).normal(size=900)
    table["y"][table["task"] == "c"] = False
    # Alpha estimated in one task, by one score for both, and known in another.
    asked = {"by": "task", "alpha": {"b": 0.2}, "n_resamples": 10}
    here = pu.evaluate_many(table, "y", n_jobs=1, **asked)
    before = cluster.handed_out()
    with cluster.config():
        there = pu.evaluate_many(table, "y", **asked)
    assert cluster.handed_out() > before
    assert there.to_json() == here.to_json()
    assert len(there.evaluated) == 4


def test_bagged_networks(cluster, rows):
    features, labeled = rows
    networks = BaggedNetworks(n_estimators=60, random_state=0, device="cpu", n_jobs=1)
    here = networks.fit(features, labeled).oob_score_samples_
    before = cluster.handed_out()
    with cluster.config():
        there = networks.set_params(n_jobs=2).fit(features, labeled).oob_score_samples_
    assert cluster.handed_out() > before
    np.testing.assert_array_equal(there, here)


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC(random_state=0)])
def test_cross_fit_scores(cluster, rows, model):
    features, labeled = rows
    asked = {"cv": 4, "random_state": 0}
    here = pu.cross_fit_scores(model, features, labeled, n_jobs=1, **asked)
    before = cluster.handed_out()
    with cluster.config():
        there = pu.cross_fit_scores(model, features, labeled, **asked)
    assert cluster.handed_out() > before
    np.testing.assert_array_equal(there, here)


def test_run_study(cluster, rows, tmp_path):
    features, _ = rows
    toy = {"toy": Problem(features, features.sum(axis=1) > 2, n_labeled=50)}
    wanted = list(cells(["toy"], [1.0, 0.75], 1, StudySettings(n_networks=25, n_resamples=20)))
    with Store(tmp_path / "here") as here, Store(tmp_path / "there") as there:
        run_study(wanted, store=here, data=toy, n_jobs=1)
        before = cluster.handed_out()
        with cluster.config():
            done = run_study(wanted, store=there, data=toy)
        assert cluster.handed_out() > before
        assert (done.n_added, done.failed) == (2, ())
        assert there.records() == here.records()
