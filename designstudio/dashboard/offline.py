"""Nothing is asked of the network: style sheets come from this machine, always.

For parts that join a page later, Panel 1.9 does not know yet which document they belong to, and then names a network of
its own as the place of their style sheets. Laboratories without a network would get an error for each.
"""

from typing import Any

import panel.io.resources
import panel.reactive
from panel.io.resources import CDN_DIST, LOCAL_DIST, patch_stylesheet


def stay_offline() -> None:
    """Let style sheets without a place of their own be those of this machine."""
    for module in (panel.io.resources, panel.reactive):
        module.patch_stylesheet = _patch_locally


def _patch_locally(stylesheet: Any, dist_url: str) -> None:
    patch_stylesheet(stylesheet, LOCAL_DIST if dist_url == CDN_DIST else dist_url)
