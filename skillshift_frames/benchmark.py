"""Which sites, how many tasks each, which conditions, in which order: what a table is measured against."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike, fspath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from skillshift_frames.errors import BenchmarkError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

#: Names that a table needs for itself.
RESERVED = ("overall", "run", "metric")


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The two axes of a table, with the number of tasks that a complete run has.

    Parameters
    ----------
    name
        What outputs call it.
    sites
        Site → number of tasks in each of its cells, in the table's order. The same tasks are run under every
        condition.
    conditions
        The conditions, in the table's order.
    titles
        How a site or condition is printed where not by its own name (``{"gitlab": "GitLab"}``).

    Raises
    ------
    BenchmarkError
        No site or condition; a task count that is not a positive integer; a name twice, as site and as condition, or
        one of ``overall``, ``run``, ``metric``, which the table needs for itself.

    Examples
    --------
    >>> shop = Benchmark("shop", sites={"cart": 12, "search": 30}, conditions=("plain", "shifted"))
    >>> shop.slots
    ('cart', 'search', 'plain', 'shifted', 'overall')
    >>> shop.expected
    84
    """

    name: str
    sites: Mapping[str, int]
    conditions: tuple[str, ...]
    titles: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Frozen all the way down: a benchmark is shared by everything computed under it.
        object.__setattr__(self, "sites", MappingProxyType(dict(self.sites)))
        if isinstance(self.conditions, str):
            msg = f"benchmark {self.name!r}: conditions is {self.conditions!r}; several names are needed"
            raise BenchmarkError(msg)
        object.__setattr__(self, "conditions", tuple(self.conditions))
        object.__setattr__(self, "titles", MappingProxyType(dict(self.titles)))
        for problem in _problems(self):
            msg = f"benchmark {self.name!r}: {problem}"
            raise BenchmarkError(msg)

    def _key(self) -> tuple[object, ...]:
        # The order of the sites is the table's, so it counts; that of titles does not.
        return (
            self.name,
            tuple(self.sites.items()),
            self.conditions,
            frozenset(self.titles.items()),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Benchmark) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[type[Benchmark], tuple[object, ...]]:
        # A read-only view of a mapping can be neither pickled nor copied.
        return type(self), (self.name, dict(self.sites), self.conditions, dict(self.titles))

    @property
    def slots(self) -> tuple[str, ...]:
        """The numbers of one row of the table: each site's marginal, each condition's, ``overall``."""
        return (*self.sites, *self.conditions, "overall")

    @property
    def expected(self) -> int:
        """The number of tasks of a complete run, over all cells."""
        return sum(self.sites.values()) * len(self.conditions)

    def title(self, name: str) -> str:
        """Give the printed form of a site's, a condition's or another slot's name."""
        return self.titles.get(name, name)


def _problems(benchmark: Benchmark) -> list[str]:
    """Everything that makes the axes unusable, as sentences."""
    names = [*benchmark.sites, *benchmark.conditions]
    problems = []
    if not benchmark.sites or not benchmark.conditions:
        problems.append("it needs at least one site and one condition")
    problems += [f"{n!r} is not a name" for n in names if not _is_name(n)]
    problems += [
        f"site {site!r} has {count!r} tasks; a positive integer is needed"
        for site, count in benchmark.sites.items()
        if type(count) is not int or count < 1
    ]
    problems += [f"{n!r} stands for more than one thing" for n in names if names.count(n) > 1]
    problems += [f"{n!r} is a name that the table needs for itself" for n in names if n in RESERVED]
    problems += [
        f"it gives a title to {n!r}, which it does not have"
        for n in benchmark.titles
        if n not in names
    ]
    problems += [
        f"the title of {n!r} is {title!r}; a string is needed"
        for n, title in benchmark.titles.items()
        if not _is_name(title)
    ]
    return problems


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


#: Sites, task counts and conditions of SkillShift (the paper's Table 1).
SKILLSHIFT = Benchmark(
    name="skillshift",
    sites={"gitlab": 162, "magento": 114, "wordpress": 79},
    conditions=("src", "src-perc", "src-exec", "tgt", "tgt-perc", "tgt-exec"),
    titles={
        "gitlab": "GitLab",
        "magento": "Magento",
        "wordpress": "WordPress",
        "src": "Src",
        "src-perc": "Src-Perc",
        "src-exec": "Src-Exec",
        "tgt": "Tgt",
        "tgt-perc": "Tgt-Perc",
        "tgt-exec": "Tgt-Exec",
    },
)

#: What every function accepts as ``benchmark=``: an object, ``"skillshift"``, ``"infer"``, or the path of a TOML file.
BenchmarkLike: TypeAlias = "Benchmark | str | PathLike[str]"


def load_benchmark(path: str | PathLike[str]) -> Benchmark:
    r"""Read a benchmark from a TOML file.

    The file has ``conditions`` (a list of names) and the table ``[sites]`` (name = number of tasks), both in the
    table's order; ``name`` (default: the file's stem) and the table ``[titles]`` are optional.

    Raises
    ------
    BenchmarkError
        The file cannot be read, is not TOML, lacks a key, has an unknown one, or contradicts itself.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "shop.toml")
    ...     _ = file.write_text(
    ...         'conditions = ["plain", "shifted"]\n[sites]\ncart = 12\nsearch = 30\n'
    ...     )
    ...     load_benchmark(file).slots
    ('cart', 'search', 'plain', 'shifted', 'overall')
    """
    import tomllib  # noqa: PLC0415 - only a benchmark from a file needs it

    name = fspath(path)
    try:
        with open(name, "rb") as file:  # noqa: PTH123 - the path is shown as it was given
            content = tomllib.load(file)
    except OSError as error:
        msg = f"benchmark {name}: cannot be read: {error.strerror} (skillshift, infer, or the path of a TOML file)"
        raise BenchmarkError(msg) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        msg = f"benchmark {name}: not valid TOML: {error}"
        raise BenchmarkError(msg) from error
    return _from_toml(content, name)


def _from_toml(content: dict[str, Any], path: str) -> Benchmark:
    from pathlib import PurePath  # noqa: PLC0415 - only a benchmark from a file needs it

    shapes: dict[str, tuple[type, str]] = {
        "name": (str, "string"),
        "conditions": (list, "array"),
        "sites": (dict, "table"),
        "titles": (dict, "table"),
    }
    for key, value in content.items():
        if key not in shapes:
            msg = f"benchmark {path}: unknown key {key!r} (known: {', '.join(shapes)})"
            raise BenchmarkError(msg)
        python_type, toml_type = shapes[key]
        if not isinstance(value, python_type):
            msg = f"benchmark {path}: {key} is {value!r}; a TOML {toml_type} is needed"
            raise BenchmarkError(msg)
    for key in ("conditions", "sites"):
        if key not in content:
            msg = f"benchmark {path}: {key} is missing"
            raise BenchmarkError(msg)
    try:
        return Benchmark(
            name=content.get("name", PurePath(path).stem),
            sites=content["sites"],
            conditions=tuple(content["conditions"]),
            titles=content.get("titles", {}),
        )
    except BenchmarkError as error:
        msg = f"{path}: {error}"
        raise BenchmarkError(msg) from error


def known_benchmark(benchmark: BenchmarkLike) -> Benchmark | None:
    """Resolve what ``benchmark=`` was given; None stands for ``"infer"``: known once the data are read."""
    if isinstance(benchmark, Benchmark):
        return benchmark
    if benchmark == "skillshift":
        return SKILLSHIFT
    if benchmark == "infer":
        return None
    return load_benchmark(benchmark)


def infer_benchmark(frame: pl.DataFrame) -> Benchmark:
    """Read the axes off the data: sites and conditions in alphabetical order.

    ``frame`` holds tasks, a tally or cells. A site's task count is that of its fullest cell in any run: the least number of
    tasks that a complete run can have.

    Raises
    ------
    BenchmarkError
        A name is both a site and a condition, or one that the table needs for itself.

    Examples
    --------
    >>> import polars as pl
    >>> tasks = pl.DataFrame(
    ...     {
    ...         "run": ["a"] * 3,
    ...         "site": ["s"] * 3,
    ...         "condition": ["x", "x", "y"],
    ...         "uid": ["1", "2", "1"],
    ...     }
    ... )
    >>> infer_benchmark(tasks).sites["s"]
    2
    """
    import polars as pl  # noqa: PLC0415 - the command line's --help reads this module

    # Records may have kept columns by any name, but never go without their uid.
    records = "uid" in frame.columns
    if not records and "expected" in frame.columns:
        tasks = pl.col("expected").max()
    elif not records and "tasks" in frame.columns:
        tasks = pl.col("tasks").sum()
    elif "trial" in frame.columns and frame.select(pl.col("trial").n_unique() <= 1).item():
        tasks = pl.len()  # a record is a task, since no key comes twice; counting uids would take long and hold them all
    else:
        tasks = pl.col("uid").n_unique()
    per_run = frame.lazy().group_by("run", "site", "condition").agg(n=tasks)
    cells = per_run.group_by("site", "condition").agg(pl.col("n").max()).collect(engine="streaming")
    counts = dict(cells.group_by("site").agg(pl.col("n").max()).sort("site").iter_rows())
    conditions = cells.get_column("condition").unique().sort().to_list()
    return Benchmark(name="inferred", sites=counts, conditions=tuple(conditions))


def resolve_benchmark(benchmark: BenchmarkLike, frame: pl.DataFrame) -> Benchmark:
    """Resolve what ``benchmark=`` was given, with ``"infer"`` read off ``frame`` (tasks, a tally or cells).

    Raises
    ------
    BenchmarkError
        As `load_benchmark`, or, inferred, as `infer_benchmark`.

    Examples
    --------
    >>> import polars as pl
    >>> resolve_benchmark("skillshift", pl.DataFrame()).expected
    2130
    """
    return known_benchmark(benchmark) or infer_benchmark(frame)
