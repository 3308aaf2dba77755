"""Files of scores → a frame: CSV, lines of JSON, Parquet, and SkillEvaluator's JSON reports, one row per item."""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.errors import InputError
from skillshift_frames.readers.folders import each_file
from skillshift_frames.readers.tools.files import LARGEST_FILE, Damage, parse_json
from skillshift_frames.readers.wording import as_written, snippet
from skillshift_frames.trials import LARGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from skillshift_frames.readers.sources import Paths

_SUFFIXES = (".csv", ".jsonl", ".ndjson", ".parquet", ".json")
#: What a report of SkillEvaluator has; one of these is enough.
_REPORT = ("quality_summary", "quality", "rubric_eval", "tier3")

#: What an item may be called, where nobody says.
ITEMS = ("item", "skill", "uid", "id", "name")


def read_scores(
    paths: Paths, *, names: Sequence[str] = (), numbers: Sequence[str] = ()
) -> pl.DataFrame:
    """Read scores, one row per item, from one or more files.

    Parameters
    ----------
    paths
        Files, globs, or folders (every file below with one of the suffixes): ``.csv`` with a header, ``.jsonl`` or
        ``.ndjson``, ``.parquet``, and ``.json``: an array of objects, or a JSON report of SkillEvaluator.
    names
        Columns of CSV that name things, such as a judge's version, and are kept as they are written: 1.10 is not 1.1.
        ``item``, ``skill``, ``uid``, ``id`` and ``name`` are taken for such without being named.
    numbers
        Columns that hold numbers or nothing: what is neither (a text, NaN, infinity) is an error that names file, line,
        column and value as written. Of a column that is not named it is left to whoever uses it.

    Returns
    -------
    pl.DataFrame
        The columns of the files, those of one that another lacks null in its rows. Of a report: ``skill``,
        ``structural`` (overall quality, 0 to 100), ``structural_<dimension>``, ``judge`` (the rubric's overall score),
        ``judge_<check>``, ``judge_model``, ``runtime`` and ``lift`` (live evaluation), null where it has none. Cells of CSV
        are numbers where all of a column are; an empty one is null.

    Raises
    ------
    InputError
        A path that names nothing; a file that is none of these, with its place; in ``numbers``, what is no number.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "scores.csv")
    ...     pl.DataFrame({"skill": ["tables", "forms"], "judge": [8.5, None]}).write_csv(path)
    ...     read_scores(path).rows()
    [('tables', 8.5), ('forms', None)]
    """
    files = each_file(
        paths, lambda name: name.endswith(_SUFFIXES), f"scores there ({', '.join(_SUFFIXES)})"
    )
    frames = [_read(path, {*ITEMS, *names}, numbers) for path in files]
    try:
        return pl.concat(frames, how="diagonal_relaxed")
    except pl.exceptions.PolarsError as error:
        msg = f"the files do not go together: {str(error).splitlines()[0]}"
        raise InputError(msg) from error


def odd_scores(column: pl.Series) -> pl.Series:
    """Give the places of values that are no score: texts that are no number, NaN, and numbers too large to be squared.

    Examples
    --------
    >>> odd_scores(pl.Series(["1", None, "n/a", "NaN"])).to_list()
    [2, 3]
    """
    if column.dtype == pl.String:
        numbers = column.str.strip_chars().cast(pl.Float64, strict=False)
    elif column.dtype.is_numeric():
        numbers = column.cast(pl.Float64)
    else:
        return pl.Series(dtype=pl.UInt32)  # a matter of the whole column
    return (column.is_not_null() & ~(numbers.abs() <= LARGEST).fill_null(value=False)).arg_true()


def _read(path: Path, names: Collection[str], numbers: Sequence[str]) -> pl.DataFrame:
    suffix = path.suffix.lower()
    try:
        if suffix == ".parquet":
            frame = pl.read_parquet(path)
            _refuse_odd(path, frame, numbers, lambda row: f"row {row + 1}")
            return frame
        content = path.read_bytes()
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror}"
        raise InputError(msg) from error
    except pl.exceptions.PolarsError as error:
        msg = f"{path}: is no Parquet file: {str(error).splitlines()[0]}"
        raise InputError(msg) from error
    if suffix in {".jsonl", ".ndjson"}:
        lines = dict(_lines(path, content))
        numbered, rows = list(lines), list(lines.values())
        return _frame(path, rows, numbers, lambda row: f"line {numbered[row]}")
    if suffix == ".json":
        if len(content) > LARGEST_FILE:
            msg = f"{path}: is larger than {LARGEST_FILE >> 20} MiB"
            raise InputError(msg)
        return _json(path, _parse(str(path), content), numbers)
    return _csv(path, content, names, numbers)


def _refuse_odd(
    path: Path,
    frame: pl.DataFrame,
    numbers: Sequence[str],
    place_of: Callable[[int], str],
    written: Sequence[Mapping[str, Any]] | None = None,
) -> None:
    """Raise for the first value that is none in a column of numbers; ``written`` are the rows as the file has them."""
    for name in (name for name in numbers if name in frame.columns):
        for row in odd_scores(frame.get_column(name)).head(1):
            value = as_written(written[row][name]) if written else str(frame.get_column(name)[row])
            msg = (
                f"{path}: {place_of(row)}: {name}: {snippet(value)} is no score; a number is needed (nothing, or "
                "null, where it is unknown)"
            )
            raise InputError(msg)


def _csv(
    path: Path, content: bytes, names: Collection[str], numbers: Sequence[str]
) -> pl.DataFrame:
    try:
        # As text first: whether a column is numbers is judged cell by cell, so that no row decides for another.
        frame = pl.read_csv(content, infer_schema=False, encoding="utf8")
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        msg = f"{path}: is no CSV with a header: {str(error).splitlines()[0]}"
        raise InputError(msg) from error
    cells = pl.all().str.strip_chars()
    # A line with nothing on it is no item.
    frame = frame.with_columns(pl.when(cells != "").then(cells)).filter(
        pl.any_horizontal(pl.all().is_not_null())
    )
    _refuse_odd(path, frame, numbers, lambda row: _line_of(content, row))
    all_numbers = [
        name
        for name in frame.columns
        if name not in names  # 1.1 and 1.10 are two names
        and frame.get_column(name).count()
        and frame.get_column(name).cast(pl.Float64, strict=False).null_count()
        == frame.get_column(name).null_count()
    ]
    return frame.with_columns(pl.col(all_numbers).cast(pl.Float64))


def _line_of(content: bytes, row: int) -> str:
    """Name the line of a row: a quoted cell may go over several, and lines with nothing on them are no rows."""
    lines = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    first, rows = 1, -1  # the header is none
    for cells in lines:
        rows += any(cell.strip() for cell in cells)
        if rows == row + 1:
            break
        first = lines.line_num + 1
    return f"line {first}"


def _lines(path: Path, content: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        parsed = _parse(place, line)
        if not isinstance(parsed, dict):
            msg = f"{place}: {snippet(as_written(parsed))} is no JSON object"
            raise InputError(msg)
        yield number, parsed


def _parse(place: str, content: bytes) -> Any:  # noqa: ANN401 - JSON
    try:
        return parse_json(content)
    except Damage as damage:
        hint = f" ({damage.hint})" if damage.hint else ""
        msg = f"{place}: {damage.message}{hint}"
        raise InputError(msg) from damage


def _json(path: Path, content: Any, numbers: Sequence[str]) -> pl.DataFrame:  # noqa: ANN401 - JSON
    if isinstance(content, dict) and any(name in content for name in _REPORT):
        return _frame(path, [_report(path, content)], numbers)
    if isinstance(content, list) and content and all(isinstance(row, dict) for row in content):
        reports = all(any(name in row for name in _REPORT) for row in content)
        rows = [_report(path, row) if reports else row for row in content]
        return _frame(path, rows, numbers)
    msg = f"{path}: is neither an array of objects nor a JSON report of SkillEvaluator ({', '.join(_REPORT)})"
    raise InputError(msg)


def _frame(
    path: Path,
    rows: list[dict[str, Any]],
    numbers: Sequence[str],
    place_of: Callable[[int], str] = "[{}]".format,
) -> pl.DataFrame:
    names = dict.fromkeys(name for row in rows for name in row)
    columns: dict[str, pl.Series] = {}
    for name in names:
        values = [row.get(name) for row in rows]
        if odd := [value for value in values if isinstance(value, dict | list)]:
            msg = f"{path}: {name}: {snippet(as_written(odd[0]))} is no score; a number, a text or null is needed"
            raise InputError(msg)
        if all(value is None or _is_number(value) for value in values):
            columns[name] = pl.Series(
                name, [None if value is None else float(value) for value in values], pl.Float64
            )
        else:
            texts = [None if value is None else _text(value) for value in values]
            columns[name] = pl.Series(name, texts, pl.String)
    frame = pl.DataFrame(columns)
    _refuse_odd(path, frame, numbers, place_of, rows)
    return frame


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: object) -> str:
    return value if isinstance(value, str) else as_written(value)


def _report(path: Path, report: dict[str, Any]) -> dict[str, Any]:
    """Take the scores from a report; what it does not have, and what a failed judge left, is null."""
    summaries = _list(report.get("quality_summary"))
    if len(summaries) > 1:
        msg = f"{path}: is of {len(summaries)} skills, of which it does not say whose score is whose; a report per skill is needed"
        raise InputError(msg)
    quality = _object(summaries[0] if summaries else report.get("quality"))
    rubric, live = _object(report.get("rubric_eval")), _object(report.get("tier3"))
    if rubric.get("execution_status", "succeeded") != "succeeded":
        rubric = {**rubric, "overall_score": None, "checks": []}
    skills = [_object(skill).get("name") for skill in _list(report.get("skills"))]
    named = [
        name
        for name in (
            quality.get("skill_name"),
            rubric.get("skill_name"),
            live.get("skill_name"),
            skills[0] if len(skills) == 1 else None,
        )
        if isinstance(name, str) and name
    ]
    row: dict[str, Any] = {
        "skill": named[0] if named else path.stem,
        "structural": _number(quality.get("overall_score")),
        "judge": _number(rubric.get("overall_score")),
        "judge_model": next(
            (m for k in ("model", "judge_model") if isinstance(m := rubric.get(k), str)), None
        ),
        "runtime": _number(live.get("overall_score")),
        "lift": _number(live.get("composite_lift")),
    }
    for name, dimension in _object(quality.get("dimensions")).items():
        row[f"structural_{name}"] = _number(_object(dimension).get("score"))
    for check in map(_object, _list(rubric.get("checks"))):
        if isinstance(check.get("id"), str):
            row[f"judge_{check['id']}"] = _number(check.get("score"))
    return row


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: object) -> float | None:
    return float(value) if _is_number(value) and math.isfinite(value) else None  # type: ignore[arg-type]
