"""The example jobs are what their script makes, and say what the docs say of them."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path

import skillshift_frames as sf

JOBS = Path(__file__).resolve().parents[2] / "data" / "harbor"


def test_the_script_makes_the_same_bytes_again(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("make_harbor", JOBS / "make_harbor.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.make(tmp_path / "made")

    def files(folder: Path) -> dict[str, bytes]:
        return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.json")}

    assert files(tmp_path / "made") == files(JOBS)


def test_with_the_skill_more_is_solved() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trials = sf.read_trials(JOBS)
    by_arm = {arm: frame["score"].mean() for (arm,), frame in trials.group_by("arm")}
    assert by_arm == {"with": 1.0, "without": 0.25}
    assert trials.filter(status="errored")["error_type"].to_list() == ["AgentTimeoutError"]
