"""The one comment that a CI job has in a pull request of GitHub or a merge request of GitLab: posted, then updated."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, Literal
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from merge_runner.errors import Problem, ProblemsError
from merge_runner.project_file import read_json
from merge_runner.version import version

MARK = "<!-- merge-runner diff of "
"""How the first line of a comment begins, which no reader sees: by that line the comment is found again."""
_PAGE = 100
"""Comments in one answer: the most that both services give."""
_MOST_PAGES = 100
_SECONDS = 30.0


class RefusedError(Exception):
    """The job may not write comments, as one of a fork."""


@dataclass(frozen=True)
class Thread:
    """The comments of a pull request are at `url`; one is changed by `method`, at its id below `comment_url`."""

    url: str
    comment_url: str
    method: Literal["PATCH", "PUT"]
    headers: Mapping[str, str] = field(repr=False)


def marker(project: str) -> str:
    """Return the first line of the comment of a project: a repository may have several."""
    return f"{MARK}{project} -->"


def thread_of_job(env: Mapping[str, str]) -> Thread:
    """Return the thread of the pull request that a CI job is for, by its environment.

    Raises ProblemsError where it is for none, RefusedError without a token.
    """
    if env.get("GITHUB_EVENT_PATH"):
        number, token = _number(env["GITHUB_EVENT_PATH"]), _token(env, "GITHUB_TOKEN")
        issues = f"{env.get('GITHUB_API_URL', 'https://api.github.com')}/repos/{env['GITHUB_REPOSITORY']}/issues"
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
        return Thread(f"{issues}/{number}/comments", f"{issues}/comments", "PATCH", headers)
    if env.get("CI_MERGE_REQUEST_IID"):
        requests = f"{env['CI_API_V4_URL']}/projects/{env['CI_PROJECT_ID']}/merge_requests"
        notes = f"{requests}/{env['CI_MERGE_REQUEST_IID']}/notes"
        return Thread(notes, notes, "PUT", {"PRIVATE-TOKEN": _token(env, "GITLAB_TOKEN")})
    raise _no_pull_request("neither GITHUB_EVENT_PATH nor CI_MERGE_REQUEST_IID is set")


def post(thread: Thread, text: str) -> Literal["posted", "updated"]:
    """Post a text, or put it in the place of that which was posted before with the same first line.

    Raises RefusedError where the token may not do that, ProblemsError for any other failure.
    """
    first_line = text.partition("\n")[0]
    for comment in _comments(thread):
        if str(comment.get("body")).partition("\n")[0].rstrip() == first_line:
            _send(thread, thread.method, f"{thread.comment_url}/{int(comment['id'])}", {"body": text})
            return "updated"
    _send(thread, "POST", thread.url, {"body": text})
    return "posted"


def _comments(thread: Thread) -> Iterator[Mapping[str, Any]]:
    for page in range(1, _MOST_PAGES + 1):
        comments = _send(thread, "GET", f"{thread.url}?per_page={_PAGE}&page={page}")
        yield from comments
        if len(comments) < _PAGE:
            return


def _send(thread: Thread, method: str, url: str, content: Mapping[str, str] | None = None) -> Any:
    body = None if content is None else json.dumps(content).encode()
    request = Request(url, body, {"User-Agent": f"merge-runner/{version()}"}, method=method)
    request.add_header("Content-Type", "application/json")
    for name, value in thread.headers.items():
        request.add_unredirected_header(name, value)  # no other server gets the token
    try:
        with urlopen(request, timeout=_SECONDS) as answer:
            return json.load(answer)
    except HTTPError as error:
        with error:
            reason = f"{method} {url}: HTTP {error.code} {error.reason}"
        if error.code in (401, 403, 404):
            raise RefusedError(reason) from error
        raise _not_posted(reason) from error
    except (OSError, HTTPException, ValueError) as error:
        raise _not_posted(f"{method} {url}: {getattr(error, 'reason', error)}") from error


def _number(event_path: str) -> int:
    """Return the number of the pull request in the event of a job on GitHub. Raises ProblemsError."""
    try:
        return int(read_json(event_path, None)["pull_request"]["number"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _no_pull_request("the event of GITHUB_EVENT_PATH is none") from error


def _token(env: Mapping[str, str], name: str) -> str:
    if not env.get(name):
        raise RefusedError(f"{name} is not set")
    return env[name]


def _no_pull_request(reason: str) -> ProblemsError:
    hint = "run it in a job on `pull_request` of GitHub, or on `merge_request_event` of GitLab"
    return ProblemsError([Problem("no-pull-request", f"this is no job of a pull request: {reason}", hint=hint)])


def _not_posted(reason: str) -> ProblemsError:
    return ProblemsError([Problem("not-posted", f"the comment is not posted: {reason}")])
