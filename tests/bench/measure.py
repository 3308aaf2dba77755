"""Time and peak memory of whole processes, measured in turn so that a busy minute hits all of them alike."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The kernel keeps one peak for all children that a process has had, so each child gets a parent of its own. That parent
# stays small: what is forked counts as the child's until it has become another program.
_PARENT = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(json.dumps([seconds, peak * (1 if sys.platform == "darwin" else 1024)]))
"""


class Cost(NamedTuple):
    """What a process took: seconds of the wall clock, and bytes of memory at its peak."""

    seconds: float
    peak: float


def measure(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, Cost]:
    """Run each command ``rounds`` times, one after the other and all over again; give the medians.

    One run of each before that is not counted: it fills the disk cache.
    """
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for counted in [False] + [True] * rounds:
        for name, command in commands.items():
            cost = _measure_once(command)
            if counted:
                costs[name].append(cost)
    return {
        name: Cost(median(cost.seconds for cost in of), median(cost.peak for cost in of))
        for name, of in costs.items()
    }


def _measure_once(command: Sequence[str]) -> Cost:
    # What is installed is compiled; without this a checkout would be compiled anew by each process.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _PARENT, *command],
        stdout=subprocess.PIPE,
        check=True,
        env=environment,
    )
    return Cost(*json.loads(done.stdout))
