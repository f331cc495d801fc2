"""Writing results as self-contained pages."""

from __future__ import annotations

from html import escape
from os import PathLike
from typing import TYPE_CHECKING, ClassVar

from purecover import _validation as valid
from purecover._codec import write_page
from purecover._validation import public

if TYPE_CHECKING:
    from purecover.intervals.evidence import EvidenceThresholds


class Paged:
    """A result that has a page, by the function of this name in `purecover.html.page`."""

    _renderer: ClassVar[str]

    @public
    def to_html(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """A self-contained page with text and plots.

        Parameters
        ----------
        path : str or path-like, optional
            A file to write the page to.
        title : str, optional
            Heading of the page, such as the name of the model.

        Returns
        -------
        str
            The page as text.
        """
        from purecover.html import page

        return write_page(getattr(page, self._renderer), self, path, title)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the printed text."""
        return f"<pre>{escape(str(self))}</pre>"


@public
def evidence_page(
    found: EvidenceThresholds, path: str | PathLike[str] | None = None, *, title: str | None = None
) -> str:
    """Thresholds of evidence as a self-contained page.

    Parameters
    ----------
    found : EvidenceThresholds
        The result of :func:`evidence_thresholds`.
    path : str or path-like, optional
        A file to write the page to.
    title : str, optional
        Heading of the page, such as the name of the score.

    Returns
    -------
    str
        The page as text: a table of scores, the likelihood ratio, and what the prior hides.

    Examples
    --------
    >>> from purecover import simulate
    >>> from purecover.intervals import evidence_thresholds
    >>> from purecover.report import evidence_page
    >>> sample = simulate.binormal(2.0).sample(500, 2000, alpha=0.1, random_state=0)
    >>> found = evidence_thresholds(
    ...     sample.counts, sample.proportions, n_resamples=20, random_state=0
    ... )
    >>> evidence_page(found).startswith("<!doctype html>")
    True
    """
    from purecover.html.page import render_evidence
    from purecover.intervals.evidence import EvidenceThresholds

    valid.check_instance(
        "found", found, EvidenceThresholds, "make it with evidence_thresholds(...)"
    )
    return write_page(render_evidence, found, path, title)
