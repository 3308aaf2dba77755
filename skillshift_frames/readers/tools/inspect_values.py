"""What Inspect AI writes for a score, an error and the use of models → numbers of a trial."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from skillshift_frames.readers.json_shape import value_at
from skillshift_frames.readers.tools.values import is_number, sum_of, text
from skillshift_frames.readers.wording import as_written, snippet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from skillshift_frames.readers.tools.common import Trials

#: Correct, incorrect, partly correct, no answer, as Inspect's own ``value_to_float`` counts them.
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_PARTS = ("_answer", "_explanation", "_metadata")
_EXCEPTION = re.compile(r"([A-Za-z_][\w.]*)\s*[(:]")


def by_scorer(columns: Iterable[str]) -> list[str]:
    """Give the columns that hold scores, without those that only explain one.

    Examples
    --------
    >>> by_scorer(["score_solved", "score_solved_explanation", "score_answer"])
    ['score_solved', 'score_answer']
    """
    names = list(columns)
    known = set(names)
    return [
        name
        for name in names
        if not any(name.endswith(part) and name.removesuffix(part) in known for part in _PARTS)
    ]


def as_number(value: object) -> float | None:
    """Give the number that a score stands for, None for none; an object of several scores is none.

    Examples
    --------
    >>> as_number("C"), as_number("P"), as_number(True), as_number(0.25), as_number("well done")
    (1.0, 0.5, 1.0, 0.25, None)
    """
    if isinstance(value, bool) or is_number(value):
        return float(value)
    if isinstance(value, str):
        return _LETTERS.get(value, _WORDS.get(value.strip().lower()))
    return None


def headline(
    log: Mapping[str, object], values: Mapping[str, object], scores: list[str]
) -> str | None:
    """Give the column of the score that a trial is judged by.

    It is the one that the log's headline is of; else the first one that says correct or not; else the first one.

    Examples
    --------
    >>> headline({}, {"score_words": 12, "score_solved": "C"}, ["score_words", "score_solved"])
    'score_solved'
    >>> headline({"score_headline_score": "words"}, {"score_words": 12}, ["score_words"])
    'score_words'
    """
    for key in ("score_headline_score", "score_headline_name"):
        name = text(log.get(key))
        if name is not None and f"score_{name}" in scores:
            return f"score_{name}"
    said = (n for n in scores if isinstance(values[n], bool) or values[n] in _LETTERS)
    return next(said, next(iter(scores), None))


def scored(
    values: Mapping[str, object], main: str | None, path: Path, found: Trials
) -> tuple[dict[str, float], bool | None, float | None]:
    """Give a trial's metrics, its success and its score.

    Success is what says so itself: a letter (partly correct is not correct), true or false, 1 or 0. Of another number
    nobody knows where success begins.
    """
    metrics: dict[str, float] = {}
    for column, value in values.items():
        name = column.removeprefix("score_")
        parts = _object(value)
        if parts is not None:
            numbers = {f"{name}_{key}": as_number(part) for key, part in parts.items()}
            metrics |= {key: number for key, number in numbers.items() if number is not None}
            continue
        number = as_number(value)
        if number is not None:
            metrics[name] = number
        elif value is not None:
            shown = snippet(as_written(value))
            found.problem(
                path,
                f"{shown} is no score that has a number",
                "C, I, P, N, true, false and numbers have; it is left out",
                field=column,
                value=shown,
                stands=True,
            )
    said = values.get(main) if main is not None else None
    score = as_number(said)
    if isinstance(said, str) and score is not None:
        return metrics, score == 1, score
    return metrics, bool(score) if score in {0.0, 1.0} else None, score


def _object(value: object) -> dict[str, object] | None:
    """Give the object that a cell holds as JSON: a scorer with several values."""
    if not isinstance(value, str) or not value.startswith("{"):
        return None
    try:
        content = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def error_type(message: str) -> str:
    """Give the class of the exception that an error message begins with.

    Examples
    --------
    >>> error_type("RuntimeError('no sandbox')"), error_type("it broke")
    ('RuntimeError', 'error')
    """
    named = _EXCEPTION.match(message)
    return named[1] if named else "error"


def usage(said: object, path: Path, found: Trials) -> dict[str, object]:
    """Give tokens and cost from ``model_usage``, of all models together.

    Whether ``input_tokens`` has the cached ones in it depends on the provider; the total tells.
    """
    if said is None:
        return {}
    try:
        models = json.loads(said) if isinstance(said, str) else said
    except (ValueError, RecursionError):
        models = None
    if not isinstance(models, dict):
        shown = snippet(as_written(said))
        hint = "its tokens are left out"
        found.problem(
            path,
            f"{shown}; an object is needed",
            hint,
            field="model_usage",
            value=shown,
            stands=True,
        )
        return {}
    every = list(models.values())
    if not every:
        return {}
    return {
        "input_tokens": sum_of(_input(one) for one in every),
        "cached_tokens": sum_of(value_at(one, "input_tokens_cache_read") for one in every),
        "output_tokens": sum_of(value_at(one, "output_tokens") for one in every),
        "cost": sum_of(value_at(one, "total_cost") for one in every),
    }


def _input(use: object) -> object:
    """Give the tokens of input with the cached ones."""
    given, out, total = (value_at(use, f"{name}_tokens") for name in ("input", "output", "total"))
    if not (is_number(given) and is_number(out) and is_number(total)):
        return given
    cached = (value_at(use, f"input_tokens_cache_{how}") for how in ("read", "write"))
    read, written = (part if is_number(part) else 0 for part in cached)
    rest = total - out
    return rest if rest in {given + read, given + read + written} else given
