"""No command ends with an internal error, whatever it is given: tests/cli/every_command.py as tests."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("every_command.py")


def called(*arguments):
    """The script's last line, where nothing was at fault."""
    process = subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    count = int(process.stdout.split()[0].replace(",", ""))
    assert process.stdout.endswith(f"{count:,} invocations, 0 at fault\n")
    return count


def test_every_command_takes_every_kind_of_node():
    assert called("--brief") > 40


@pytest.mark.slow
def test_every_command_takes_every_option():
    assert called("--options") > 100


@pytest.mark.nightly
def test_every_command_takes_every_option_and_every_node():
    assert called() > 1000


@pytest.mark.nightly
@pytest.mark.spark
def test_every_command_takes_every_kind_of_node_on_spark():
    commands = [
        "run",
        "run-operation",
        "seed",
        "show",
        "test",
        "optimize",
        "publish",
        "source",
        "stream",
        "retry",
        "explain",
        "debug",
    ]
    assert called("--brief", "--spark", *commands) > 15  # with every option it takes more than an hour
