"""Iterations as the skill-creator writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.readers.tools.reading import write_json

if TYPE_CHECKING:
    from pathlib import Path


def grading(passed: int, total: int, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    """A grading.json; a key that is changed to ``...`` is not there."""
    content = {
        "expectations": [
            {"text": f"{n}", "passed": n < passed, "evidence": ""} for n in range(total)
        ],
        "summary": {
            "passed": passed,
            "failed": total - passed,
            "total": total,
            "pass_rate": passed / total,
        },
        "execution_metrics": {"total_tool_calls": 5, "total_steps": 6, "output_chars": 1220},
    }
    return {key: value for key, value in (content | changed).items() if value is not ...}


def write_run(
    folder: Path, content: dict[str, Any] | None, seconds: float | None = 40.0, tokens: int = 5200
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    if content is not None:
        write_json(folder / "grading.json", content)
    if seconds is not None:
        timing = {
            "total_tokens": tokens,
            "duration_ms": seconds * 1000,
            "total_duration_seconds": seconds,
        }
        write_json(folder / "timing.json", timing)
    return folder


def no_rate(passed: int, total: int) -> dict[str, Any]:
    return grading(
        passed, total, summary={"passed": passed, "failed": total - passed, "total": total}
    )


#: (eval, configuration) → the gradings of its runs.
RUNS: dict[tuple[int, str], list[dict[str, Any] | None]] = {
    (0, "with_skill"): [grading(4, 4), grading(3, 4)],
    (0, "without_skill"): [grading(1, 4), grading(2, 4)],
    (1, "with_skill"): [grading(2, 4), grading(1, 4)],
    (1, "without_skill"): [grading(1, 4), None],
    (2, "with_skill"): [grading(3, 3), grading(3, 3)],
    (2, "without_skill"): [grading(3, 3), no_rate(2, 3)],
}


def benchmark(**metadata: Any) -> dict[str, Any]:  # noqa: ANN401
    """What the tool makes of RUNS: 0.0 for a rate that is not there, nothing for a run without a grading."""
    entries = [
        {
            "eval_id": number,
            "configuration": configuration,
            "run_number": at,
            "result": {"pass_rate": 0.0, "time_seconds": 40.0, "tokens": 0} | content["summary"],
        }
        for (number, configuration), contents in RUNS.items()
        for at, content in enumerate(contents, start=1)
        if content is not None
    ]
    told = {"skill_name": "table-tools", "executor_model": "<model-name>"} | metadata
    return {"metadata": told, "runs": entries, "run_summary": {}, "notes": []}


def write_iteration(root: Path) -> Path:
    """RUNS as iteration-1 of a workspace; gives the workspace."""
    iteration = root / "iteration-1"
    for (number, configuration), contents in RUNS.items():
        evaluation = iteration / f"eval-{number}"
        write_json(
            evaluation / "eval_metadata.json", {"eval_id": number, "eval_name": f"e{number}"}
        )
        for at, content in enumerate(contents, start=1):
            write_run(evaluation / configuration / f"run-{at}", content)
    write_json(iteration / "benchmark.json", benchmark())
    return root
