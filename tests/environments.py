"""Environments with packages of the registries, made once each in a folder that Git ignores."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build/clients"


def python_with(*packages):
    """Return the Python of an environment with these packages; skip where the registry cannot be reached."""
    key = hashlib.sha256("\n".join((*packages, sys.version)).encode()).hexdigest()[:10]
    folder = FOLDER / f"{packages[0].partition('==')[0]}-{key}"
    found = folder / "bin/python"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [found, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        ping = subprocess.run(
            [*pip, "--dry-run", "--no-deps", packages[0]], capture_output=True, text=True, check=False
        )
        if ping.returncode:
            pytest.skip(f"NOT TESTED: {packages[0]} cannot be installed: {ping.stderr.strip().splitlines()[-1]}")
        subprocess.run([*pip, *packages], check=True)
        (folder / "complete").touch()
    return found


def node_with(package):
    """Return the folder of executables of a package of npm; skip where it cannot be installed."""
    folder = FOLDER / package.replace("@", "-")
    if not (folder / "complete").exists():
        if shutil.which("npm") is None:
            pytest.skip(f"NOT TESTED: {package} needs npm")
        shutil.rmtree(folder, ignore_errors=True)
        install = ["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", package]
        done = subprocess.run(install, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"NOT TESTED: {package} cannot be installed: {done.stderr.strip().splitlines()[-1]}")
        (folder / "complete").touch()
    return folder / "node_modules/.bin"
