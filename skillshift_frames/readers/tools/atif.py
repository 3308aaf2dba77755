"""Agent trajectories (ATIF 1.0 to 1.8): what the agent did, and what it used; how well it did is not in them.

What is counted: steps of the agent itself (not of user or system, not of subagents, not those copied from an earlier
segment), the tool calls in them, and of these the skill calls: a call of the tool ``Skill``, or one that reads a
``SKILL.md`` or runs a command on it. A skill call has failed where its result says so; where there is no result, whether it has is not known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from skillshift_frames.readers.tools.files import Damage, head, sampled
from skillshift_frames.readers.tools.values import is_number, text
from skillshift_frames.readers.wording import as_written, snippet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from skillshift_frames.readers.tools.common import Trials

NAME = "atif"

_MARK = re.compile(rb'"schema_version"\s*:\s*"ATIF-v')
_NEWEST = (1, 8)
_SEGMENTS = 1000

_SKILL_FILE = re.compile(r"\bskill\.md\b", re.IGNORECASE)
#: Where a call that reads names what it reads; and calls that write, which use no skill by naming its file.
_WHAT_IS_READ = ("path", "file_path", "filename", "target_file", "command", "cmd", "code")
_WRITERS = frozenset(
    {"write", "write_file", "edit", "edit_file", "multiedit", "notebookedit", "apply_patch"}
)
_ERROR_KEYS = ("tool_result_is_error", "tool_use_is_error", "is_error", "isError")
#: How tools that only write text say that a call failed.
_ERROR_TEXT = re.compile(
    r"\A\s*<tool_use_error>|^\[error\] tool reported failure|^(?:process )?exit(?:ed with)? code:? [1-9]",
    re.IGNORECASE | re.MULTILINE,
)

_TOTALS = {
    "input_tokens": ("total_prompt_tokens", "prompt_tokens"),
    "cached_tokens": ("total_cached_tokens", "cached_tokens"),
    "output_tokens": ("total_completion_tokens", "completion_tokens"),
    "cost": ("total_cost_usd", "cost_usd"),
}


@dataclass(frozen=True, slots=True)
class Activity:
    """What a trajectory shows of one trial; None is not known. Numbers are as they were written, not yet checked."""

    agent: object = None
    model: object = None
    steps: int | None = None
    tool_calls: int | None = None
    skill_calls: int | None = None
    skill_failures: int | None = None
    input_tokens: Any = None
    cached_tokens: Any = None
    output_tokens: Any = None
    cost: Any = None


_COUNTS = ("steps", "tool_calls", "skill_calls", "skill_failures", *_TOTALS)


def recognises(path: Path) -> bool:
    """Tell whether there is a JSON file that says that it is a trajectory."""
    return any(_is_trajectory(file) for file in sampled(path, _may_be))


def read(path: Path, found: Trials) -> None:
    """Add one row per trajectory: its continuations belong to it, and no score is in it."""
    files = [path] if path.is_file() else _files_below(path, found)
    numbers: dict[str, int] = {}
    for file in found.each(files):
        uid = _name(file, path)
        numbers[uid] = numbers.get(uid, 0) + 1
        activity = read_activity(found, file)
        known = activity or Activity()
        found.add(
            uid=uid,
            trial=numbers[uid],
            status="unscored" if activity else "errored",
            path=file,
            run=path.stem if path.is_file() else path.resolve().name,
            error_type="no score" if activity else "damaged trajectory",
            **{name: getattr(known, name) for name in ("agent", "model", *_COUNTS)},
        )
    if files:
        found.note("trajectories say what an agent did, not how well: no trial of them is scored")


def read_activity(found: Trials, path: Path, *, needed: bool = True) -> Activity | None:
    """Give what a trajectory and its continuations show; None, and a problem, where it cannot be read."""
    segments: list[dict[str, Any]] = []
    seen = {path.name}
    file = path
    while True:
        content = found.load(file, needed=needed or bool(segments), stands=True)
        if content is None:
            break
        segments.append(content)
        following = content.get("continued_trajectory_ref")
        # A reference is a file's name beside this one: nothing else is opened.
        if not isinstance(following, str) or following != following.rpartition("/")[2]:
            break
        if following in seen or len(segments) == _SEGMENTS:
            found.problem(file, f"continues in {snippet(following)}, again", stands=True)
            break
        seen.add(following)
        file = path.with_name(following)
    if not segments:
        return None
    try:
        return activity_of(segments)
    except Damage as damage:
        found.problem(path, damage.message, damage.hint, field="steps", stands=True)
        return None


def together(activities: Sequence[Activity | None]) -> Activity:
    """Sum what several trajectories of one trial show; what one of them does not know is not known of all."""
    known = [activity or Activity() for activity in activities]
    if not known:
        return Activity()
    sums = {name: total(getattr(part, name) for part in known) for name in _COUNTS}
    return replace(known[0], **sums)


def activity_of(segments: Sequence[dict[str, Any]]) -> Activity:
    """Count what the segments of one trajectory show.

    Raises
    ------
    Damage
        The steps are no list of objects.

    Examples
    --------
    >>> call = {"tool_call_id": "c1", "function_name": "Skill", "arguments": {"skill": "tables"}}
    >>> result = {"source_call_id": "c1", "content": "no such skill", "extra": {"is_error": True}}
    >>> steps = [
    ...     {"source": "user", "message": "Do it."},
    ...     {"source": "agent", "tool_calls": [call], "observation": {"results": [result]}},
    ...     {"source": "agent", "message": "Done."},
    ... ]
    >>> shown = activity_of([{"steps": steps}])
    >>> shown.steps, shown.tool_calls, shown.skill_calls, shown.skill_failures, shown.cost
    (2, 1, 1, 1, None)
    """
    steps = [step for segment in segments for step in _agent_steps(segment)]
    calls = [(call, step) for step in steps for call in _objects(step, "tool_calls")]
    failed = [_has_failed(call, step) for call, step in calls if _is_of_skill(call)]
    agent = segments[0].get("agent")
    agent = agent if isinstance(agent, dict) else {}
    totals = segments[0].get("final_metrics") if len(segments) == 1 else None
    totals = totals if isinstance(totals, dict) else {}
    asked = [step for step in steps if step.get("llm_call_count") != 0]
    of_steps = [m if isinstance(m := step.get("metrics"), dict) else {} for step in asked]

    def used(whole: str, part: str) -> Any:  # noqa: ANN401 - as written
        # Agents differ on whether the totals of a continued trajectory are its own or of all so far.
        if totals.get(whole) is not None:
            return totals[whole]
        return total(metrics.get(part) for metrics in of_steps) if of_steps else None

    return Activity(
        agent=text(agent.get("name")),
        model=text(agent.get("model_name")),
        steps=len(steps),
        tool_calls=len(calls),
        skill_calls=len(failed),
        skill_failures=total(failed),
        **{name: used(*keys) for name, keys in _TOTALS.items()},
    )


def _agent_steps(segment: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for step in _objects(segment, "steps"):
        if step.get("source") == "agent" and step.get("is_copied_context") is not True:
            yield step


def _objects(content: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Give a list of objects; one that is null or left out is empty."""
    value = content.get(key)
    if value is None and key != "steps":
        return []
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        message = f"{key} is {snippet(as_written(value))}; a list of objects is needed"
        raise Damage(message)
    return value


def total(values: Iterable[Any]) -> Any:  # noqa: ANN401 - integers or floats, as written
    """Sum numbers as they were written; what holds anything else has no sum that is known."""
    every = list(values)
    # Costs of steps have few digits; how they are added must not show.
    if not all(value is True or value is False or is_number(value) for value in every):
        return None
    found = sum(every)
    return round(found, 12) if isinstance(found, float) else found


def _is_of_skill(call: dict[str, Any]) -> bool:
    name, arguments = call.get("function_name"), call.get("arguments")
    last = _last_part(name) if isinstance(name, str) else ""
    if last == "skill":
        return True
    if last in _WRITERS or not isinstance(arguments, dict):
        return False
    return any(
        _SKILL_FILE.search(part)
        for key in _WHAT_IS_READ
        if (value := arguments.get(key)) is not None
        for part in ([value] if isinstance(value, str) else _texts(value))
    )


@lru_cache(maxsize=1 << 10)  # an agent has a few tools, and calls them very often
def _last_part(name: str) -> str:
    """Give a tool's name without what it is called through, such as ``functions.`` or ``mcp__server__``."""
    return re.split(r"[.:/]|__", name.lower())[-1]


def _texts(value: object, depth: int = 4) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part, depth - 1)


def _has_failed(call: dict[str, Any], step: dict[str, Any]) -> bool | None:
    """Tell whether a call failed, None where it has no result."""
    observation = step.get("observation")
    results = _objects(observation, "results") if isinstance(observation, dict) else []
    name = call.get("tool_call_id")
    own = [result for result in results if result.get("source_call_id") == name]
    if not own and len(results) == 1 and len(_objects(step, "tool_calls")) == 1:
        own = results if results[0].get("source_call_id") is None else []
    if _says_error(call.get("extra")):
        return True
    if not own:
        return None
    return any(
        _says_error(result.get("extra"))
        or any(map(_ERROR_TEXT.search, _texts(result.get("content"))))
        for result in own
    )


def _says_error(extra: object, depth: int = 2) -> bool:
    if not isinstance(extra, dict):
        return False
    if any(extra.get(key) is True for key in _ERROR_KEYS):
        return True
    code = extra.get("exit_code")
    if is_number(code) and code != 0:
        return True
    return depth > 0 and any(_says_error(part, depth - 1) for part in extra.values())


def _may_be(name: str) -> bool:
    return name.endswith(".json")


def _is_trajectory(file: Path) -> bool:
    return _MARK.search(head(file)) is not None


def _files_below(folder: Path, found: Trials) -> list[Path]:
    """Give the trajectories that are trials of their own: neither continuations nor what an agent had summarised."""
    files = []
    for _, inside in found.walk(folder):
        files += [
            file
            for file in inside.files
            if _may_be(file.name)
            and not re.search(r"\.(?:cont-\d+|summarization-.*)\.json$", file.name)
            and _is_trajectory(file)
        ]
    return files


def _name(file: Path, root: Path) -> str:
    """Name a trajectory by what tells it from the others: its folders, and its file unless that is the usual one."""
    if file == root:
        return file.stem
    parts = [part for part in file.relative_to(root).parts[:-1] if part != "agent"]
    if file.stem != "trajectory":
        parts.append(file.stem)
    return "/".join(parts) or root.resolve().name
