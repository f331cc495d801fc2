"""Cross-references by a bare name, such as ``:class:`AlphaMax```, wherever the name is public."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from reference_pages import namespaces, results
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

import purecover


def homes() -> dict[str, str]:
    """Every public name that is not at the top, and the namespace that has it; and results."""
    found = {name: kind.__module__ for name, kind in results().items()}
    found["PUScorer"] = "purecover.scorers"
    for module in namespaces().values():
        found |= dict.fromkeys(module.__all__, module.__name__)
    return {name: home for name, home in found.items() if name not in dir(purecover)}


def resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element
) -> nodes.Element | None:
    """The page of a name that the current module does not have."""
    target = str(node.get("reftarget", "")).removeprefix("purecover.")
    home = homes().get(target.partition(".")[0])
    if node.get("refdomain") != "py" or home is None:
        return None
    entry = env.domains["py"].data["objects"].get(f"{home}.{target}")
    if entry is None:
        return None
    builder, page = app.builder, node["refdoc"]
    return make_refnode(builder, page, entry.docname, entry.node_id, content, f"{home}.{target}")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register it."""
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True}
