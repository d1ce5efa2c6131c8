"""A server of tools as a process, and the client of the SDK that calls it."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


@dataclass(frozen=True)
class Answer:
    """What a call of a tool returned: its texts, and whether it is an error."""

    texts: tuple[str, ...]
    is_error: bool

    @property
    def text(self) -> str:
        """All that it says."""
        return "\n".join(self.texts)


@dataclass(frozen=True)
class Server:
    """A server that runs, and its client."""

    portal: Any
    client: Any
    log: Path
    """What the server has written to standard error."""

    def call(self, tool: str, /, **arguments: Any) -> Answer:
        """Call a tool."""
        result = self.portal.call(self.client.call_tool, tool, arguments)
        return Answer(tuple(content.text for content in result.content), result.is_error)

    def tools(self) -> list[Any]:
        """List the tools."""
        return self.portal.call(self.client.list_tools).tools


@contextmanager
def served(root: Path, *options: str, env: dict[str, str] | None = None):
    """Run `merge-runner mcp` in a project, and give its client."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "merge_runner", "mcp", *options],
        cwd=root,
        env={**os.environ, **(env or {})},
    )
    log = root.with_name(f"{root.name}.log")
    with (
        log.open("w") as errors,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(stdio_client(parameters, errlog=errors))) as client,
    ):
        yield Server(portal, client, log)
