"""The curves of the page as they stand in the file, before a script draws them anew."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from purecover.html._svg import Chart, make_chart
from purecover.html._words import number
from purecover.recovery._registry import METRICS

if TYPE_CHECKING:
    from purecover.report._report import PUReport


def roc_chart(report: PUReport) -> Chart:
    """Observed and recovered ROC curve."""
    import numpy as np

    roc = report.roc
    ends = np.array([0.0, 1.0])
    area = "infeasible" if report.infeasible else f"{report.auc:.3f}"
    curves = [
        ("chance", "chance", ends, ends),
        ("observed", f"observed (AUC {report.auc_pu:.3f})", roc.fpr_pu, roc.tpr_pu),
        ("recovered", f"recovered (AUC {area})", roc.fpr, roc.tpr),
    ]
    if report.truth is not None:
        known = number(report.truth.metrics["roc_auc"], 3)
        true = report.truth.roc
        curves.append(("true", f"true (AUC {known})", true.fpr_pu, true.tpr_pu))
    at = (report.metrics.get("fpr", math.nan), report.metrics.get("recall", math.nan))
    return make_chart(
        "roc",
        "ROC curve",
        f"True-positive rate against false-positive rate. The observed curve has an AUC of "
        f"{report.auc_pu:.3f}, the recovered one {area}.",
        axes=("False-positive rate", "True-positive rate"),
        curves=curves,
        band=report.roc_band,
        point=at,
        point_label=f"threshold {report.metrics.threshold:.4g}",
    )


def pr_chart(report: PUReport) -> Chart:
    """Observed and recovered precision-recall curve."""
    import numpy as np

    pr = report.pr
    curves = [
        ("chance", f"chance (prior {pr.prior:.3g})", np.array([0.0, 1.0]), np.full(2, pr.prior)),
        ("observed", f"observed (area {number(pr.auc_pr_pu, 3)})", pr.recall_pu, pr.precision_pu),
        ("recovered", f"recovered (area {number(pr.auc_pr, 3)})", pr.recall, pr.precision),
    ]
    precision = METRICS["precision"].of_rates
    if report.truth is not None and precision is not None:
        true = report.truth.roc
        values = precision(true.tpr_pu, true.fpr_pu, report.truth.prior, report.metrics.options)
        area = number(report.truth.metrics["auc_pr"], 3)
        curves.append(("true", f"true (area {area})", true.tpr_pu, np.asarray(values)))
    at = (report.metrics.get("recall", math.nan), report.metrics.get("precision", math.nan))
    return make_chart(
        "pr",
        "Precision-recall curve",
        f"Precision against recall, for a population with a share of {pr.prior:.3g} positives. "
        f"The area under the observed curve is {number(pr.auc_pr_pu, 3)}, under the recovered "
        f"one {number(pr.auc_pr, 3)}.",
        axes=("Recall", "Precision"),
        curves=curves,
        band=report.pr_band,
        point=at,
        point_label=f"threshold {report.metrics.threshold:.4g}",
    )
