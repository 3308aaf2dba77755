"""The version, in a module that imports nothing: ``--version`` reads it."""

from __future__ import annotations

__version__ = "0.1.0"
