"""Browsers load only scripts that pages use, and a few lines of our own.

Panel 1.9 sends more than two megabytes that nothing here needs: formulas (MathJax), drawing by the graphics card, and what
old browsers lack. Every new visitor would wait until they are read.
"""

from typing import Any

import panel.io.server
from bokeh.embed.bundle import Bundle
from panel.io.resources import Resources, bundle_resources

# Tables are here because Panel's own script refuses to start without them.
COMPONENTS = ["bokeh", "bokeh-widgets", "bokeh-tables"]
UNUSED = "es-module-shims"
# Bokeh lets the keyboard reach the names of pages, but only a mouse open them.
OPEN_BY_KEY = """
document.addEventListener("keydown", event => {
  const at = event.composedPath()[0];
  if ((event.key === "Enter" || event.key === " ") && at instanceof Element && at.classList.contains("bk-tab")) {
    event.preventDefault();
    at.click();
  }
});
"""


def choose_scripts() -> None:
    """Let every page that is served from now on name these scripts."""
    panel.io.server.bundle_resources = _bundle


def _bundle(roots: Any, resources: Any, **options: Any) -> Bundle:
    fewer = Resources.from_bokeh(resources).clone(components=COMPONENTS)
    bundle = bundle_resources(roots, fewer, **{**options, "enable_mathjax": False})
    bundle.js_files = [file for file in bundle.js_files if UNUSED not in str(file)]
    bundle.js_raw.append(OPEN_BY_KEY)
    return bundle
