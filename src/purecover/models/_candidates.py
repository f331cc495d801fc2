"""The classifiers that `BestScorer` tries where nobody names others."""

from __future__ import annotations

from typing import Any

__all__ = ["default_candidates"]


MOST_SPARSE_COLUMNS = 500
"""Networks write out the zeros of a sparse matrix; with more columns that takes minutes."""


def default_candidates(
    X: Any, seed: int, n_jobs: int | None = None
) -> tuple[dict[str, Any], dict[str, str]]:
    """Classifiers by name, from the simplest to the most flexible, and why others are left out.

    Labels are noisy by nature here, since some unlabeled rows are positive, so that trees are
    kept from following single rows. Labeled rows may be few, so that bags are stratified.
    """
    from scipy.sparse import issparse
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from purecover.models._networks import BaggedNetworks

    sparse = issparse(X)
    candidates: dict[str, Any] = {
        "logistic": make_pipeline(
            SimpleImputer(keep_empty_features=True),
            StandardScaler(with_mean=not sparse),
            LogisticRegression(max_iter=1000),
        ),
        "networks": BaggedNetworks(stratify=True, random_state=seed, n_jobs=n_jobs),
        "boosting": HistGradientBoostingClassifier(
            learning_rate=0.05, max_leaf_nodes=15, early_stopping=True, random_state=seed
        ),
        "forest": RandomForestClassifier(
            n_estimators=200, min_samples_leaf=5, random_state=seed, n_jobs=n_jobs
        ),
    }
    left_out = {}
    if sparse:
        del candidates["boosting"]
        if X.shape[1] > MOST_SPARSE_COLUMNS:
            del candidates["networks"]
            left_out["networks"] = (
                f"left out: {X.shape[1]:,} sparse columns, more than {MOST_SPARSE_COLUMNS}, take "
                "networks too long; reduce them first, for example with TruncatedSVD"
            )
    return candidates, left_out
