"""What charts are made of: labels that are shown and never obeyed, rows in a set order, axes in the data's order."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Any

from skillshift_frames.benchmark import known_benchmark
from skillshift_frames.errors import BenchmarkError, InputError, check_frame
from skillshift_frames.render.charts.theme import MUTED, TEXT_SIZE, altair
from skillshift_frames.render.escape import escape_text
from skillshift_frames.schema import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import polars as pl

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike

#: Where a label is cut, in points (`theme.config` cuts there), and what a character takes on average.
MOST_LABEL, _PER_CHARACTER = 70, 5.3

#: Signs of the charts' font that take less or more than most; the ellipsis, and by how much the widths of others are unsure.
_NARROW, _BROAD, _UNSURE = frozenset(" .,:;'|!()[]/-iljtfrI"), frozenset("mwMWOQG@%"), 15

#: Where an axis may end, in tenths of a power of ten, and in which steps it goes there.
_TOPS = (
    *((10, 2), (12, 3), (15, 5), (20, 5), (25, 5), (30, 10), (40, 10)),
    *((50, 10), (60, 20), (80, 20), (100, 20)),
)

_LAST_DRAWN = 0xFFFF

UNDEFINED_WORDS = "a dash is undefined, two dashes do not apply, and neither is zero"


def label(text: str) -> str:
    r"""Give the form in which a text is drawn: one line, nothing invisible, nothing that the drawing cannot cut.

    Vega cuts long text between the two halves of a character beyond U+FFFF, which vl-convert then refuses; no font that it
    carries has one anyway, so they are drawn by number.

    Examples
    --------
    >>> print(label("a\nb"), label("\N{GRINNING FACE}"))
    a\nb [U+1F600]
    """
    inert = escape_text(text)
    if inert.isascii():
        return inert
    return "".join(f"[U+{ord(sign):X}]" if ord(sign) > _LAST_DRAWN else sign for sign in inert)


def shown(names: Iterable[str], title: Callable[[str], str] = str) -> dict[str, str]:
    """Give each name the form in which it is drawn: one line, nothing invisible, no two alike.

    Long ones that would be alike where the drawing cuts them are numbered.

    Examples
    --------
    >>> shown(["a", "b"], {"a": "x", "b": "x"}.get)
    {'a': 'x', 'b': 'x (b)'}
    >>> list(shown(["a-skill-library-1", "a-skill-library-2", "none"]).values())
    ['1 a-skill-library-1', '2 a-skill-library-2', 'none']
    """
    forms: dict[str, str] = {}
    for number, name in enumerate(dict.fromkeys(names), 1):
        form = label(title(name))
        if form in forms.values():
            form = f"{form} ({label(name)})"
        forms[name] = form if form not in forms.values() else f"{form} [{number}]"
    seen = Counter(map(_what_is_seen, forms.values()))
    numbered = {name: f"{n} {form}" for n, (name, form) in enumerate(forms.items(), 1)}
    found = {
        name: numbered[name] if seen[_what_is_seen(form)] > 1 else form
        for name, form in forms.items()
    }
    # One may be called as another is numbered; two that became one would be drawn as one.
    return found if len(set(found.values())) == len(found) else numbered


def _what_is_seen(form: str) -> str:
    """Give as much of a label as is surely drawn: an axis and the end of a line cut it, and put an ellipsis there."""
    room: float = MOST_LABEL - _UNSURE
    for place, sign in enumerate(form):
        room -= (
            3.6 if sign in _NARROW else 9.5 if sign in _BROAD else 7.3 if sign.isupper() else 5.6
        )
        if room < 0:
            return form[:place]
    return form


def metric_title(metric: str) -> str:
    """Name a metric with its unit: ``SR (percent)``."""
    return f"{metric} ({METRICS[metric]})" if metric in METRICS else label(metric)


def check_columns(what: str, frame: pl.DataFrame, columns: Sequence[str], maker: str) -> None:
    """Raise for what is no frame with these columns.

    Raises
    ------
    InputError
        Names what is missing, and the function that makes such a frame.
    """
    check_frame(what, frame, maker)
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        msg = f"{what} has no column {missing[0]!r}; a frame of skillshift_frames.{maker} is needed"
        raise InputError(msg)


def check_known(what: str, names: Iterable[str], known: Sequence[str], benchmark: str) -> None:
    """Raise for a site, condition or slot that the benchmark does not have.

    Raises
    ------
    BenchmarkError
        Names it.
    """
    unknown = sorted(set(names) - set(known))
    if unknown:
        msg = f"benchmark {benchmark} has no {what} {unknown[0]!r}; give the benchmark that the numbers were computed under"
        raise BenchmarkError(msg)


def data(rows: Sequence[dict[str, Any]]) -> Any:  # noqa: ANN401 - Altair has no type for it that is known without it
    """Embed rows in a chart."""
    return altair().InlineData(values=list(rows))


def labels_axis(**options: Any) -> Any:  # noqa: ANN401 - as above
    """Make an axis of names: nothing but the names."""
    return altair().Axis(
        **{"title": None, "ticks": False, "domain": False, "grid": False} | options
    )


def names_axis(names: Sequence[str], step: float, **options: Any) -> Any:  # noqa: ANN401 - as above
    """Make a horizontal axis of names, which are turned where one is wider than the step between them."""
    if max(map(text_width, names), default=0) <= step - 2:
        turned = {"labelAngle": 0, "labelLimit": step}
    else:
        turned = {"labelAngle": -40, "labelLimit": MOST_LABEL}
    return labels_axis(**turned, **options)


def text_width(text: str) -> float:
    """Estimate how wide a text is drawn, in points; of most it is an overestimate."""
    return _PER_CHARACTER * len(text)


def label_width(names: Iterable[str]) -> int:
    """Estimate how much room the labels of a vertical axis take."""
    return round(min(MOST_LABEL, max(map(text_width, names), default=0)))


def slots_benchmark(benchmark: BenchmarkLike) -> Benchmark:
    """Resolve a benchmark for slots, of which nothing tells the sites from the conditions.

    Raises
    ------
    InputError
        It is to be inferred.
    """
    known = known_benchmark(benchmark)
    if known is None:
        msg = "which slots are sites and which are conditions cannot be inferred from them; give the benchmark"
        raise InputError(msg)
    return known


def names_scale(names: Iterable[str], **options: Any) -> Any:  # noqa: ANN401 - as above
    """Make a scale that has names in their given order."""
    return altair().Scale(domain=list(names), **options)


def empty_chart(said: str) -> Any:  # noqa: ANN401 - as above
    """Make a chart that says why there is nothing to see."""
    alt = altair()
    return (
        alt.Chart(data([{"said": said}]), description=said, width=200, height=20)
        .mark_text(align="left", color=MUTED, fontSize=TEXT_SIZE, baseline="middle")
        .encode(x=alt.value(0), text="said:N")
    )


def below_one_another(charts: Sequence[Any], description: str) -> Any:  # noqa: ANN401 - as above
    """Put one chart below the other, the only one by itself."""
    if len(charts) == 1:
        return charts[0]
    stacked = altair().vconcat(*charts, spacing=10, description=description)
    # Each has its own names, so each its own colours and legend.
    return stacked.resolve_scale(color="independent", shape="independent")


def wrapped(text: str, width: int = 44) -> list[str]:
    """Break a title into lines that a column holds; what three lines do not hold is cut.

    Examples
    --------
    >>> wrapped("one two three", width=8)
    ['one two', 'three']
    """
    return textwrap.wrap(text, width, max_lines=3, placeholder=" …", break_long_words=False)


def nice_top(values: Iterable[float | None]) -> float:
    """Give a round number that no value is above: where an axis that begins at 0 ends.

    Examples
    --------
    >>> nice_top([56.45, 3.0]), nice_top([100.0]), nice_top([0.083, None]), nice_top([None])
    (60.0, 100.0, 0.1, 1.0)
    """
    return round_ticks(max((value for value in values if value is not None), default=0.0))[-1]


def round_ticks(largest: float) -> list[float]:
    """Give round numbers from 0 to the first that is not below ``largest``.

    Examples
    --------
    >>> round_ticks(56.45), round_ticks(0.05)
    ([0.0, 20.0, 40.0, 60.0], [0.0, 0.01, 0.02, 0.03, 0.04, 0.05])
    """
    if largest <= 0:
        return [0.0, 0.5, 1.0]
    power = math.floor(math.log10(largest)) - 1
    top, step = next((t, s) for t, s in _TOPS if t * 10.0**power >= largest * (1 - 1e-9))
    return [float(f"{n}e{power}") for n in range(0, top + 1, step)]


def apart(wanted: Sequence[float], gap: float, most: float) -> list[float]:
    """Move places on a line apart until each has its room, as little as that takes and in their order.

    Examples
    --------
    >>> apart([50.0, 10.0, 52.0], 10, 100)
    [46.0, 10.0, 56.0]
    """
    order = sorted(range(len(wanted)), key=lambda number: (wanted[number], number))
    blocks: list[tuple[float, list[int]]] = []  # where a block begins, and who is in it
    for number in order:
        members = [number]
        start = _start(wanted, members, gap, most)
        while blocks and start < blocks[-1][0] + gap * len(blocks[-1][1]):
            members = blocks.pop()[1] + members
            start = _start(wanted, members, gap, most)
        blocks.append((start, members))
    placed = dict.fromkeys(order, 0.0)
    for start, members in blocks:
        placed |= {member: start + gap * place for place, member in enumerate(members)}
    return [placed[number] for number in range(len(wanted))]


def _start(wanted: Sequence[float], members: Sequence[int], gap: float, most: float) -> float:
    """Give where a block begins that is as near to all its members' places as the line allows."""
    start = sum(wanted[m] - gap * place for place, m in enumerate(members)) / len(members)
    return max(0.0, min(start, most - gap * (len(members) - 1)))
