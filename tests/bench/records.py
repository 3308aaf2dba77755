"""Generated records: as many as wanted, all keys unique, the same bytes for the same number."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames import SKILLSHIFT

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

SITES = ("gitlab", "magento", "wordpress")
CONDITIONS = ("src", "src-perc", "src-exec", "tgt", "tgt-perc", "tgt-exec")
SEED = 20_261_130


def write_records(path: Path, count: int) -> None:
    """Write about ``count`` records of one run, cell after cell, with the keys and the spacing of the demo runs.

    All cells have the same number of tasks, many more than SkillShift-Bench has: a table needs ``--benchmark infer``. But
    for their uids there are 2,160 different records, as in the file that the design's figures are from.
    """
    import numpy as np

    cells = list(product(SITES, CONDITIONS))
    rng = np.random.default_rng(SEED)
    with path.open("wb") as file:
        for site, condition in cells:
            lines = _lines(site, condition, count // len(cells), rng)
            lines.write_csv(file, include_header=False, quote_style="never")


def write_runs(folder: Path, runs: int) -> None:
    """Write complete runs of SkillShift-Bench, one file each."""
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    for number in range(runs):
        with (folder / f"run-{number:04}.jsonl").open("wb") as file:
            for site, condition in product(SITES, CONDITIONS):
                lines = _lines(site, condition, SKILLSHIFT.sites[site], rng)
                lines.write_csv(file, include_header=False, quote_style="never")


def _lines(site: str, condition: str, tasks: int, rng: np.random.Generator) -> pl.DataFrame:
    version = "v2" if condition.startswith("tgt") and site != "wordpress" else "v1"
    calls = rng.choice([0, 0, 0, 1, 2], tasks)
    outcomes = pl.DataFrame(
        {
            "task": range(tasks),
            "success": rng.choice(["true", "false"], tasks),
            "steps": rng.integers(1, 11, tasks),
            "calls": calls,
            "failures": rng.integers(0, calls + 1),
        }
    )
    # Doubled twice: for this string, and for Polars, to which "{{" is a brace and "{}" the next column.
    line = (
        f'{{{{"uid": "skillshift.{site}.{version}.{{}}", "site": "{site}", "condition": "{condition}", '
        '"success": {}, "steps": {}, "skill_calls": {}, "skill_failures": {}}}'
    )
    return outcomes.select(pl.format(line, *outcomes.columns))
