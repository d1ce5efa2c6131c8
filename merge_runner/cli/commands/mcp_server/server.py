"""The messages of the protocol: which tools there are, and what a call of one returns."""

from __future__ import annotations

import anyio
import anyio.to_thread
from jsonschema import Draft202012Validator
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as ToolDescription

from merge_runner.cli.commands.mcp_server.arguments import input_schema
from merge_runner.cli.commands.mcp_server.call import CommandResult
from merge_runner.cli.commands.mcp_server.session import Session
from merge_runner.cli.commands.mcp_server.tools import Tool
from merge_runner.version import version

_INSTRUCTIONS = (
    "merge-runner builds SQL MERGE models on Spark. After an edit of a model call lint, and test where it has unit "
    "tests; show previews the rows that a merge would change. A result is the JSON of the command of the same name."
)


def serve(session: Session) -> None:
    """Serve the tools of a session on standard input and output, until the client hangs up."""
    anyio.run(_serve, session)


async def _serve(session: Session) -> None:
    server = _server(session)
    try:
        async with stdio_server() as (reader, writer):
            await server.run(reader, writer, server.create_initialization_options())
    finally:
        session.close()


def _server(session: Session) -> Server:
    tools = {tool.name: tool for tool in session.tools}
    descriptions = [_description(tool) for tool in session.tools]
    limiter = anyio.CapacityLimiter(1)  # a command has the standard output of the process

    async def list_tools(_context: object, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=descriptions)

    async def call_tool(_context: object, params: CallToolRequestParams) -> CallToolResult:
        tool, arguments = tools.get(params.name), params.arguments or {}
        if tool is None:
            return _failure(f"there is no tool {params.name!r}: there are {', '.join(tools)}")
        faults = list(Draft202012Validator(input_schema(tool)).iter_errors(arguments))
        if faults:
            return _failure("\n".join(f"{tool.name}: {fault.json_path}: {fault.message}" for fault in faults))
        result = await anyio.to_thread.run_sync(session.call, tool, arguments, limiter=limiter)
        return _answer(tool, result)

    return Server(
        "merge-runner",
        version=version(),
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _description(tool: Tool) -> ToolDescription:
    annotations = ToolAnnotations(read_only_hint=not tool.writes, open_world_hint=False)
    schema = input_schema(tool)
    return ToolDescription(name=tool.name, description=tool.description, input_schema=schema, annotations=annotations)


def _answer(tool: Tool, result: CommandResult) -> CallToolResult:
    """Return the JSON of a command, then its messages, where there are any."""
    texts = [text for text in (result.output, result.messages) if text]
    return CallToolResult(
        content=[TextContent(text=text) for text in texts], is_error=result.status not in tool.answers
    )


def _failure(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=message)], is_error=True)
