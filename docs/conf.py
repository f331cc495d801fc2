"""Sphinx configuration. Everything is built and read offline: no intersphinx, no CDN."""

from __future__ import annotations

import sys
from pathlib import Path

import purecover

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "purecover"
author = "The purecover developers"
copyright = "2026, The purecover developers"
version = release = purecover.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "cli_help", "mathml"]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
default_role = "code"
nitpicky = False

autosummary_generate = True
autosummary_imported_members = False
autodoc_typehints = "none"  # numpydoc shows the types of the Parameters sections
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the class template lists members in full

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "purecover"
html_static_path = ["_static"]
html_css_files = ["purecover.css"]
html_show_sourcelink = False
html_copy_source = False
# Pages without neighbors need no list of them.
html_sidebars = {name: [] for name in ("index", "tutorial", "search", "genindex")}
html_theme_options = {
    "show_prev_next": False,
    "navbar_end": ["theme-switcher"],
    # Pages are short; the room of a second sidebar is better spent on lines of code.
    "secondary_sidebar_items": [],
    "footer_start": ["copyright"],
    "footer_end": [],
}
