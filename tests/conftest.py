"""Fixtures that all tests share: one Spark driver for the whole run, and projects made of texts."""

import atexit
import functools
import gc
import itertools
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from merge_runner.cache_folder import VARIABLE, cache_folder

# A shell that runs tests in the background has them ignore Ctrl-C, and every process that they start; tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)
# No deadlines: how long an example takes is no property of the code. A property that needs more examples than others asks
# for a multiple of `settings.default.max_examples`, so that it gets its share of each profile.
# What a change has to pass tries the same examples each time: a new one must not fail a change that has nothing to do with
# it. `make test-nightly` tries new ones.
settings.register_profile("few", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("many", deadline=None, max_examples=100, derandomize=True)  # make test-slow
settings.register_profile("new", deadline=None, max_examples=100)  # make test-nightly
settings.register_profile("fuzz", deadline=None, max_examples=1_000)  # pytest -m fuzz --hypothesis-profile fuzz
settings.register_profile(  # a mutant is noticed by the same few examples each time, and nobody reads the smallest (docs/contributing/quality-report.md)
    "mutation",
    deadline=None,
    max_examples=50,
    database=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile("few")

_NUMBERS = itertools.count()
_FUZZED = Counter()
"""How many odd inputs were tried, by their kind."""


_LONGEST = (
    *("kills/test_killed_everywhere.py", "flights/test_flights.py", "builds/test_warm_driver.py"),
    *("driver/test_cluster.py", "formats/test_facts_against_engines.py", "examples/test_patterns_page.py"),
    *("kills/test_two_processes.py", "node/test_lost_driver.py", "cli/test_every_command.py", "lint/test_hostile.py"),
    *(
        "stream/test_stream_kafka.py",
        "stream/test_stream_killed.py",
        "reuse/test_histories.py",
        "builds/test_secrets.py",
    ),
    *("reuse/test_reuse.py", "reuse/test_iceberg.py", "merge/test_runtime_filter.py", "model_tests/test_unit_tests.py"),
    *("builds/test_first_run.py", "stream/test_stream.py", "builds/test_build.py", "builds/test_engine_faults.py"),
)
"""Files in the order in which workers take them, so that none runs alone at the end; then all others with an engine."""


def _turn(item, engines):
    file = "/".join(item.path.parts[-2:])
    return _LONGEST.index(file) if file in _LONGEST else len(_LONGEST) + (item.path not in engines)


_OF_CALLER = frozenset(
    {"NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PY_COLORS", "COLUMNS", "LINES", "TERM", "COLORTERM"}
    | {"TZ", "LANG", "LANGUAGE", "PAGER", "GITHUB_ACTIONS", "GITLAB_CI"}
)
"""Variables that change what a command writes, or how times are shown."""


def pytest_configure(config):
    """Have no test create an AppCDS archive: it takes time, and tests start more sets of jars than archives are kept.

    An archive that exists is used. The process that only distributes tests does not set it: workers would inherit it, and
    hypothesis would derandomize all profiles where it finds CI at its start.
    """
    if not getattr(config.option, "numprocesses", None):
        os.environ["CI"] = "true"
    _leave_callers_settings()
    _use_empty_cache()
    # A test that builds twice wants both builds to run; those of tests/run/reuse have nodes left out.
    os.environ["MERGE_RUNNER_REUSE"] = "off"
    if config.getoption("hypothesis_profile", None) == "mutation":
        _forget_results()


def _leave_callers_settings():
    """Have no test depend on how its caller's terminal, language, time zone or defaults of options are set."""
    kept = {VARIABLE, "MERGE_RUNNER_CDS", "MERGE_RUNNER_MAVEN_URL"}  # where jars are, and come from
    for name in list(os.environ):
        if (
            name in _OF_CALLER
            or name.startswith("LC_")
            or (name.startswith(("MERGE_RUNNER_", "DBT_")) and name not in kept)
        ):
            del os.environ[name]
    os.environ["LANG"] = "C.UTF-8"
    time.tzset()


def _use_empty_cache():
    """Have every test begin without what earlier runs kept of a project; jars are those of the user's cache folder."""
    users, folder = cache_folder(os.environ), Path(tempfile.mkdtemp(prefix="merge-runner-cache-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in ("jars", "cds") if users is not None else ():
        (users / name).mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(users / name)
    os.environ[VARIABLE] = str(folder)


def _forget_results():
    """Forget what functions have returned: a mutant is forked from a process that has called them as they are."""
    ours = [module for name, module in sys.modules.items() if name.startswith("merge_runner.")]
    for each in itertools.chain.from_iterable(vars(module).values() for module in ours):
        if hasattr(each, "cache_clear"):
            each.cache_clear()


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("nightly"):
            item.add_marker("slow")  # before -m selects: this function runs before pytest's own
    engines = {item.path for item in items if item.get_closest_marker("spark") or item.get_closest_marker("slow")}
    items.sort(key=lambda item: _turn(item, engines))
    for item in items:
        marker = item.get_closest_marker("fuzz")
        test = getattr(getattr(item, "obj", None), "hypothesis", None)
        if marker is not None and test is not None:
            _count_examples(test, marker.args[0])


def pytest_collection_finish():
    """Leave what collecting has made out of garbage collections: it is kept to the end, and is most of all objects."""
    gc.collect()
    gc.freeze()


def _count_examples(test, kind):
    inner = test.inner_test
    if not hasattr(inner, "counted"):

        @functools.wraps(inner)
        def counted(*args, **kwargs):
            _FUZZED[kind] += 1
            return inner(*args, **kwargs)

        counted.counted = True
        test.inner_test = counted


def pytest_runtest_teardown(item):
    marker = item.get_closest_marker("fuzz")
    if marker is not None and not hasattr(item.obj, "hypothesis"):
        _FUZZED[marker.args[0]] += getattr(item, "fuzz_cases", 1)


def pytest_terminal_summary(terminalreporter):
    if _FUZZED:
        told = ", ".join(f"{count:,} of {kind}" for kind, count in sorted(_FUZZED.items()))
        terminalreporter.write_line(f"fuzz cases: {_FUZZED.total():,} ({told})")


@pytest.fixture
def fuzzed(request):
    """Says how many odd inputs one test of the marker `fuzz` has tried, where it is not one."""

    def say(cases):
        request.node.fuzz_cases = cases

    return say


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    """The one Spark driver of the test run, as an embedded target has it."""
    from merge_runner.formats.lines import installed_line
    from tests.spark_driver import started_driver

    if not installed_line().formats:
        pytest.skip(f"no table format has a build for {installed_line()}")
    with started_driver(tmp_path_factory.mktemp("spark")) as running:
        yield running


@pytest.fixture(scope="session")
def spark(driver):
    """The driver's first session."""
    return driver.spark


@pytest.fixture
def make_project(tmp_path):
    """Writes a project of files by path and gives its folder; settings and a profile are added where they are missing.

    Each project has a schema of its own, since all tests share the catalog of one driver; `table_format` iceberg
    puts it into the driver's Iceberg catalog.
    """

    from tests.written_project import write_project

    def make(files: dict[str, str], table_format: str = "delta") -> Path:
        number = next(_NUMBERS)
        return write_project(tmp_path / f"project{number}", f"shop{number}", files, table_format)

    return make
