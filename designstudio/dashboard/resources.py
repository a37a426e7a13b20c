"""Which scripts and style sheets browsers load: only what pages use, and all of it from this machine.

Panel 1.9 sends more than two megabytes that nothing here needs: formulas (MathJax), drawing by the graphics card, and what
old browsers lack. Every new visitor would wait until they are read. For parts that join a page later, it does not know yet
which document they belong to, and then names a network of its own as the place of their style sheets. Laboratories
without a network would get an error for each.
"""

from typing import Any

import panel.io.resources
import panel.io.server
import panel.reactive
from bokeh.embed.bundle import Bundle
from panel.io.resources import CDN_DIST, LOCAL_DIST, Resources, bundle_resources, patch_stylesheet

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


def choose_resources() -> None:
    """Let every page that is served from now on load these scripts, and style sheets from this machine."""
    panel.io.server.bundle_resources = _bundle
    for module in (panel.io.resources, panel.reactive):
        module.patch_stylesheet = _patch_locally


def _bundle(roots: Any, resources: Any, **options: Any) -> Bundle:
    fewer = Resources.from_bokeh(resources).clone(components=COMPONENTS)
    bundle = bundle_resources(roots, fewer, **{**options, "enable_mathjax": False})
    bundle.js_files = [file for file in bundle.js_files if UNUSED not in str(file)]
    bundle.js_raw.append(OPEN_BY_KEY)
    return bundle


def _patch_locally(stylesheet: Any, dist_url: str) -> None:
    patch_stylesheet(stylesheet, LOCAL_DIST if dist_url == CDN_DIST else dist_url)
