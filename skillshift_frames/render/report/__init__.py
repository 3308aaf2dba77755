"""The page of `skillshift_frames.report`: finished numbers → sections, tables, charts and words, in one file."""

from __future__ import annotations
