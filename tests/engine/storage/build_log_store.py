"""Compiles the log store for S3 and packs it: `python -m tests.engine.storage.build_log_store`.

The class is for Java 11 and newer. The jar is the same for the same source and compiler (Java 17).
"""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "merge_runner/engine/spark/storage"
SOURCE = FOLDER / "S3ConditionalLogStore.java"
JAR = FOLDER / "merge-runner-log-store.jar"


def compiled(folder):
    """Return the bytes of the class. Raises FileNotFoundError without a compiler, CalledProcessError for another."""
    import pyspark

    from merge_runner.engine.spark.jars import fetch_jars
    from merge_runner.engine.spark.java import require_java

    java = require_java(os.environ) / "bin"
    version = subprocess.run([java / "javac", "-version"], check=True, capture_output=True, text=True).stdout
    if not version.startswith("javac 17."):
        raise FileNotFoundError(version)
    jars = [*fetch_jars(["delta"], os.environ), *Path(pyspark.__file__).parent.glob("jars/hadoop-client-api-*.jar")]
    path = os.pathsep.join(map(str, jars))
    subprocess.run(
        [java / "javac", "--release", "11", "-g:none", "-cp", path, "-d", str(folder), str(SOURCE)],
        check=True,
        capture_output=True,
    )
    return (folder / "mergerunner/S3ConditionalLogStore.class").read_bytes()


def pack(classes):
    """Write the jar, with the hash of the source that the class is made from."""
    files = {
        "mergerunner/S3ConditionalLogStore.class": classes,
        "SOURCE.sha256": hashlib.sha256(SOURCE.read_bytes()).hexdigest().encode(),
    }
    with zipfile.ZipFile(JAR, "w", zipfile.ZIP_DEFLATED) as jar:
        for name, data in files.items():
            jar.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        pack(compiled(Path(scratch)))
    sys.stdout.write(f"{JAR}\n")
