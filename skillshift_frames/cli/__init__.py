"""The command line: every command parses, calls one public function and prints. One file per family of commands."""

from __future__ import annotations


def main() -> None:
    """Run the command line; the entry point of the installed script."""
    from skillshift_frames.cli.app import run  # noqa: PLC0415 - keeps `import skillshift_frames.cli` free

    raise SystemExit(run())
