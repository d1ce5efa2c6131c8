"""Drivers that another session commits beside, or that outlive a command; a project that is built again and again."""

import threading
from contextlib import contextmanager

import pytest


@pytest.fixture
def rebuild(make_project, driver):
    """Builds a project of one model, `fct`, again and again; gives its result and its relation."""
    from merge_runner import Project

    roots = []

    def run(files, table_format="delta"):
        if not roots:
            roots.append(make_project(files, table_format))
        for name, text in files.items():
            (roots[0] / name).write_text(text)
        project = Project.load(roots[0])
        results = project.build(driver=driver, lint=False)
        assert results.ok, results["fct"].message
        return results["fct"], project.graph.nodes["model.shop.fct"].relation

    return run


class Watched:
    """A driver that calls `sql` with each statement before it runs, and `forward` before main is moved to a branch."""

    def __init__(self, driver, sql=lambda _text: None, forward=lambda _branch: None):
        self._driver, self._sql, self._forward = driver, sql, forward

    def __getattr__(self, name):
        return getattr(self._driver, name)

    @contextmanager
    def session(self, confs=None):
        with self._driver.session(confs) as session:
            run = session.sql

            def sql(text, *arguments, **options):
                self._sql(text)
                return run(text, *arguments, **options)

            session.sql = sql
            yield session

    def table_format(self, name):
        found, forward = self._driver.table_format(name), self._forward
        if not found.capabilities.has_branches:
            return found

        class Branches(type(found.branches)):
            def fast_forward(self, session, branch):
                forward(branch)
                super().fast_forward(session, branch)

        return type("Format", (type(found),), {"branches": Branches()})()


@pytest.fixture
def watched(driver):
    """Makes a driver that a test watches."""
    return lambda **calls: Watched(driver, **calls)


class Race:
    """What a statement that calls `gate(x)` waits for: the first call tells that it has begun, and waits to be let go."""

    def __init__(self, driver, folder):
        self._driver = driver
        self.begun, self.go = folder / "begun", folder / "go"

    def __getattr__(self, name):
        return getattr(self._driver, name)

    @contextmanager
    def session(self, confs=None):
        from pyspark.sql.types import LongType

        begun, go = str(self.begun), str(self.go)

        def gate(value):
            import os
            import time
            from pathlib import Path

            try:
                os.close(os.open(begun, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return value  # a later call, or another attempt
            deadline = time.monotonic() + 60
            while not Path(go).exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            return value

        with self._driver.session(confs) as session:
            session.udf.register("gate", gate, LongType())
            yield session

    def meanwhile(self, work, build):
        """Runs `build`, and `work` while a statement of it waits at the gate; gives what `build` returns."""
        found = []
        thread = threading.Thread(target=lambda: found.append(build()))
        thread.start()
        try:
            while not self.begun.exists():
                assert thread.is_alive(), found
                thread.join(0.02)
            work()
        finally:
            self.go.touch()
            thread.join()
        return found[0]


@pytest.fixture
def race(driver, tmp_path):
    return Race(driver, tmp_path)


@pytest.fixture
def call(driver):
    """Runs a command in this process, on the shared driver; gives its exit status."""
    from merge_runner.cli.host import Host
    from merge_runner.cli.main import main
    from tests.fake_engine import Starts

    def run(root, *words):
        with pytest.raises(SystemExit) as end:
            main([*words, "--project-dir", str(root)], Host(start=Starts(Lent(driver))))
        return end.value.code

    return run


class Lent:
    """A driver that goes on running when a command has ended."""

    def __init__(self, driver):
        self._driver = driver

    def __getattr__(self, name):
        return getattr(self._driver, name)

    def stop(self):
        pass
