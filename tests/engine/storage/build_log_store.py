"""Compiles the log store for S3 and packs it: `python -m tests.engine.storage.build_log_store`.

The classes are for Java 11 and newer. What calls a version of the AWS SDK is compiled against the jars of a line of Spark
that has it. The jar is the same for the same sources and compiler (Java 17).
"""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "merge_runner/engine/spark/storage"
SOURCES = {
    "S3ConditionalPut.java": "4.0",
    "S3PutBySecondSdk.java": "4.0",
    "S3PutByFirstSdk.java": "3.5",
    "S3ConditionalLogStore.java": "4.0",
}
"""The line whose jars a source is compiled against."""
JAR = FOLDER / "merge-runner-log-store.jar"


def source_hash():
    """Return the hash of all sources, in hex."""
    return hashlib.sha256(b"".join((FOLDER / name).read_bytes() for name in sorted(SOURCES))).hexdigest()


def compiled(folder):
    """Return the bytes of each class, by its name in the jar.

    Raises FileNotFoundError without a compiler of Java 17, CalledProcessError for a source that does not compile.
    """
    import pyspark

    from merge_runner.engine.spark.jars import fetch, pinned
    from merge_runner.engine.spark.java import require_java
    from merge_runner.formats.lines import LINES

    java = require_java(os.environ) / "bin"
    version = subprocess.run([java / "javac", "-version"], check=True, capture_output=True, text=True).stdout
    if not version.startswith("javac 17."):
        raise FileNotFoundError(version)
    hadoop = list(Path(pyspark.__file__).parent.glob("jars/hadoop-client-api-*.jar"))
    for line in ("4.0", "3.5"):
        jars = [*fetch(pinned(["delta", "s3"], LINES[line]), os.environ), *hadoop]
        sources = [FOLDER / name for name, against in SOURCES.items() if against == line]
        path = os.pathsep.join(map(str, [folder, *jars]))
        command = [java / "javac", "--release", "11", "-g:none", "-cp", path, "-d", folder, *sources]
        subprocess.run(command, check=True, capture_output=True)
    return {f"mergerunner/{each.name}": each.read_bytes() for each in sorted(folder.glob("mergerunner/*.class"))}


def pack(classes):
    """Write the jar, with the hash of the sources that the classes are made from."""
    files = {**classes, "SOURCE.sha256": source_hash().encode()}
    with zipfile.ZipFile(JAR, "w", zipfile.ZIP_DEFLATED) as jar:
        for name, data in files.items():
            jar.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        pack(compiled(Path(scratch)))
    sys.stdout.write(f"{JAR}\n")
