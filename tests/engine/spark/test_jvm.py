"""What is said of a JVM that has ended."""

import pytest

from merge_runner.engine.spark.jvm import how_it_ended, log_text

LOG = (
    "ERROR Executor: Exception in task 0.0\njava.lang.OutOfMemoryError: GC overhead limit exceeded\n\tat java.base/A\n"
)


@pytest.mark.parametrize(
    ("status", "log", "said"),
    [
        (52, LOG, "its JVM ran out of memory: GC overhead limit exceeded (exit status 52)"),
        (52, "", "its JVM ran out of memory: Java heap space (exit status 52)"),
        (-9, LOG, "its JVM was killed (SIGKILL): by a user, or by the system because the machine ran out of memory"),
        (-15, "", "its JVM was killed (SIGTERM)"),
        (3, LOG, "its JVM ended with exit status 3; its log has `OutOfMemoryError: GC overhead limit exceeded`"),
        (134, "", "its JVM ended with exit status 134"),
        (None, LOG, "its JVM has ended; its log has `OutOfMemoryError: GC overhead limit exceeded`"),
        (None, "", "its JVM has ended"),
    ],
)
def test_status_and_log_say_how_it_ended(status, log, said):
    assert how_it_ended(status, log) == said


def test_only_what_this_jvm_has_logged_counts(tmp_path):
    log = tmp_path / "spark.log"
    assert log_text(log, 0) == ""
    log.write_text("of another one\nours")
    assert log_text(log, len("of another one\n")) == "ours"
    assert log_text(log, 1_000) == "of another one\nours"  # it was moved away, and a new one begun
