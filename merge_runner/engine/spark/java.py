"""Finds the Java that Spark needs, by the line that is installed.

`python -m merge_runner.engine.spark.java --install` is what `make` calls: it prints the Java home. Where there is none
it installs Debian's headless JRE if it may.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from merge_runner.errors import Problem, ProblemsError
from merge_runner.formats import Format
from merge_runner.formats.lines import Line, installed_line
from merge_runner.formats.registry import capabilities

_PACKAGE = "default-jre-headless"
_USUAL_FOLDERS = ("/usr/lib/jvm", "/opt/java", "/Library/Java/JavaVirtualMachines")
_VERSION = re.compile(r'(?:JAVA_VERSION=|version )"(\d+)')


def find_java(env: Mapping[str, str], line: Line | None = None, folders: Sequence[str] = _USUAL_FOLDERS) -> Path | None:
    """Return the home of a Java for a line of Spark, else for the installed one; None without one.

    It is $JAVA_HOME, then `java` on the PATH, then one in `folders`.
    """
    supported = (line or installed_line()).java
    for home in _candidates(env, folders):
        if (home / "bin" / "java").exists() and java_version(home) in supported:
            return home
    return None


def require_java(env: Mapping[str, str], line: Line | None = None, folders: Sequence[str] = _USUAL_FOLDERS) -> Path:
    """Like find_java; raises ProblemsError `no-java` that says what to install."""
    line = line or installed_line()
    home = find_java(env, line, folders)
    if home is None:
        raise ProblemsError([Problem("no-java", _none_found(line), hint=_advice(line))])
    return home


def check_java(home: Path, formats: Iterable[Format]) -> None:
    """Refuse a Java that is older than a table format is built for: the first statement would fail on it.

    Raises ProblemsError `no-java`.
    """
    found = java_version(home)
    for format in map(capabilities, formats):
        if found is not None and found < format.least_java:
            message = f"{format.label} needs Java {format.least_java}, and Spark would run on Java {found} ({home})"
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


def _candidates(env: Mapping[str, str], folders: Sequence[str]) -> Iterator[Path]:
    if env.get("JAVA_HOME"):
        yield Path(env["JAVA_HOME"])
    on_path = shutil.which("java", path=env.get("PATH"))
    if on_path:
        yield Path(on_path).resolve().parent.parent
    for folder in folders:
        for home in sorted(Path(folder).glob("*")):
            yield home / "Contents" / "Home" if (home / "Contents").is_dir() else home


def _none_found(line: Line) -> str:
    return f"{line} needs {line.javas}, and none was found"


def _advice(line: Line) -> str:
    if shutil.which("apt-get"):
        return f"install one: sudo apt-get install {_PACKAGE}, or set JAVA_HOME"
    if sys.platform == "darwin":
        return "install one: brew install openjdk@17, or set JAVA_HOME"
    return f"install a {line.javas} runtime with your system's package manager, or set JAVA_HOME"


def _install() -> None:
    """Installs Debian's headless JRE where apt and the rights for it are there; does nothing elsewhere."""
    apt = shutil.which("apt-get")
    if apt is None:
        return
    prefix: list[str] = []
    if os.geteuid() != 0:
        sudo = shutil.which("sudo")
        if sudo is None or subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode != 0:
            return
        prefix = [sudo, "-n"]
    sys.stderr.write(f"installing {_PACKAGE} (Spark needs Java)\n")
    for step in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", _PACKAGE]):
        subprocess.run([*prefix, apt, *step], stdout=subprocess.DEVNULL, check=False)


def main(arguments: list[str]) -> int:
    """Prints the Java home; with `--install`, installs one first where there is none. Status 2 when there is none."""
    if "--install" in arguments and find_java(os.environ) is None:
        _install()
    home = find_java(os.environ)
    if home is None:
        line = installed_line()
        sys.stderr.write(f"{_none_found(line)}: {_advice(line)}\n")
        return 2
    sys.stdout.write(f"{home}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
