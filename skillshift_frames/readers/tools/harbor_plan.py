"""What a job of Harbor planned, and which trials of it are not there.

The job's ``lock.json`` lists every trial. Without it the plan is the agents × tasks × attempts of ``config.json``; of a dataset
it names no tasks, so that they are those that were seen, as far as the job's number of trials is not exceeded.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from skillshift_frames.readers.tools.values import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: More planned trials than any job has; a mistyped number must not fill the memory.
_MOST_PLANNED = 100_000
_NAMED = 32


class Slot(NamedTuple):
    """What a planned trial is known by: the task as the job names it, and the agent with what it was given."""

    task: str
    agent: tuple[str | None, str | None, tuple[str, ...]]


class Plan(NamedTuple):
    """What a job planned.

    Attributes
    ----------
    slots
        How often each is to be tried; empty where no file says it.
    total
        How many trials in all; None where no file says it.
    agents, attempts
        The agents' configurations by what they are known by, and how often each is to try a task.
    """

    slots: Counter[Slot]
    total: int | None
    agents: dict[tuple[str | None, str | None, tuple[str, ...]], dict[str, Any]]
    attempts: int | None


def plan_of(result: dict[str, Any], config: dict[str, Any], lock: dict[str, Any]) -> Plan:
    """Find out what a job planned from its three files, each empty where it is not there."""
    agents = {agent_key(agent): agent for agent in _objects(config.get("agents"))}
    attempts = whole(config.get("n_attempts"))
    total = whole(result.get("n_total_trials"))
    slots: Counter[Slot] = Counter()
    for trial in _objects(lock.get("trials")):
        agent, task = trial.get("agent"), task_name(trial.get("task"))
        if isinstance(agent, dict) and task:
            agents.setdefault(agent_key(agent), agent)
            slots[Slot(task, agent_key(agent))] += 1
    tasks = [name for task in _objects(config.get("tasks")) if (name := task_name(task))]
    if not slots and attempts and tasks and not config.get("datasets"):
        slots = _all(tasks, agents, attempts)
    return Plan(slots, total if total is not None else slots.total() or None, agents, attempts)


def _all(tasks: Iterable[str], agents: Iterable[Any], attempts: int) -> Counter[Slot]:
    every = [Slot(task, agent) for task in tasks for agent in agents]
    if len(every) * attempts > _MOST_PLANNED:
        return Counter()
    return Counter(dict.fromkeys(every, attempts))


def absent(plan: Plan, there: Sequence[Slot | None]) -> tuple[list[Slot], int]:
    """Give the planned trials that are not there, and how many more are not there of which nothing says which they are.

    ``there`` are the slots of the trials that were found, None for one of which too little is left to tell.

    Examples
    --------
    >>> one = Slot("a", ("codex", None, ()))
    >>> absent(Plan(Counter({one: 2}), 3, {}, 2), [one])
    ([Slot(task='a', agent=('codex', None, ()))], 1)
    """
    known = [slot for slot in there if slot is not None]
    left = (plan.slots or _seen(plan, known)) - Counter(known)
    listed = [slot for slot in sorted(left, key=str) for _ in range(left[slot])]
    if plan.total is None:
        return (listed if len(known) == len(there) else []), 0
    lacking = max(plan.total - len(there), 0)
    # Where less is lacking than could be, nothing says which of these were not planned, or are there without a name.
    return ([], lacking) if len(listed) > lacking else (listed, lacking - len(listed))


def _seen(plan: Plan, known: Sequence[Slot]) -> Counter[Slot]:
    """Take the tasks that were seen for all: by every agent where that makes the number, else by those that tried them."""
    attempts = plan.attempts or 0
    tasks = sorted({slot.task for slot in known})
    if plan.total == len(tasks) * len(plan.agents) * attempts:
        return _all(tasks, plan.agents, attempts)
    if len(known) * attempts > _MOST_PLANNED:
        return Counter()
    return Counter(dict.fromkeys(known, attempts))


def agent_key(agent: dict[str, Any]) -> tuple[str | None, str | None, tuple[str, ...]]:
    """Give what an agent's configuration is known by."""
    skills = agent.get("skills")
    named = [str(skill) for skill in skills] if isinstance(skills, list) else []
    name = text(agent.get("name")) or text(agent.get("import_path"))
    return name, text(agent.get("model_name")), tuple(named)


def task_name(task: object) -> str | None:
    """Give the name that a job has for a task: its own, else the last part of its path.

    Examples
    --------
    >>> task_name({"path": "/tasks/tidy/"}), task_name({"name": "org/tidy"}), task_name({})
    ('tidy', 'org/tidy', None)
    """
    if not isinstance(task, dict):
        return None
    path = text(task.get("path"))
    return text(task.get("name")) or (path.rstrip("/").rpartition("/")[2] or None if path else None)


def planned_task(plan: Plan, cut: str) -> str:
    """Give the planned task that a trial's folder is named after: without its owner, and cut to 32 characters.

    Examples
    --------
    >>> planned_task(Plan(Counter({Slot("org/tidy", (None, None, ())): 1}), 1, {}, 1), "tidy")
    'org/tidy'
    """
    tasks = {slot.task for slot in plan.slots}
    alike = [task for task in tasks if task.rpartition("/")[2][:_NAMED] == cut]
    return alike[0] if cut not in tasks and len(alike) == 1 else cut


def whole(value: object) -> int | None:
    """Give a count, None for whatever is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
