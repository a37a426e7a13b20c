"""The studio: `panel serve apps/studio.py`, or `designstudio app`."""

import panel as pn

from designstudio.dashboard.app import build_studio

pn.extension()
build_studio().servable()
