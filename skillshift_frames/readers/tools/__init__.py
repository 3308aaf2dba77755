"""One module per format of another tool: it knows the files of that tool, and nothing of the other formats.

Each has the surface of `Tool`. The order of `NAMES` is the order in which formats are tried: a folder of one tool may
hold another's files inside (SkillEvaluator keeps Harbor's trials), so what wraps comes before what is wrapped.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from pathlib import Path

    from skillshift_frames.readers.tools.common import Trials

#: What ``--from`` takes, and the column ``tool`` holds → the module here, in the order in which formats are tried.
NAMES = {
    "skillevaluator": "skillevaluator",
    "asi": "asi",
    "agentlab": "agentlab",
    "skill-creator": "skill_creator",
    "inspect": "inspect_ai",
    "tau-bench": "tau_bench",
    "skillsbench": "skillsbench",
    "agentops": "agentops",
    "harbor": "harbor",
    "atif": "atif",
}


class Tool(Protocol):
    """The surface of a format's module."""

    NAME: str

    def recognises(self, path: Path) -> bool:
        """Tell by content, cheaply, whether the path is of this format; never raises."""

    def read(self, path: Path, found: Trials) -> None:
        """Add every trial, and say whatever is damaged; never raises for content."""


def tool(name: str) -> Tool:
    """Give the module of a format, imported on first use."""
    return cast("Tool", import_module(f"{__name__}.{NAMES[name]}"))


def recognise(path: Path) -> str | None:
    """Tell which format a file or folder is of, by its content; None: of none that is known.

    Examples
    --------
    >>> from pathlib import Path
    >>> recognise(Path("no/such/folder")) is None
    True
    """
    return next((name for name in NAMES if tool(name).recognises(path)), None)
