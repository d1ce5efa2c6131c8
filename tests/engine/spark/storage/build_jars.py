"""Compiles the Java classes of merge-runner and packs them: `python -m tests.engine.spark.storage.build_jars`.

The classes are for Java 11 and newer. What calls a version of the AWS SDK is compiled against the jars of a line of Spark
that has it. A jar is the same for the same sources and compiler (Java 17).
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[4] / "merge_runner/engine/spark/storage"


@dataclass(frozen=True)
class OwnJar:
    """A jar in FOLDER: its sources, each with the line whose jars of Delta and S3 it is compiled against."""

    name: str
    sources: Mapping[str, str]

    @property
    def path(self):
        return FOLDER / self.name

    def source_hash(self):
        """Return the hash of all sources, in hex."""
        return hashlib.sha256(b"".join((FOLDER / name).read_bytes() for name in sorted(self.sources))).hexdigest()

    def compiled(self, folder):
        """Return the bytes of each class, by its name in the jar.

        Raises FileNotFoundError without a compiler of Java 17, CalledProcessError for a source that does not compile.
        """
        import pyspark

        from merge_runner.engine.spark.jars import fetch, pinned_jars
        from merge_runner.engine.spark.java import require_java
        from merge_runner.formats.lines import LINES

        java = require_java(os.environ) / "bin"
        version = subprocess.run([java / "javac", "-version"], check=True, capture_output=True, text=True).stdout
        if not version.startswith("javac 17."):
            raise FileNotFoundError(version)
        hadoop = list(Path(pyspark.__file__).parent.glob("jars/hadoop-client-api-*.jar"))
        for line in sorted(set(self.sources.values()), reverse=True):
            jars = [*fetch(pinned_jars(["delta", "s3"], LINES[line]), os.environ), *hadoop]
            sources = [FOLDER / name for name, against in self.sources.items() if against == line]
            path = os.pathsep.join(map(str, [folder, *jars]))
            command = [java / "javac", "--release", "11", "-g:none", "-cp", path, "-d", folder, *sources]
            subprocess.run(command, check=True, capture_output=True)
        return {f"mergerunner/{each.name}": each.read_bytes() for each in sorted(folder.glob("mergerunner/*.class"))}

    def pack(self, classes):
        """Write the jar, with the hash of the sources that the classes are made from."""
        files = {**classes, "SOURCE.sha256": self.source_hash().encode()}
        with zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED) as jar:
            for name, data in files.items():
                jar.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data)


LOG_STORE = OwnJar(
    "merge-runner-log-store.jar",
    {
        "S3ConditionalPut.java": "4.0",
        "S3PutBySecondSdk.java": "4.0",
        "S3PutByFirstSdk.java": "3.5",
        "S3ConditionalLogStore.java": "4.0",
    },
)
LOCAL_FILES = OwnJar(
    "merge-runner-local-files.jar",
    {"PosixFileSystem.java": "4.0", "LocalFiles.java": "4.0", "LocalFileContext.java": "4.0"},
)
JARS = (LOG_STORE, LOCAL_FILES)


if __name__ == "__main__":
    for made in JARS:
        with tempfile.TemporaryDirectory() as scratch:
            made.pack(made.compiled(Path(scratch)))
        sys.stdout.write(f"{made.path}\n")
