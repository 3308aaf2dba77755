"""``python -m skillshift_frames`` is the command line."""

from __future__ import annotations

from skillshift_frames.cli import main

main()
