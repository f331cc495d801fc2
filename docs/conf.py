"""Sphinx configuration. Everything is built and read offline: no intersphinx, no CDN."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

import sphinx_gallery.gen_rst
from sphinx.application import Sphinx

import purecover

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import reference_pages

reference_pages.write(Path(__file__).parent / "api")  # autosummary reads them from the disk

project = "purecover"
author = "The purecover developers"
copyright = "2026, The purecover developers"
version = release = purecover.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "cli_help",
    "registry_tables",
    "mathml",
    "short_names",
    "lean_site",
]
exclude_patterns = ["_build"]
default_role = "code"
nitpicky = False

autosummary_generate = False
autosummary_imported_members = False
autodoc_typehints = "none"  # numpydoc shows the types of the Parameters sections
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the class template lists members in full

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": ("matplotlib", "gallery_strict.strict"),
    "abort_on_example_error": True,
    "run_stale_examples": True,  # the package may have changed, even where the script has not
    # Pages that are the same whenever and wherever they are built.
    "min_reported_time": 1_000_000,
    "write_computation_times": False,
    "show_memory": False,
    "show_signature": False,
    "capture_repr": ("_repr_html_",),  # tables; other values may show an address in memory
    "download_all_examples": False,
    "notebook_extensions": set(),  # the script itself is what one downloads
    "backreferences_dir": None,
}
# An archive of one script, which no option turns off.
sphinx_gallery.gen_rst.ZIP_DOWNLOAD = ""

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "purecover"
html_context = {"default_mode": "auto"}
html_static_path = ["_css"]  # pictures are copied where a page shows them
html_css_files = ["purecover.css"]
html_js_files = ["site.js"]
# Where the site is published, if anywhere: canonical addresses, a map of the site, links of README.
_PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
html_baseurl = _PROJECT["project"]["urls"].get("Documentation", "")
html_show_sourcelink = False
html_copy_source = False
# Pages without neighbors need no list of them.
_ALONE = ("index", "search", "genindex")
html_sidebars = {name: [] for name in _ALONE}
html_theme_options = {
    "show_prev_next": True,
    "collapse_navigation": True,  # each page lists its neighbors, not all pages
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def skip_foreign_members(
    app: Sphinx,
    what: str,
    name: str,
    obj: Any,
    skip: bool,
    options: Any,
) -> bool | None:
    """Leave out what classes have from scikit-learn, whose pages document it."""
    foreign = str(getattr(obj, "__module__", "")).startswith("sklearn.")
    return True if foreign and not skip else None


def setup(app: Sphinx) -> None:
    """Register what the options above cannot say."""
    app.connect("autodoc-skip-member", skip_foreign_members)
