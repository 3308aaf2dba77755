"""What an agreement says: correlations, pass rates at gates, distributions, and the judges beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillshift_frames.render.document import Cell, Column, Document, Note, Row
from skillshift_frames.render.lift import interval
from skillshift_frames.render.numbers import format_count, format_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillshift_frames.agreement import Agreement
    from skillshift_frames.judges import Judges


def agreement_document(found: Agreement) -> Document:
    """Describe an agreement, one row per number, in groups."""
    columns = [Column(title, "left") for title in ("Measure", "Of")]
    if found.by:
        columns.append(Column(found.by, "left"))
    columns += [Column("Value"), Column("n")]
    rows: list[Row] = []
    for group in (_correlations(found), _gates(found), _distributions(found), _judges(found)):
        for place, (measure, of, by, value, n) in enumerate(group):
            cells = [Cell(measure), Cell(of), *([Cell(by)] if found.by else []), value, Cell(n)]
            rows.append(Row(tuple(cells), starts_group=place == 0))
    return Document(
        title=f"{found.x} and {', '.join(found.y)}",
        columns=tuple(columns),
        rows=tuple(rows),
        notes=tuple(_notes(found)),
    )


def _by(row: Mapping[str, Any]) -> str:
    return "all" if row["by"] is None else str(row["by"])


def _within(row: Mapping[str, Any]) -> str:
    return "" if row["by"] is None else f" ({row['by']})"


def _correlations(found: Agreement) -> Iterator[tuple[str, str, str, Cell, str]]:
    for row in found.correlations.to_dicts():
        for name in ("spearman", "pearson"):
            ends = interval(row[f"{name}_low"], row[f"{name}_high"])
            value = Cell(format_number(row[name], decimals=4), (ends,) if ends else ())
            yield (
                name.capitalize(),
                f"{row['x']} × {row['y']}",
                _by(row),
                value,
                _of(row["n"], row["missing"]),
            )


def _gates(found: Agreement) -> Iterator[tuple[str, str, str, Cell, str]]:
    for row in found.gates.to_dicts():
        rate, ends = "–", tuple[str, ...]()
        if row["rate"] is not None:
            rate = f"{format_number(100 * row['rate'], decimals=1)} %"
            low, high = (format_number(100 * row[end], decimals=1) for end in ("low", "high"))
            ends = (f"[{low}, {high}]",)
        passed = f"{format_count(row['passed'])}/{format_count(row['n'])}"
        yield f"≥ {row['gate']:g}", row["score"], _by(row), Cell(rate, ends), passed


def _distributions(found: Agreement) -> Iterator[tuple[str, str, str, Cell, str]]:
    for row in found.distributions.to_dicts():
        n = _of(row["n"], row["missing"])
        deviation = "" if row["sd"] is None else f" ± {format_number(row['sd'])}"
        mean = f"{format_number(row['mean'])}{deviation}"
        yield "mean ± sd", row["score"], _by(row), Cell(mean), n
        five = " / ".join(
            format_number(row[name]) for name in ("min", "q25", "median", "q75", "max")
        )
        yield "min / quartiles / max", row["score"], _by(row), Cell(five), n


def _judges(found: Agreement) -> Iterator[tuple[str, str, str, Cell, str]]:
    if found.judges is None:
        return
    of, n = found.judges, format_count(found.judges.items)
    for row in of.pairs:
        ends = interval(row["low"], row["high"])
        both = f"{row['first']} × {row['second']}"
        value = Cell(format_number(row["spearman"], decimals=4), (ends,) if ends else ())
        yield "Spearman of judges", both, "", value, n
        yield "mean difference", both, "", Cell(format_number(row["difference"])), n
        flipped = f"{format_count(row['flipped'])}/{format_count(row['told'])}"
        yield "pairs of items flipped", both, "", Cell(flipped), n
    yield "spread of judges", f"{len(of.names)} judges", "", Cell(format_number(of.spread)), n
    yield (
        "Kendall's W",
        f"{len(of.names)} judges",
        "",
        Cell(format_number(of.concordance, decimals=4)),
        n,
    )


def _what_judges_do(of: Judges) -> Iterator[str]:
    """Say whether they keep the ranking, and who is strict; who ties, and on what."""
    items = f"on the {format_count(of.items)} {'item' if of.items == 1 else 'items'} that all judges scored"
    if not of.items:
        yield f"no item was scored by all judges ({', '.join(of.names)}), so they are not compared"
        return
    if of.kept is None:
        yield f"Ranking unknown: no pair of items has two judges that both score one above the other, {items}"
    else:
        share = f"{format_number(100 * of.kept, decimals=1)} %"
        yield f"Ranking {of.ranking}: of the pairs of items that two judges tell apart {share} are in the same order"
    if not of.spread:
        mean = format_number(of.means[of.names[0]])
        yield f"{_and(of.names)} tie: each has a mean of {mean} {items}, so none is stricter"
        return
    strict, lenient = (
        f"{_and(names)} {'are' if len(names) > 1 else 'is'} {word}{f' (a tie at a mean of {format_number(of.means[names[0]])})' if len(names) > 1 else ''}"
        for names, word in ((of.strictest, "strictest"), (of.most_lenient, "most lenient"))
    )
    yield f"{strict}, {lenient}, {format_number(of.spread)} apart on average {items}"


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _of(n: int, missing: int) -> str:
    return f"{format_count(n)}/{format_count(n + missing)}" if missing else format_count(n)


def _notes(found: Agreement) -> Iterator[Note]:
    of = found.judges
    if of is not None:
        yield from map(Note, _what_judges_do(of))
    yield from map(Note, found.notes)
    missing = [
        f"{row['score']}{_within(row)} {format_count(row['missing'])}"
        for row in found.distributions.to_dicts()
        if row["missing"]
    ]
    if missing:
        yield Note(f"missing scores are in no number: {', '.join(missing)}")
    reasons = {
        f"{row['x']} × {row['y']}{_within(row)}": row["reason"]
        for row in found.correlations.to_dicts()
        if row["reason"]
    }
    for which, reason in reasons.items():
        yield Note(f"{which}: {reason}", "–")
    yield Note(
        f"{100 * found.level:g} % interval: Fisher's for Pearson, with the variance of Bonett and Wright for Spearman "
        "(ties averaged), Wilson's for rates",
        "[ ]",
    )
