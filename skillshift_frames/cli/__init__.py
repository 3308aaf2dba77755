"""The command line: every command parses, calls one public function and prints. One file per family of commands."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress


def main() -> None:
    """Run the command line; the entry point of the installed script."""
    # A command runs once and ends. Left on, the collector spends a tenth of a small table's time on looking through what
    # importing has made, of which nothing is garbage.
    gc.disable()
    # The products here are small: one thread is faster than starting others, and rounds alike whatever the machine has.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from skillshift_frames.cli.app import run  # noqa: PLC0415 - `import skillshift_frames.cli` stays free

    code = run()
    if sys.getprofile() is None and sys.gettrace() is None:
        _leave(code)
    raise SystemExit(code)  # a profiler or a debugger still has something to say


def _leave(code: int) -> None:
    """End the process now: taking modules apart one by one takes a sixth of a small table's time, and helps nobody.

    Files are closed and renamed by then; what is left is to flush the streams.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or never there
            stream.flush()
    os._exit(code)
