"""From ``per_task.jsonl`` to numbers that can be trusted: a Polars toolkit for measuring agent skills.

Records are read and checked (`read_tasks`, `check_tasks`, `scan_tasks`, `from_frame`), counted per cell (`cells`), and
put into the website × condition table (`table`, `slots`, `grid`); `success_rate` and its siblings are plain Polars
expressions for questions of one's own. Frames in, frames out.

Names are resolved on first use, so that importing the package, and with it the command line's ``--help``, does not
import Polars.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from skillshift_frames._version import __version__

if TYPE_CHECKING:
    from skillshift_frames.agreement import CORRELATIONS, DISTRIBUTIONS, GATES, Agreement, agreement
    from skillshift_frames.anchor import anchor
    from skillshift_frames.audit import audit
    from skillshift_frames.benchmark import SKILLSHIFT, Benchmark, load_benchmark, resolve_benchmark
    from skillshift_frames.calibrate import CALIBRATION, calibrate
    from skillshift_frames.cells import bounds, cells, coverage, gaps, shards
    from skillshift_frames.changes import CHANGES
    from skillshift_frames.compare import Comparison, LiftBounds, Outcomes, Use, compare
    from skillshift_frames.costs import CELL_COSTS, COSTS, cell_costs, costs
    from skillshift_frames.decide import Decision, decide, verdicts
    from skillshift_frames.entry import ENTRIES, published, read_entries
    from skillshift_frames.entry_check import check_entry
    from skillshift_frames.errors import (
        BenchmarkError,
        Fault,
        InputError,
        OutputExistsError,
        RecordError,
        SkillshiftError,
        SkillshiftWarning,
    )
    from skillshift_frames.feasibility import FEASIBILITY, common_tasks, feasibility
    from skillshift_frames.findings import FINDINGS
    from skillshift_frames.headroom import HEADROOM, headroom
    from skillshift_frames.intervals import (
        CELL_INTERVALS,
        INTERVALS,
        cell_intervals,
        intervals,
    )
    from skillshift_frames.judges import Judges
    from skillshift_frames.leaderboard import LEADERBOARD, leaderboard
    from skillshift_frames.lift import skill_lift
    from skillshift_frames.lift_cases import LIFT_CASES
    from skillshift_frames.lift_means import Mean
    from skillshift_frames.lift_result import METRIC_LIFTS, Positive, SkillLift
    from skillshift_frames.lift_tools import ToolGroup, ToolLift
    from skillshift_frames.lifts import LIFTS
    from skillshift_frames.metrics import (
        average_skill_calls,
        average_steps,
        pass_at_k,
        pass_hat_k,
        skill_failure_rate,
        success_rate,
    )
    from skillshift_frames.moment_sums import MOMENTS
    from skillshift_frames.moments import moments
    from skillshift_frames.outcomes import FAMILY_TALLY, TALLY
    from skillshift_frames.paired_bounds import PAIRED_BOUNDS, paired_bounds
    from skillshift_frames.pairs import PAIRS, pairs
    from skillshift_frames.plan import PowerPlan, plan
    from skillshift_frames.ranks import RANKS, ranks
    from skillshift_frames.readers.scores import read_scores
    from skillshift_frames.readers.tasks import check_tasks, from_frame, read_tasks, scan_tasks
    from skillshift_frames.readers.trial_tasks import tasks_of
    from skillshift_frames.readers.trials import check_trials, read_trials
    from skillshift_frames.receipt import records_digest
    from skillshift_frames.regress import Regression, regress
    from skillshift_frames.render.charts.costs import cost_chart
    from skillshift_frames.render.charts.flips import flip_chart
    from skillshift_frames.render.charts.heatmap import heatmap_chart
    from skillshift_frames.render.charts.lifts import lift_chart
    from skillshift_frames.render.charts.rates import sfr_chart
    from skillshift_frames.render.charts.save import chart_text, save_chart
    from skillshift_frames.render.charts.slope import slope_chart
    from skillshift_frames.render.entries import write_entry
    from skillshift_frames.render.exchange import to_arrow, to_pandas
    from skillshift_frames.render.files import write_tasks
    from skillshift_frames.render.great import to_gt
    from skillshift_frames.render.show import Shown, show
    from skillshift_frames.report import report
    from skillshift_frames.schema import CELLS, FAULTS, SLOTS, TABLE, TASKS, family
    from skillshift_frames.shift import SHIFTS, shift, shift_intervals
    from skillshift_frames.spark_tally import tally_on_spark
    from skillshift_frames.submit import BuiltEntry, build_entry
    from skillshift_frames.table import grid, identity, slots, table
    from skillshift_frames.tallies import read_tally
    from skillshift_frames.tally import merge, tally
    from skillshift_frames.trials import TRIALS, with_arms

_HOMES = {
    "agreement": ("CORRELATIONS", "DISTRIBUTIONS", "GATES", "Agreement", "agreement"),
    "costs": ("CELL_COSTS", "COSTS", "cell_costs", "costs"),
    "judges": ("Judges",),
    "lift": ("skill_lift",),
    "lift_cases": ("LIFT_CASES",),
    "lift_means": ("Mean",),
    "lift_result": ("METRIC_LIFTS", "Positive", "SkillLift"),
    "lift_tools": ("ToolGroup", "ToolLift"),
    "readers.scores": ("read_scores",),
    "regress": ("Regression", "regress"),
    "anchor": ("anchor",),
    "audit": ("audit",),
    "benchmark": ("SKILLSHIFT", "Benchmark", "load_benchmark", "resolve_benchmark"),
    "calibrate": (
        "CALIBRATION",
        "calibrate",
    ),
    "cells": ("bounds", "cells", "coverage", "gaps", "shards"),
    "changes": ("CHANGES",),
    "compare": ("Comparison", "LiftBounds", "Outcomes", "Use", "compare"),
    "decide": ("Decision", "decide", "verdicts"),
    "entry": ("ENTRIES", "published", "read_entries"),
    "entry_check": ("check_entry",),
    "errors": (
        "BenchmarkError",
        "Fault",
        "InputError",
        "OutputExistsError",
        "RecordError",
        "SkillshiftError",
        "SkillshiftWarning",
    ),
    "feasibility": ("FEASIBILITY", "common_tasks", "feasibility"),
    "findings": ("FINDINGS",),
    "headroom": ("HEADROOM", "headroom"),
    "intervals": ("CELL_INTERVALS", "INTERVALS", "cell_intervals", "intervals"),
    "leaderboard": (
        "LEADERBOARD",
        "leaderboard",
    ),
    "lifts": ("LIFTS",),
    "metrics": (
        "average_skill_calls",
        "average_steps",
        "pass_at_k",
        "pass_hat_k",
        "skill_failure_rate",
        "success_rate",
    ),
    "moment_sums": ("MOMENTS",),
    "moments": ("moments",),
    "outcomes": ("FAMILY_TALLY", "TALLY"),
    "paired_bounds": ("PAIRED_BOUNDS", "paired_bounds"),
    "pairs": ("PAIRS", "pairs"),
    "plan": ("PowerPlan", "plan"),
    "ranks": (
        "RANKS",
        "ranks",
    ),
    "readers.tasks": ("check_tasks", "from_frame", "read_tasks", "scan_tasks"),
    "readers.trial_tasks": ("tasks_of",),
    "readers.trials": ("check_trials", "read_trials"),
    "receipt": ("records_digest",),
    "render.charts.heatmap": ("heatmap_chart",),
    "render.charts.slope": ("slope_chart",),
    "render.charts.lifts": ("lift_chart",),
    "render.charts.flips": ("flip_chart",),
    "render.charts.rates": ("sfr_chart",),
    "render.charts.costs": ("cost_chart",),
    "render.charts.save": ("chart_text", "save_chart"),
    "render.entries": ("write_entry",),
    "render.exchange": ("to_arrow", "to_pandas"),
    "render.files": ("write_tasks",),
    "render.great": ("to_gt",),
    "render.show": ("Shown", "show"),
    "report": ("report",),
    "schema": ("CELLS", "FAULTS", "SLOTS", "TABLE", "TASKS", "family"),
    "shift": (
        "SHIFTS",
        "shift",
        "shift_intervals",
    ),
    "spark_tally": ("tally_on_spark",),
    "submit": (
        "BuiltEntry",
        "build_entry",
    ),
    "table": ("grid", "identity", "slots", "table"),
    "tallies": ("read_tally",),
    "tally": ("merge", "tally"),
    "trials": ("TRIALS", "with_arms"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "CALIBRATION",
    "CELLS",
    "CELL_COSTS",
    "CELL_INTERVALS",
    "CHANGES",
    "CORRELATIONS",
    "COSTS",
    "DISTRIBUTIONS",
    "ENTRIES",
    "FAMILY_TALLY",
    "FAULTS",
    "FEASIBILITY",
    "FINDINGS",
    "GATES",
    "HEADROOM",
    "INTERVALS",
    "LEADERBOARD",
    "LIFTS",
    "LIFT_CASES",
    "METRIC_LIFTS",
    "MOMENTS",
    "PAIRED_BOUNDS",
    "PAIRS",
    "RANKS",
    "SHIFTS",
    "SKILLSHIFT",
    "SLOTS",
    "TABLE",
    "TALLY",
    "TASKS",
    "TRIALS",
    "Agreement",
    "Benchmark",
    "BenchmarkError",
    "BuiltEntry",
    "Comparison",
    "Decision",
    "Fault",
    "InputError",
    "Judges",
    "LiftBounds",
    "Mean",
    "Outcomes",
    "OutputExistsError",
    "Positive",
    "PowerPlan",
    "RecordError",
    "Regression",
    "Shown",
    "SkillLift",
    "SkillshiftError",
    "SkillshiftWarning",
    "ToolGroup",
    "ToolLift",
    "Use",
    "__version__",
    "agreement",
    "anchor",
    "audit",
    "average_skill_calls",
    "average_steps",
    "bounds",
    "build_entry",
    "calibrate",
    "cell_costs",
    "cell_intervals",
    "cells",
    "chart_text",
    "check_entry",
    "check_tasks",
    "check_trials",
    "common_tasks",
    "compare",
    "cost_chart",
    "costs",
    "coverage",
    "decide",
    "family",
    "feasibility",
    "flip_chart",
    "from_frame",
    "gaps",
    "grid",
    "headroom",
    "heatmap_chart",
    "identity",
    "intervals",
    "leaderboard",
    "lift_chart",
    "load_benchmark",
    "merge",
    "moments",
    "paired_bounds",
    "pairs",
    "pass_at_k",
    "pass_hat_k",
    "plan",
    "published",
    "ranks",
    "read_entries",
    "read_scores",
    "read_tally",
    "read_tasks",
    "read_trials",
    "records_digest",
    "regress",
    "report",
    "resolve_benchmark",
    "save_chart",
    "scan_tasks",
    "sfr_chart",
    "shards",
    "shift",
    "shift_intervals",
    "show",
    "skill_failure_rate",
    "skill_lift",
    "slope_chart",
    "slots",
    "success_rate",
    "table",
    "tally",
    "tally_on_spark",
    "tasks_of",
    "to_arrow",
    "to_gt",
    "to_pandas",
    "verdicts",
    "with_arms",
    "write_entry",
    "write_tasks",
]


class _Package(ModuleType):
    """The package, in which a public function wins over the module of its name (``cells``, ``table``).

    The import system sets every imported module as an attribute of its package; without this ``sf.table`` would be the
    function or the module, depending on what was imported before.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in _HOME_OF):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any public name
        if name not in _HOME_OF:
            msg = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(msg)
        value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _Package
