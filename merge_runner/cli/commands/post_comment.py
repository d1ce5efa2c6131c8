"""`merge-runner post-comment`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from merge_runner.ci_comment import MARK, RefusedError, post, thread_of_job
from merge_runner.cli.command import command as make
from merge_runner.cli.display.messages import print_lines, say
from merge_runner.cli.run_pages import SUMMARY, add_step_summary
from merge_runner.errors import Problem, ProblemsError
from merge_runner.options.declaration import argument
from merge_runner.options.output import OutputOptions


@dataclass(frozen=True)
class Options(OutputOptions):
    """The options of `post-comment`."""

    file: Path = argument(metavar="FILE")


@make("post-comment", Options, ignores=("warn_error",))
def command(options: Options) -> int:
    """Post FILE, the comment of `merge-runner diff --pr`, or update that which was posted before.

    It goes to the pull request of a job on GitHub (GITHUB_TOKEN), or to the merge request of one on GitLab
    (GITLAB_TOKEN). Where the job may not write comments, as one of a fork, the text goes to the summary of the job,
    else to the log. No project is loaded: the token needs to be set for this command alone.
    """
    text = _text(options.file)
    try:
        outcome = post(thread_of_job(os.environ), text)
    except RefusedError as error:
        say(f"warning: no comment is posted, as the job may not: {error}", "warn")
        if os.environ.get(SUMMARY):
            add_step_summary(lambda: text)
        else:
            print_lines(text.rstrip("\n").split("\n"))
        return 0
    if not options.quiet:
        say(f"the comment is {outcome}")
    return 0


def _text(file: Path) -> str:
    """Return the text of the comment. Raises ProblemsError where the file is none."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProblemsError([Problem("no-comment", f"cannot read {file}: {error}")]) from error
    if not text.startswith(MARK):
        hint = "`merge-runner diff --pr BASE > FILE` writes one"
        raise ProblemsError([Problem("no-comment", f"{file} does not begin with {MARK}", hint=hint)])
    return text
