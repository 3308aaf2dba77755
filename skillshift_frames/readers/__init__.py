"""Every way in: files and frames of records, checked once at the door → tasks."""

from __future__ import annotations
