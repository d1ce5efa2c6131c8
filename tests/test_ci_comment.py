"""`post-comment`, against a server that answers as the APIs of GitHub and GitLab do."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from merge_runner.ci_comment import marker
from merge_runner.cli.main import main
from tests.yaml_data import read_yaml

PAYLOADS = read_yaml(Path(__file__).with_name("ci_comment.yml"))
TEXT = f"{marker('shop')}\n**merge-runner**: this branch changes no model.\n"
PATHS = {
    "github": ("/repos/octocat/Hello-World/issues/1347/comments", "/repos/octocat/Hello-World/issues/comments"),
    "gitlab": ("/projects/5/merge_requests/11/notes", "/projects/5/merge_requests/11/notes"),
}
TOKENS = {"github": ("Authorization", "Bearer secret-token"), "gitlab": ("PRIVATE-TOKEN", "secret-token")}
USER = {"id": 1, "username": "project_5_bot", "name": "ci", "state": "active", "bot": True}
UPDATES = {"github": "PATCH", "gitlab": "PUT"}


class Service:
    """The comments of one pull request; `refused` maps a method to the status of its answer."""

    def __init__(self, name):
        self.name = name
        self.bodies = {}
        self.strangers = set()
        self.requests = []
        self.refused = {}

    def answer(self, handler):
        """Return the status of a request, and the value of its answer."""
        method, url = handler.command, urlsplit(handler.path)
        self.requests.append(f"{method} {handler.path}")
        content = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        header, token = TOKENS[self.name]
        if handler.headers.get(header) != token:
            return 401, {"message": "401 Unauthorized"}
        if url.path == "/user":
            return (403, PAYLOADS[self.name]["refusal"]) if self.name == "github" else (200, USER)
        if method in self.refused:
            return self.refused[method], PAYLOADS[self.name]["refusal"]
        thread, comments = PATHS[self.name]
        if method == "GET" and url.path == thread:
            query = {key: int(values[0]) for key, values in parse_qs(url.query).items()}
            begin = (query["page"] - 1) * query["per_page"]
            return 200, [self.comment(key) for key in list(self.bodies)[begin : begin + query["per_page"]]]
        body = json.loads(content)["body"]
        if method == "POST" and url.path == thread:
            key = max(self.bodies, default=0) + 1
            self.bodies[key] = body
            return 201, self.comment(key)
        key = int(url.path.removeprefix(f"{comments}/"))
        if method == UPDATES[self.name] and key in self.bodies:
            self.bodies[key] = body
            return 200, self.comment(key)
        return 404, {"message": "Not Found"}

    def comment(self, key):
        """Return the payload of a comment."""
        payload = PAYLOADS[self.name]["comment"] | {"id": key, "body": self.bodies[key]}
        author = "user" if self.name == "github" else "author"
        stranger = {author: payload[author] | {"login": "mallory", "username": "mallory"}}
        return payload | (stranger if key in self.strangers else {})


@pytest.fixture(params=["github", "gitlab"])
def service(request, tmp_path, monkeypatch):
    """A service on this machine, in whose job the process runs."""
    service = Service(request.param)

    class Handler(BaseHTTPRequestHandler):
        def handle_request(self):
            status, value = service.answer(self)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(value).encode())

        do_GET = do_POST = do_PATCH = do_PUT = handle_request  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    api, event = f"http://127.0.0.1:{server.server_port}", tmp_path / "event.json"
    event.write_text(json.dumps(PAYLOADS["github"]["event"]))
    variables = {
        "github": {
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_API_URL": api,
            "GITHUB_REPOSITORY": "octocat/Hello-World",
            "GITHUB_TOKEN": "secret-token",
        },
        "gitlab": {
            "CI_MERGE_REQUEST_IID": "11",
            "CI_API_V4_URL": api,
            "CI_PROJECT_ID": "77",  # a fork
            "CI_MERGE_REQUEST_PROJECT_ID": "5",
            "GITLAB_TOKEN": "secret-token",
        },
    }
    for names in variables.values():
        for name in names:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    for name, value in {**variables[request.param], "no_proxy": "127.0.0.1"}.items():
        monkeypatch.setenv(name, value)
    yield service
    server.shutdown()
    server.server_close()


@pytest.fixture
def post(tmp_path, capsys):
    """Posts a text; returns the exit status, and what is on standard output and error."""

    def run(text=TEXT):
        file = tmp_path / "comment.md"
        file.write_text(text, encoding="utf-8")
        with pytest.raises(SystemExit) as end:
            main(["post-comment", str(file)])
        streams = capsys.readouterr()
        assert "secret-token" not in streams.out + streams.err
        return end.value.code, streams.out, streams.err

    return run


def test_the_first_is_posted_and_the_next_updates_it(service, post):
    assert post() == (0, "", "the comment is posted\n")
    assert post(TEXT.replace("no model", "`fct`")) == (0, "", "the comment is updated\n")
    assert service.bodies == {1: TEXT.replace("no model", "`fct`")}
    thread, comments = PATHS[service.name]
    pages = [f"GET {thread}?per_page=100&page={page}" for page in (1, 2)]
    assert service.requests == [
        *("GET /user", pages[0], f"POST {thread}"),
        *("GET /user", pages[0], f"{UPDATES[service.name]} {comments}/1"),
    ]


def test_a_comment_of_somebody_else_is_left_alone(service, post):
    service.bodies, service.strangers = {1: TEXT}, {1}
    assert post(TEXT + "é") == (0, "", "the comment is posted\n")
    assert service.bodies == {1: TEXT, 2: TEXT + "é"}
    assert post(TEXT + "e") == (0, "", "the comment is updated\n")
    assert service.bodies == {1: TEXT, 2: TEXT + "e"}


def test_it_is_found_on_a_later_page_among_comments_of_others(service, post):
    service.bodies = dict.fromkeys(range(1, 231), f"> {TEXT}") | {150: "", 225: TEXT}
    assert post(TEXT + "é") == (0, "", "the comment is updated\n")
    assert (service.bodies[225], service.bodies[1]) == (TEXT + "é", f"> {TEXT}")
    assert sum("page=" in request for request in service.requests) == 3


@pytest.mark.parametrize("refused", ["GET", "POST", "update"])
def test_a_job_that_may_not_comment_tells_it_elsewhere(service, post, refused, tmp_path, monkeypatch):
    if refused == "update":
        service.bodies[1] = TEXT
    service.refused = {UPDATES[service.name] if refused == "update" else refused: 403}
    status, out, err = post()
    assert (status, out) == (0, TEXT)
    assert "no comment is posted, as the job may not" in err and "HTTP 403" in err
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    assert post()[:2] == (0, "")
    assert (tmp_path / "summary.md").read_text() == f"{TEXT}\n"


def test_without_a_token_nothing_is_asked(service, post, monkeypatch):
    monkeypatch.delenv("GITHUB_TOKEN" if service.name == "github" else "GITLAB_TOKEN")
    status, out, err = post()
    assert (status, out, service.requests) == (0, TEXT, [])
    assert "_TOKEN is not set" in err


@pytest.mark.parametrize("status", [301, 422, 502])
def test_any_other_failure_is_an_error(service, post, status):
    service.refused = {"POST": status}
    code, out, err = post()
    assert (code, out) == (2, "")
    assert "the comment is not posted: POST http://127.0.0.1:" in err and f"HTTP {status}" in err


def test_outside_of_a_pull_request_nothing_is_posted(service, post, tmp_path, monkeypatch):
    monkeypatch.delenv("CI_MERGE_REQUEST_IID", raising=False)
    (tmp_path / "event.json").write_text('{"ref": "refs/heads/main"}')
    code, _, err = post()
    assert (code, service.requests) == (2, [])
    assert "this is no job of a pull request" in err


@pytest.mark.parametrize("text", ["", "hello", f"x {TEXT}"])
def test_another_text_is_refused(service, post, text):
    code, _, err = post(text)
    assert (code, service.requests) == (2, [])
    assert "does not begin with" in err
