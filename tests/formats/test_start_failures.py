"""What a JVM or Spark writes to its log where it does not start, and the setting to correct."""

import pytest

from merge_runner.formats.start_failures import start_failure

HEAP = "Invalid maximum heap size: -Xmxlots\nError: Could not create the Java Virtual Machine.\nError: A fatal exception has occurred. Program will exit."
MEMORY = "# Native memory allocation (mmap) failed to map 30198988800 bytes. Error detail: committing reserved memory."
SYSTEM = (
    "java.lang.IllegalArgumentException: System memory 104857600 must be at least 471859200. Please increase heap size"
)
PORT = (
    "java.net.BindException: Address already in use: Service 'sparkDriver' failed after 16 retries (starting from 4040)! "
    "Consider explicitly setting the appropriate port"
)


@pytest.mark.parametrize(
    ("log", "said", "setting"),
    [
        (HEAP, "Invalid maximum heap size: -Xmxlots", "spark.driver.memory"),
        (MEMORY, "Native memory allocation (mmap) failed to map 30198988800 bytes", "spark.driver.memory"),
        (SYSTEM, "System memory 104857600 must be at least 471859200", "spark.driver.memory"),
        ("Could not parse Master URL: 'local[two]'", "Could not parse Master URL: 'local[two]'", "`master`"),
        (
            *(PORT, "Address already in use: Service 'sparkDriver' failed after 16 retries (starting from 4040)"),
            "spark.driver.port",
        ),
        ("Reason: All masters are unresponsive! Giving up.", "All masters are unresponsive! Giving up", "`master`"),
    ],
)
def test_the_setting_to_correct_is_named(log, said, setting):
    found = start_failure(f"INFO all is well\n{log}\nmore\n")
    assert found is not None
    assert found[0] == said
    assert setting in found[1]


def test_a_log_of_another_failure_has_no_row():
    assert start_failure("java.lang.NoSuchMethodError: a.b.c") is None
