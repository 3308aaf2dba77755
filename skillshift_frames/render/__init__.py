"""Every way out: one finished `Document`, shown as text, Markdown, LaTeX or HTML."""

from __future__ import annotations
