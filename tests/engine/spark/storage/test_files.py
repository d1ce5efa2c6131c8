"""Files of an object store, in a JVM whose file system does what S3A does."""

from types import SimpleNamespace

import pytest

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.storage import files
from merge_runner.location import Uri


class Py4JJavaError(Exception):
    """What Py4J raises of a Java throwable with this text."""

    def __init__(self, text):
        super().__init__(f"An error occurred while calling o1.toString.\n: {text}")
        self.java_exception = SimpleNamespace(toString=lambda: text, getCause=lambda: None)


Py4JJavaError.__module__ = "py4j.protocol"
CHANGED = "org.apache.hadoop.fs.s3a.RemoteFileChangedException: open s3a://lake/f at 0: PreconditionFailed"
HALF_WRITTEN = "org.apache.hadoop.fs.ChecksumException: Checksum error: file:/lake/f at 0 exp: -1"
MISSING = "java.io.FileNotFoundException: No such file or directory: s3a://lake/f"


def session(*outcomes):
    """A session in which reading a file ends as these texts say: each the message of an exception, or a content."""
    left = list(outcomes)

    def read(_stream, _encoding):
        outcome = left.pop(0)
        if ": " in outcome:
            raise Py4JJavaError(outcome)
        return outcome

    stream = SimpleNamespace(close=lambda: None)
    file_system = SimpleNamespace(open=lambda _: stream)
    jvm = SimpleNamespace()
    setattr(jvm, "org.apache.hadoop.fs.Path", lambda _: SimpleNamespace(getFileSystem=lambda _: file_system))
    setattr(jvm, "org.apache.commons.io.IOUtils", SimpleNamespace(toString=read))
    java = SimpleNamespace(hadoopConfiguration=lambda: None)
    return SimpleNamespace(sparkContext=SimpleNamespace(_jvm=jvm, _jsc=java))


@pytest.mark.parametrize(
    ("outcomes", "text"),
    [
        (["held"], "held"),
        ([CHANGED, CHANGED, "free"], "free"),
        ([HALF_WRITTEN, "free"], "free"),
        ([MISSING], None),
        ([CHANGED, MISSING], None),
    ],
)
def test_a_file_that_is_replaced_while_it_is_read_is_read_again(outcomes, text):
    assert files.read_text(session(*outcomes), Uri("s3a://lake/f")) == text


def test_a_file_that_never_stays_is_an_error():
    with pytest.raises(EngineError, match="PreconditionFailed"):
        files.read_text(session(*[CHANGED] * 100), Uri("s3a://lake/f"))
