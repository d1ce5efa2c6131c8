"""Who hears of a run: webhooks on this machine, real commands, and what neither may do to the run."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from merge_runner import Project
from merge_runner.cli.host import Host
from merge_runner.errors import ProblemsError
from merge_runner.project.schema.notify import Notification
from merge_runner.run.results.notification import DeliveryError, Patience, content_of, send
from tests.fake_engine import FakeDriver, Starts
from tests.fake_engine.projects import model_files

CASES = yaml.safe_load((Path(__file__).parent / "notifications.yml").read_text(encoding="utf-8"))
DOCUMENT = {"project": "shop", "target": "prod", "command": "build", "status": "error"}
DOCUMENT |= {"counts": {}, "failed": [], "problems": []}
QUICK = Patience(request=2.0, pauses=(0.01, 0.01), command=2.0)


class Webhook:
    """A server of this machine that keeps what is posted to it, and answers with statuses in turn, then with 200."""

    def __init__(self, statuses=()):
        self.posts = []
        statuses = list(statuses)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(handler):  # noqa: N805
                body = handler.rfile.read(int(handler.headers["Content-Length"]))
                self.posts.append((handler.path, handler.headers["Content-Type"], body.decode()))
                status = statuses.pop(0) if statuses else 200
                if status is None:
                    return
                handler.send_response(status)
                handler.send_header("Location", f"{self.url}/elsewhere")
                handler.send_header("Content-Length", "0")
                handler.end_headers()

            do_GET = do_POST  # noqa: N815

            def log_message(handler, *_):  # noqa: N805
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @property
    def documents(self):
        return [json.loads(body) for _path, _type, body in self.posts]

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


@pytest.mark.parametrize("case", CASES["contents"], ids=lambda case: case["title"])
def test_content(case):
    notification = Notification(url="https://example.com/x", format=case["format"])
    assert json.loads(content_of(notification, DOCUMENT | case["document"])) == case["content"]


@given(st.lists(st.text(), max_size=30))
def test_a_text_for_people_is_short_and_mentions_nobody(messages):
    failed = [{"name": "m", "message": message} for message in messages]
    text = json.loads(content_of(Notification(url="https://a", format="slack"), DOCUMENT | {"failed": failed}))["text"]
    assert text.count("\n• ") == min(len(messages), 10)
    assert ("more" in text.rpartition("\n")[2]) is (len(messages) > 10) or len(messages) <= 10
    assert "<" not in text
    assert len(text) <= 12 * 1600


@pytest.mark.parametrize("case", CASES["answers"], ids=lambda case: "-".join(map(str, case["statuses"])))
def test_what_a_server_answers(case, tmp_path):
    with Webhook(case["statuses"]) as webhook:
        notification = Notification(url=f"{webhook.url}/path?key=1")
        if "says" in case:
            with pytest.raises(DeliveryError, match=case["says"]):
                send(notification, "{}", tmp_path, QUICK)
        else:
            send(notification, "{}", tmp_path, QUICK)
    assert webhook.posts == [("/path?key=1", "application/json; charset=utf-8", "{}")] * case["requests"]


def test_a_server_that_does_not_answer_is_waited_for_in_time(tmp_path):
    silent = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)  # nobody accepts the connection
    url = f"http://127.0.0.1:{silent.server_port}"
    with pytest.raises(DeliveryError, match="timed out"):
        send(Notification(url=url), "{}", tmp_path, Patience(request=0.2, pauses=(0.01,)))
    silent.server_close()
    with pytest.raises(DeliveryError, match="refused"):
        send(Notification(url=url), "{}", tmp_path, QUICK)


@pytest.mark.parametrize("case", CASES["commands"], ids=lambda case: case["program"])
def test_how_a_command_ends(case, tmp_path):
    notification = Notification(command=(sys.executable, "-c", case["program"]))
    content = json.dumps({"text": "x" * 1_000_000})
    if "says" not in case:
        send(notification, content, tmp_path, QUICK)
        return
    with pytest.raises(DeliveryError) as error:
        send(notification, content, tmp_path, QUICK)
    assert str(error.value) == case["says"]


def test_a_command_that_is_not_there(tmp_path):
    with pytest.raises(DeliveryError, match="No such file"):
        send(Notification(command=("no-such-program",)), "{}", tmp_path, QUICK)


def write(make_project, notify, **more):
    output = {"master": "local[2]", "schema": "s", "notify": notify, **more}
    profile = yaml.safe_dump({"shop": {"outputs": {"prod": output}}})
    return make_project({**model_files({"m": None, "n": {"parents": ["m"]}}), "profiles.yml": profile})


def test_a_failed_build_is_told_and_a_good_one_where_all_are_wanted(make_project, tmp_path):
    keep = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read() + '\\n')"
    with Webhook() as failures, Webhook() as every:
        notify = [
            {"url": f"{failures.url}/a"},
            {"url": f"{every.url}/b", "on": "always", "format": "slack"},
            {"command": [sys.executable, "-c", keep, str(tmp_path / "told")]},
        ]
        root = write(make_project, notify)
        good = Project.load(root).build(driver=FakeDriver(), lint=False)
        bad = Project.load(root).build(driver=FakeDriver(None, {"m": ["fails"]}), lint=False)
    assert (good.ok, bad.ok) == (True, False)
    (document,) = failures.documents
    assert json.loads((tmp_path / "told").read_text()) == document
    assert {key: document[key] for key in ("version", "project", "target", "command", "invocation_id", "status")} == {
        "version": 1,
        "project": "shop",
        "target": "prod",
        "command": "build",
        "invocation_id": bad.invocation_id,
        "status": "error",
    }
    assert document["counts"] == {"error": 1, "skipped": 1}
    assert document["elapsed_seconds"] >= 0
    (failure,) = document["failed"]
    assert (failure["unique_id"], failure["name"], failure["path"]) == ("model.shop.m", "m", "models/m.sql")
    assert "Division by zero" in failure["message"]
    texts = [document["text"].partition("\n")[0] for document in every.documents]
    assert texts == ["shop on prod: build succeeded: 2 success", "shop on prod: build failed: 1 error, 1 skipped"]


def test_a_run_that_cannot_start_is_told(make_project):
    with Webhook() as webhook:
        root = write(make_project, [{"url": webhook.url}])
        with pytest.raises(ProblemsError):
            Project.load(root, start=Starts()).build(lint=False)
    (document,) = webhook.documents
    assert document["status"] == "error"
    assert document["problems"] == ["Spark did not start [spark-not-started]"]


def test_who_cannot_be_told_changes_no_result_and_is_shown_without_its_address(make_project, capfd):
    from merge_runner.cli.main import main

    with Webhook([404]) as webhook:
        secret = "T0001/B0002/XYZ-secret-of-a-webhook"
        root = write(make_project, [{"url": f"{webhook.url}/{secret}", "on": "always"}])
        with pytest.raises(SystemExit) as end:
            main(["build", "--no-lint", "--debug", "--project-dir", str(root)], Host(start=Starts(FakeDriver())))
    shown = capfd.readouterr()
    assert end.value.code == 0
    assert "warning: notify: 127.0.0.1 is not notified of the run: HTTP 404" in shown.err
    kept = [path.read_text(errors="replace") for path in (root / "target").rglob("*") if path.is_file()]
    assert not any(secret in text for text in (shown.out, shown.err, *kept))
    assert secret in webhook.posts[0][0]


def test_debug_shows_what_was_sent(make_project, capfd):
    from merge_runner.cli.main import main

    with Webhook() as webhook:
        root = write(make_project, [{"url": webhook.url, "on": "always", "format": "slack"}])
        with pytest.raises(SystemExit):
            main(["build", "--no-lint", "--debug", "--project-dir", str(root)], Host(start=Starts(FakeDriver())))
    sent = [line for line in capfd.readouterr().err.splitlines() if "notification_sent" in line]
    assert [json.loads(json.loads(line)["content"]) for line in sent] == webhook.documents


def test_messages_hold_no_secret(make_project, monkeypatch):
    monkeypatch.setenv("API_TOKEN", "s3cr3t-of-a-message")
    with Webhook() as webhook:
        root = write(make_project, [{"url": webhook.url}], conf={"spark.api.token": "{{ env_var('API_TOKEN') }}"})
        broken = "{{ config(pre_hook=\"select '\" ~ env_var('API_TOKEN') ~ \"'\") }}\n"
        model = root / "models" / "m.sql"
        model.write_text(broken + model.read_text())
        driver = FakeDriver(None, {"select 's3cr3t": ["fails"]}, answers={"select": []})
        assert not Project.load(root).build(driver=driver, lint=False).ok
    ((_path, _type, body),) = webhook.posts
    assert "s3cr3t" not in body
    assert "*****" in body


@pytest.mark.parametrize("command", ["lint", "ls", "parse", "compile", "docs generate", "explain m", "lineage"])
def test_where_nothing_is_built_no_command_runs(make_project, tmp_path, command, capfd):
    from merge_runner.cli.main import main

    keep = "import sys; open(sys.argv[1], 'w')"
    root = write(make_project, [{"command": [sys.executable, "-c", keep, str(tmp_path / "told")], "on": "always"}])
    with pytest.raises(SystemExit):
        main([*command.split(), "--project-dir", str(root)])
    capfd.readouterr()
    assert not (tmp_path / "told").exists()


def test_a_run_that_is_stopped_tells_nobody(make_project):
    with Webhook() as webhook:
        root = write(make_project, [{"url": webhook.url, "on": "always"}])
        with pytest.raises(KeyboardInterrupt):
            Project.load(root).build(driver=FakeDriver(None, {"m": ["interrupts"]}), lint=False)
    assert webhook.posts == []
