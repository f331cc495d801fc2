"""Records as a study leaves them, from simulated worlds instead of trained networks."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from purecover_paper.runs import printed_table
from purecover_paper.store import Record

REPAIRS = ("paper", "isotonic", "hull", "likelihood", "blend", "none")
ESTIMATORS = ("label-curve", "alphamax-n-released", "dedpul", "reference")
WITH_INTERVALS = (1, 4)


def paper_records(
    repeats: int = 4, datasets: Iterable[str] | None = None, *, noise: float = 0.01, seed: int = 0
) -> list[Record]:
    """Records near the printed figures, with errors that grow from the first estimator on."""
    rng = np.random.default_rng(seed)
    found: list[Record] = []
    tables = {metric: printed_table(metric) for metric in ("auc", "auc_pr")}
    for row, line in tables["auc"].items():
        if datasets is not None and row.dataset not in datasets:
            continue
        true = {"auc": line["auc"], "auc_pr": tables["auc_pr"][row]["aucpr"]}
        seen = {"auc": line["auc_pu"], "auc_pr": tables["auc_pr"][row]["aucpr_pu"]}
        for repeat in range(repeats):

            def add(
                metric: str,
                method: str,
                value: float,
                estimator: str = "",
                repair: str = "",
                half: float | None = None,
                *,
                repeat: int = repeat,
                row=row,
            ) -> None:
                low, high = (None, None) if half is None else (value - half, value + half)
                found.append(
                    Record(
                        row.dataset, row.beta, repeat, metric, method, estimator, repair,
                        float(value), low, high,
                    )
                )  # fmt: skip

            add("alpha", "true", line["alpha"])
            add("beta", "true", row.beta)
            for metric, area in true.items():
                add(metric, "traditional", area)
                add(metric, "same", area - 0.02)
                add(metric, "observed", seen[metric])
            for i, estimator in enumerate(("true", *ESTIMATORS)):
                scale = noise * (1 + i / 2)
                if i:
                    half = 6 * scale if i in WITH_INTERVALS else None
                    add("alpha", "estimate", line["alpha"] + scale * rng.normal(), estimator,
                        half=half)  # fmt: skip
                    add("beta", "estimate", row.beta - abs(scale * rng.normal()), estimator,
                        half=half)  # fmt: skip
                add("auc", "direct", true["auc"] - 0.02 + scale * rng.normal(), estimator)
                for metric, area in true.items():
                    for j, repair in enumerate(REPAIRS):
                        if (metric, repair) == ("auc", "blend"):
                            continue
                        default = {"auc": "isotonic", "auc_pr": "blend"}[metric] == repair
                        value = area - 0.02 + scale * (1 + j / 5) * rng.normal()
                        half = 6 * scale if default and i in WITH_INTERVALS else None
                        add(metric, "indirect", min(max(value, 0.0), 1.0), estimator, repair, half)
    return found
