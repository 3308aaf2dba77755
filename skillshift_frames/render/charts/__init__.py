"""Frames → Altair charts: one module per chart, one theme, and the way to a file. They format and place, and never compute."""

from __future__ import annotations
