"""Numbers in, numbers out: nothing here knows a frame, a file or a metric's name."""

from __future__ import annotations
