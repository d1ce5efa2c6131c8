"""Notifies the webhooks and commands of the profile of the end of a run. Whatever happens there, no result changes."""

from __future__ import annotations

import json
import ssl
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPSHandler, OpenerDirector, ProxyHandler, Request, build_opener

from merge_runner.graph.artifact import utc
from merge_runner.graph.graph import Graph
from merge_runner.no_redirect import NoRedirect
from merge_runner.plan.load.project_context import Prepared
from merge_runner.project.load.find_project import PYPROJECT
from merge_runner.project.schema.notify import Notification, is_loopback
from merge_runner.run.results.event_types import NotificationFailed, NotificationSent
from merge_runner.run.results.events import Events
from merge_runner.run.results.results import Result, RunResults
from merge_runner.version import version

_MOST_LINES = 10
"""Failures that a text for people names."""
_LONGEST_LINE = 300
_LAST_LINES = 20
"""Lines of the output of a command that failed."""


@dataclass(frozen=True)
class Patience:
    """How long a run waits for a webhook or a command, in seconds."""

    request: float = 10.0
    """For an answer of a webhook."""
    pauses: tuple[float, ...] = (1.0, 3.0)
    """Before a request is sent again, where the network or the server fails."""
    command: float = 60.0
    """For the end of a command, which is killed then."""


class DeliveryError(Exception):
    """Why a notification was not delivered."""


def run_document(prepared: Prepared, run: RunResults, problems: Sequence[str] = ()) -> dict[str, Any]:
    """Return what a notification says of a run, without secrets. `problems` say why nothing has run."""
    graph, target = prepared.graph, prepared.files.profile.target
    document = {
        "version": 1,
        "merge_runner": version(),
        "project": graph.project,
        "target": target,
        "command": run.command,
        "invocation_id": run.invocation_id,
        "status": "success" if run.ok and not problems else "error",
        "started_at": utc(run.started_at),
        "elapsed_seconds": round((run.completed_at - run.started_at).total_seconds(), 3),
        "counts": run.counts(),
        "failed": [_failure(result, graph) for result in run.failed],
        "problems": list(problems),
    }
    concealed: dict[str, Any] = prepared.concealed(document)
    return concealed


def _failure(result: Result, graph: Graph) -> dict[str, Any]:
    node = graph.nodes.get(result.unique_id)
    return {
        "unique_id": result.unique_id,
        "name": node.full_name if node is not None else result.unique_id.rpartition(".")[2],
        "status": result.status,
        "message": result.message or "",
        "path": node.path if node is not None else PYPROJECT,  # else it is a hook of the run
    }


def notify(prepared: Prepared, document: Mapping[str, Any], events: Events, patience: Patience = Patience()) -> None:
    """Notify each webhook and command that wants to hear of such a run. What fails is an event."""
    for notification in prepared.files.profile.notify:
        if notification.on == "failure" and document["status"] == "success":
            continue
        receiver, content = notification.receiver, content_of(notification, document)
        try:
            send(notification, content, prepared.files.root, patience)
        except DeliveryError as error:
            message = f"notify: {receiver} is not notified of the run: {error}"
            events.emit(NotificationFailed(receiver=receiver, message=message))
        else:
            events.emit(NotificationSent(receiver=receiver, content=content))


def content_of(notification: Notification, document: Mapping[str, Any]) -> str:
    """Return the JSON text that a webhook or a command gets."""
    lines = _lines(document)
    if notification.format == "slack":
        content: Mapping[str, Any] = {"text": "\n".join(map(_escape_for_slack, lines))}
    elif notification.format == "teams":
        content = _teams_message(lines)
    else:
        content = document
    return json.dumps(content, ensure_ascii=False, default=str)


def _lines(document: Mapping[str, Any]) -> list[str]:
    """Return the text for people: what has run with its counts, then what failed."""
    counts = ", ".join(f"{count} {status}" for status, count in document["counts"].items())
    outcome = "failed" if document["status"] == "error" else "succeeded"
    head = f"{document['project']} on {document['target']}: {document['command']} {outcome}"
    failures = [f"{failure['name']}: {failure['message']}" for failure in document["failed"]] + document["problems"]
    lines = [head + (f": {counts}" if counts else "")]
    lines += [f"• {_shortened(failure)}" for failure in failures[:_MOST_LINES]]
    if len(failures) > _MOST_LINES:
        lines.append(f"… and {len(failures) - _MOST_LINES} more")
    return lines


def _shortened(text: str) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…"


def _escape_for_slack(text: str) -> str:
    """Return a text that mentions nobody (`<!channel>`) and links nothing."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _teams_message(lines: Sequence[str]) -> dict[str, Any]:
    """Return the message with an adaptive card that a workflow of Teams takes. In a RichTextBlock no text is markup."""
    body = [{"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": line}]} for line in lines]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.2",
        "body": body,
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [attachment]}


def send(notification: Notification, content: str, folder: Path, patience: Patience) -> None:
    """Post the content to the webhook, or run the command with it in a folder. Raises DeliveryError."""
    body = content.encode("utf-8", "replace")
    if notification.url is not None:
        _post(notification.url, body, patience)
    elif notification.command is not None:
        _run(notification.command, body, folder, patience)


def _post(url: str, body: bytes, patience: Patience) -> None:
    headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": f"merge-runner/{version()}"}
    opener = _opener(url)
    for pause in (*patience.pauses, None):
        try:
            with opener.open(Request(url, body, headers, method="POST"), timeout=patience.request):
                return
        except HTTPError as error:
            with error:
                reason, is_passing = f"HTTP {error.code} {error.reason}", error.code >= 500
        except (OSError, HTTPException, ValueError) as error:
            reason, is_passing = str(getattr(error, "reason", error)) or type(error).__name__, True
        if pause is None or not is_passing:
            raise DeliveryError(reason)
        time.sleep(pause)


def _opener(url: str) -> OpenerDirector:
    handlers = [NoRedirect(), HTTPSHandler(context=ssl.create_default_context())]
    if is_loopback(urlsplit(url)):
        handlers.append(ProxyHandler({}))  # a proxy would look for it on its own machine
    return build_opener(*handlers)


def _run(command: Sequence[str], body: bytes, folder: Path, patience: Patience) -> None:
    try:
        done = subprocess.run(
            command,
            input=body,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            timeout=patience.command,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DeliveryError(f"it has not ended after {patience.command:g} s, and is killed") from None
    except OSError as error:
        raise DeliveryError(str(error.strerror)) from error
    except ValueError as error:
        raise DeliveryError(str(error)) from error
    if done.returncode != 0:
        output = done.stdout.decode("utf-8", "replace").strip().splitlines()[-_LAST_LINES:]
        raise DeliveryError("\n    ".join((f"its exit status is {done.returncode}", *output)))
