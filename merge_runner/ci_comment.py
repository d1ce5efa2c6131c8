"""The one comment that a CI job has in a pull request of GitHub or a merge request of GitLab: posted, then updated."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, Literal
from urllib.error import HTTPError
from urllib.request import Request, build_opener

from merge_runner.errors import Problem, ProblemsError
from merge_runner.no_redirect import NoRedirect
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
    """The comments of a pull request are at `url`; one is changed by `method`, at its id below `comment_url`.

    The author of a comment is under `author`, with the key `name`. `user_url` says who the token is of; a token that
    may not ask that is of `job_user`, None: such a token posts nothing.
    """

    url: str
    comment_url: str
    user_url: str
    method: Literal["PATCH", "PUT"]
    author: str
    name: str
    job_user: str | None
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
        api = env.get("GITHUB_API_URL", "https://api.github.com")
        issues = f"{api}/repos/{env['GITHUB_REPOSITORY']}/issues"
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
        urls = (f"{issues}/{number}/comments", f"{issues}/comments", f"{api}/user")
        return Thread(*urls, "PATCH", "user", "login", "github-actions[bot]", headers)
    if env.get("CI_MERGE_REQUEST_IID"):
        # In a pipeline of a fork CI_PROJECT_ID is the fork; the number is one of the project to merge into.
        requests = f"{env['CI_API_V4_URL']}/projects/{env['CI_MERGE_REQUEST_PROJECT_ID']}/merge_requests"
        notes = f"{requests}/{env['CI_MERGE_REQUEST_IID']}/notes"
        headers = {"PRIVATE-TOKEN": _token(env, "GITLAB_TOKEN")}
        return Thread(notes, notes, f"{env['CI_API_V4_URL']}/user", "PUT", "author", "username", None, headers)
    raise _no_pull_request("neither GITHUB_EVENT_PATH nor CI_MERGE_REQUEST_IID is set")


def post(thread: Thread, text: str) -> Literal["posted", "updated"]:
    """Post a text, or put it in the place of that which was posted before by the same user with the same first line.

    Raises RefusedError where the token may not do that, ProblemsError for any other failure.
    """
    own_name, first_line = _own_name(thread), text.partition("\n")[0]
    for comment in _comments(thread):
        is_own = (comment.get(thread.author) or {}).get(thread.name) == own_name
        if is_own and str(comment.get("body")).partition("\n")[0].rstrip() == first_line:
            _send(thread, thread.method, f"{thread.comment_url}/{int(comment['id'])}", {"body": text})
            return "updated"
    _send(thread, "POST", thread.url, {"body": text})
    return "posted"


def _own_name(thread: Thread) -> str:
    """Return who posts: another's comment with our first line is no place for our text."""
    try:
        return str(_send(thread, "GET", thread.user_url)[thread.name])
    except RefusedError:
        if thread.job_user is None:
            raise
        return thread.job_user


def _comments(thread: Thread) -> Iterator[Mapping[str, Any]]:
    """Yield all comments: a page may be short before the last one, as it leaves out what the token may not read."""
    for page in range(1, _MOST_PAGES + 1):
        comments = _send(thread, "GET", f"{thread.url}?per_page={_PAGE}&page={page}")
        if not comments:
            return
        yield from comments


def _send(thread: Thread, method: str, url: str, content: Mapping[str, str] | None = None) -> Any:
    body = None if content is None else json.dumps(content).encode()
    request = Request(url, body, {"User-Agent": f"merge-runner/{version()}"}, method=method)
    request.add_header("Content-Type", "application/json")
    for name, value in thread.headers.items():
        request.add_unredirected_header(name, value)  # no other server gets the token
    try:
        with build_opener(NoRedirect).open(request, timeout=_SECONDS) as answer:
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
