"""A Spark session to read in: the user's with settings of its own, or one that is started quietly, and stopped again."""

from __future__ import annotations

import logging
import signal
import threading
import warnings
from contextlib import ExitStack, contextmanager, suppress
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from skillshift_frames.errors import InputError
from skillshift_frames.readers.spark import reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

#: Whatever a cluster is configured for: nothing may be left out without a word, and "Steps" is not a key of a record.
_STRICT = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.variant.allowDuplicateKeys": "false",
}
_QUIET = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_NO_REASON = ("WARNING", "Using Spark", "Setting default", "To adjust", "\t", " ")
_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")


@contextmanager
def strict_session(given: SparkSession | None, master: str | None) -> Iterator[SparkSession]:
    """Give a session in which nothing is left out silently.

    It is a child of the one given, which keeps its settings; else of the one that runs already; else of one that is started
    here, at ``master``, and stopped at the end.

    Raises
    ------
    InputError
        PySpark or Java is missing, Spark does not start, or fails at what is done in the session: in one line.
    """
    try:
        from py4j.protocol import Py4JError
        from pyspark import SparkContext
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession as Session
    except ImportError as error:
        msg = "Spark needs PySpark: python -m pip install 'skillshift-frames[spark]'"
        raise InputError(msg) from error
    running: Any = SparkContext._active_spark_context  # noqa: SLF001 - Python has no other way to ask
    if master is not None and (given is not None or running is not None):
        msg = f"master is {master!r}, but there is a Spark session already; leave master out"
        raise InputError(msg)
    with ExitStack() as stack:
        stack.enter_context(_without_chatter())
        if given is None and running is None:
            given = stack.enter_context(_started(master))
        elif given is None:
            given = Session(running)
        if not hasattr(given, "_jsparkSession"):
            msg = "of a Spark Connect session the files cannot be looked for; give the frame that it reads to tally"
            raise InputError(msg)
        session = given.newSession()
        own = session.conf.getAll
        inherited = {
            name: value for name, value in given.conf.getAll.items() if own.get(name) != value
        }
        for name, value in (inherited | _STRICT).items():
            session.conf.set(name, value)
        try:
            yield session
        except (PySparkException, Py4JError) as error:
            msg = f"Spark: {reason_of(error)}"
            raise InputError(msg) from error


@contextmanager
def _without_chatter() -> Iterator[None]:
    """Have nothing printed that is said in an exception as well, or is no matter here."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.disabled for logger in loggers]
    with warnings.catch_warnings():
        # What PySpark thinks of the version of pandas: no row passes through pandas.
        warnings.filterwarnings("ignore", category=FutureWarning, module=r"pyspark\b")
        for logger in loggers:
            logger.disabled = True
        try:
            yield
        finally:
            for logger, disabled in zip(loggers, before, strict=True):
                logger.disabled = disabled


@contextmanager
def _started(master: str | None) -> Iterator[SparkSession]:
    """Start Spark in a process of its own whose log goes nowhere, and end both, whatever happens in between."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession as Session

    conf = SparkConf().setAppName("skillshift-frames").setAll(list(_QUIET.items()))
    if master is not None:
        conf.setMaster(master)
    with ExitStack() as stack:
        log = stack.enter_context(TemporaryFile())
        stack.enter_context(_interrupts_kept())
        try:
            gateway: Any = None
            # An earlier session of this process leaves its Java behind, and the next one is in there, too.
            if SparkContext._gateway is None:  # noqa: SLF001 - Python has no other way to ask
                launch: Any = launch_gateway  # it has no types
                gateway = launch(conf, {"stdout": log, "stderr": log})
                stack.callback(_end, gateway)
            session = Session(SparkContext(conf=conf, gateway=gateway))
        except Exception as error:  # Java's own exceptions have no common root in Python
            # Where there is no Java, the script that looks for it is all that has anything to say.
            reason = _first_reason(log) if "JAVA_GATEWAY_EXITED" in str(error) else reason_of(error)
            msg = f"Spark did not start: {reason} (skillshift-frames[spark] needs Java 17 or newer)"
            raise InputError(msg) from error
        stack.callback(session.stop)
        yield session


@contextmanager
def _interrupts_kept() -> Iterator[None]:
    """Undo what PySpark does to Control-C for as long as its session lives."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _first_reason(log: IO[bytes]) -> str:
    """Give the first line that is neither a greeting nor the place in the code."""
    log.seek(0)
    lines = log.read().decode(errors="replace").split("\n")
    said = (line for line in lines if line.strip() and not line.startswith(_NO_REASON))
    return next(said, "Java ended without a word")


def _end(gateway: Any) -> None:  # noqa: ANN401 - py4j ships no types
    """End the process that a session was in: one that is started later would find it, and log nowhere."""
    from pyspark import SparkContext

    with suppress(Exception):  # it may be gone already
        gateway.shutdown()
    if gateway.proc is not None:
        gateway.proc.stdin.close()  # the sign for it to end
        gateway.proc.wait()
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001 - PySpark never expects it to end
