"""The command line: every command parses, calls one public function and prints. One file per family of commands."""

from __future__ import annotations


def main() -> None:
    """Run the command line; the entry point of the installed script."""
    import gc  # noqa: PLC0415 - as below

    # A command runs once and ends. Left on, the collector spends a tenth of a small table's time on looking through what
    # importing has made, of which nothing is garbage.
    gc.disable()
    from skillshift_frames.cli.app import run  # noqa: PLC0415 - `import skillshift_frames.cli` stays free

    raise SystemExit(run())
