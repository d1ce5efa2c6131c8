"""What submits a project to Kubernetes, YARN or a standalone master: a shell script, and the files that it names.

The driver is then a process of the cluster. It is started by spark-submit, so that the confs of the output are given to
it, but for those that may be secret: these reach it as environment variables, from which profiles.yml takes them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from merge_runner.engine.spark.confs import spark_confs
from merge_runner.engine.spark.internals import internals
from merge_runner.engine.spark.jvm import properties_text
from merge_runner.engine.spark.user_confs import DEPLOY, JARS, MASTER, OPTIONS
from merge_runner.project.schema.profile import Profile
from merge_runner.project.syntax.secret_names import secret_values

SCRIPT = "submit.sh"
PROPERTIES = "spark.properties"
RUNNER = "run.py"
RUNNER_TEXT = "from merge_runner.cli.main import process\n\nprocess()\n"


@dataclass(frozen=True)
class Submission:
    """How a project is submitted: the files to write, by name, and what is worth knowing."""

    files: Mapping[str, str]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Manager:
    """What a cluster manager needs: spark-submit's options, the files that they name, the steps of the script before.

    `runner` is the path of `run.py` for the driver, `project` that of the project's folder.
    """

    deploy_mode: str
    runner: str
    project: str
    options: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    before: Sequence[str] = ()


def submission(profile: Profile, root: Path, folder: Path, manager: Manager, jars: Iterable[Path]) -> Submission:
    """Return what submits the project at `root`, with the `jars` that its Spark lacks; files go into `folder`."""
    confs, hidden = _confs(profile, root)
    command = [
        "spark-submit",
        *("--master", profile.master or "", "--deploy-mode", manager.deploy_mode),
        *("--properties-file", str(folder / PROPERTIES), *internals(profile.line).submit_options),
        *_jars(confs.pop(JARS, ""), jars),
        *manager.options,
        manager.runner,
        *("build", "--project-dir", manager.project, "--target", profile.target),
    ]
    files = {
        PROPERTIES: properties_text(dict(sorted(confs.items()))),
        RUNNER: RUNNER_TEXT,
        SCRIPT: _script(command, manager.before),
        **manager.files,
    }
    notes = [
        f"{key} may be secret: it is not in {PROPERTIES}, and the driver takes it from profiles.yml" for key in hidden
    ]
    return Submission(files, notes)


def _confs(profile: Profile, root: Path) -> tuple[dict[str, str], list[str]]:
    """The confs that spark-submit is given, and the names of those that may be secret."""
    confs = spark_confs(profile, root, [])
    # The driver's JVM is started on another machine: the file of our log configuration is not there.
    own = {MASTER, DEPLOY, "spark.driver.host", "spark.driver.bindAddress"}
    confs = {key: value for key, value in confs.items() if key not in own}
    if OPTIONS not in profile.conf:
        confs.pop(OPTIONS, None)
    hidden = [key for key, value in confs.items() if any(secret_values({key: value})) or value in profile.secrets]
    return {key: value for key, value in confs.items() if key not in hidden}, hidden


def _jars(theirs: str, ours: Iterable[Path]) -> Iterator[str]:
    listed = [*map(str, ours), *(part.strip() for part in theirs.split(",") if part.strip())]
    if listed:
        yield from ("--jars", ",".join(dict.fromkeys(listed)))


def _script(command: Sequence[str], before: Sequence[str]) -> str:
    words = [shlex.quote(word) for word in command]
    lines = [words[0]]
    for word in words[1:]:
        # An option and its value are a line; so are the runner and its arguments.
        starts = word.startswith("--") or word.endswith(RUNNER)
        lines = [*lines, f"  {word}"] if starts else [*lines[:-1], f"{lines[-1]} {word}"]
    body = " \\\n".join([*lines, '  "$@"'])
    return "\n".join(
        [
            "#!/bin/sh",
            "# What follows the name of this script is added to the command of merge-runner.",
            "set -eu",
            *before,
            f"exec {body}",
            "",
        ]
    )
