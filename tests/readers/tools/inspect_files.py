"""Data frames as Inspect AI's analysis makes them, saved as Parquet or CSV."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: log → (sample, epoch) → (letter, coverage); no letter: an error.
SCORES: dict[str, dict[tuple[str, int], tuple[str | None, float | None]]] = {
    "with": {
        ("c1", 1): ("C", 0.9),
        ("c2", 1): ("C", 0.9),
        ("c3", 1): ("C", 0.9),
        ("c1", 2): ("C", 0.9),
        ("c2", 2): ("I", None),
        ("c3", 2): ("C", 0.9),
    },
    "without": {
        ("c1", 1): ("I", 0.4),
        ("c2", 1): ("I", 0.4),
        ("c3", 1): ("C", 0.4),
        ("c1", 2): ("C", 0.4),
        ("c2", 2): (None, None),
        ("c3", 2): ("C", 0.4),
    },
}


def usage(
    given: int = 1000,
    out: int = 50,
    cached: int = 500,
    total: int | None = None,
    *,
    written: int = 0,
) -> str:
    use = {
        "input_tokens": given,
        "output_tokens": out,
        "total_tokens": given + out if total is None else total,
        "input_tokens_cache_read": cached,
        "input_tokens_cache_write": written,
    }
    return json.dumps({"mockllm/model": use})


def sample(log: str, uid: str, epoch: int, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    content = {
        "sample_id": f"{log}-{uid}-{epoch}",
        "eval_id": f"log-{log}",
        "log": f"/logs/{log}.json",
        "id": uid,
        "epoch": epoch,
        "input": f"user:\nDo {uid}, please\n",
        "metadata_arm": log,
        "score_coverage": 0.5,
        "score_solved": "C",
        "model_usage": usage(),
        "total_tokens": 1050,
        "total_time": 1.5,
        "message_count": 4,
        "turn_count": 2,
        "error": "",
    }
    return content | changed


def samples() -> list[dict[str, Any]]:
    every = []
    for log, scores in SCORES.items():
        for (uid, epoch), (letter, coverage) in scores.items():
            failed = (
                {"error": "RuntimeError('no sandbox')", "model_usage": "{}"}
                if letter is None
                else {}
            )
            every.append(
                sample(log, uid, epoch, score_solved=letter, score_coverage=coverage, **failed)
            )
    return every


def log(name: str, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    content = {
        "eval_id": f"log-{name}",
        "task_name": "table_tools",
        "task_arg_arm": name,
        "solver": None,
        "model": "mockllm/model",
        "tags": f"arm:{name}",
        "metadata": json.dumps({"arm": name}),
        "dataset_sample_ids": json.dumps(["c1", "c2", "c3"]),
        "epochs": 2,
        "status": "success",
        "score_headline_name": "solved",
        "score_headline_score": "solved",
        "score_headline_value": 0.5,
    }
    return content | changed


def write_table(path: Path, content: Sequence[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    frame = pl.DataFrame(content, infer_schema_length=None)
    # As pandas does: a column without any value is one of text.
    frame = frame.with_columns(pl.col(pl.Null).cast(pl.String))
    if path.suffix == ".csv":
        frame.write_csv(path)
    else:
        frame.write_parquet(path)
    return path


def write_frames(root: Path, ending: str = ".parquet") -> Path:
    write_table(root / f"samples{ending}", samples())
    write_table(root / f"evals{ending}", [log("with"), log("without")])
    return root
