"""Entries as the public leaderboard holds them, and small changes to them."""

from __future__ import annotations

import copy
import csv
import json
from pathlib import Path
from typing import Any, TypeAlias

from tests.strategies import SKILLSHIFT

Json: TypeAlias = dict[str, Any]

PUBLISHED = Path(__file__).parents[1] / "data" / "published.csv"
SLOTS = (*SKILLSHIFT.sites, *SKILLSHIFT.conditions, "overall")

_NOT_APPLICABLE = "Not applicable: AWM reuses textual workflows, not executable skills."


def paper_entry(method: str = "AWM", model: str = "mixed") -> Json:
    """Transcribe an entry of the paper's Table 1 as the leaderboard does; AWM has neither ASC nor SFR."""
    with PUBLISHED.open(newline="") as file:
        rows = [
            row for row in csv.DictReader(file) if (row["method"], row["model"]) == (method, model)
        ]
    metrics: Json = {metric: _block(dict.fromkeys(SLOTS)) for metric in ("SR", "AS", "ASC", "SFR")}
    metrics |= {row["metric"]: _block({slot: float(row[slot]) for slot in SLOTS}) for row in rows}
    missing = [metric for metric in metrics if metrics[metric]["overall"] is None]
    return {
        "schema_version": "1.0",
        "submission": {
            "name": f"{method} ({model})",
            "date": rows[0]["date"],
            "contact": None,
            "method": {
                "name": method,
                "description": "As in the paper.",
                "paper_url": "https://example.org/paper",
                "code_url": None,
            },
            "model": {"id": model, "temperature": None, "vision": None},
            "provenance": {"label": "verified-paper", "source": "Table 1", "code_released": True},
            "repro_command": None,
        },
        "harness_version": "n/a",
        "metrics": metrics,
        "n": {
            "websites": dict(SKILLSHIFT.sites),
            "conditions": dict.fromkeys(SKILLSHIFT.conditions, 355),
            "skill_calls": None,
        },
        "reasons": dict.fromkeys(missing, _NOT_APPLICABLE),
        "notes": "",
    }


def _block(numbers: Json) -> Json:
    return {
        "websites": {site: numbers[site] for site in SKILLSHIFT.sites},
        "conditions": {name: numbers[name] for name in SKILLSHIFT.conditions},
        "overall": numbers["overall"],
    }


def changed(content: Json, path: str, value: object) -> Json:
    """Set the value under the keys that a path such as ``n.websites.gitlab`` leads through, in a copy."""
    copied = copy.deepcopy(content)
    *above, last = path.split(".")
    inner = copied
    for key in above:
        inner = inner[key]
    inner[last] = value
    return copied


def without(content: Json, path: str) -> Json:
    """Take a key away, in a copy."""
    copied = copy.deepcopy(content)
    *above, last = path.split(".")
    inner = copied
    for key in above:
        inner = inner[key]
    del inner[last]
    return copied


def write_json(path: Path, content: object) -> Path:
    """Write JSON as Python does unless told otherwise: NaN and half surrogates included."""
    path.write_text(json.dumps(content))
    return path
