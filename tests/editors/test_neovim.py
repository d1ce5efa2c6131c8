"""Neovim starts the server as the guide says: it shows what lint finds in its buffer, a verdict, and views."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/guides/editor-support.md").read_text(encoding="utf-8")
MODEL = ROOT / "models/facts/fct_flight.sql"
NVIM = shutil.which("nvim")

SCRIPT = """
vim.cmd.edit(vim.env.MODEL)
vim.fn.setline(vim.fn.search("t.flight = s.flight"), "    and t.nothing = '😀' and t.flights = s.flight")
local found = {}
vim.wait(60000, function()
  found = vim.tbl_filter(function(each) return each.code == "C009" end, vim.diagnostic.get(0))
  return #found == 2
end)
table.sort(found, function(a, b) return a.col < b.col end)
local shown = vim.tbl_map(function(each) return { each.source, each.lnum, each.col } end, found)
vim.api.nvim_win_set_cursor(0, { vim.fn.search("^merge into"), 2 })
local client = vim.lsp.get_clients({ bufnr = 0 })[1]
local asked = vim.lsp.util.make_position_params(0, client.offset_encoding)
local hover = client:request_sync("textDocument/hover", asked, 60000, 0).result
dofile(vim.env.COMMANDS)
local window = vim.api.nvim_get_current_win()
local function view(show)
  vim.api.nvim_set_current_win(window)
  show()
  vim.wait(60000, function() return vim.api.nvim_get_current_win() ~= window end)
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n")
end
local lineage = view(vim.cmd.MergeRunnerLineage)
local compiled = view(function() vim.lsp.commands["merge-runner.compile"]({ arguments = { { at = asked } } }) end)
local answer = { found = shown, hover = hover.contents.value, lineage = lineage, compiled = compiled }
io.stdout:write(vim.json.encode(answer))
"""


def version():
    """Return the version of Neovim on this machine: (0, 0) where there is none."""
    if NVIM is None:
        return (0, 0)
    text = subprocess.run([NVIM, "--version"], check=True, capture_output=True, text=True).stdout
    return tuple(int(each) for each in re.match(r"NVIM v(\d+)\.(\d+)", text).groups())


@pytest.mark.slow
@pytest.mark.skipif(version() < (0, 11), reason="needs Neovim 0.11 or newer: `nvim` on PATH")
def test_an_unsaved_change_is_linted_with_the_configuration_of_the_guide(tmp_path, merge_runner_on_path):
    configuration = GUIDE.partition("### The server in Neovim")[2].partition("```lua\n")[2].partition("```")[0]
    (tmp_path / "init.lua").write_text(configuration)
    (tmp_path / "test.lua").write_text(SCRIPT)
    shown_names = GUIDE.partition("## What the language server shows of names")[2].partition("## JSON Schemas")[0]
    (tmp_path / "commands.lua").write_text("\n".join(re.findall(r"```lua\n(.*?)```", shown_names, re.S)))
    given = ["--headless", "-i", "NONE", "-n", "-u", str(tmp_path / "init.lua"), "-l", str(tmp_path / "test.lua")]
    environment = merge_runner_on_path | {"MODEL": str(MODEL), "COMMANDS": str(tmp_path / "commands.lua")}
    environment |= {"XDG_STATE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        [NVIM, *given],
        check=False,
        env=os.environ | environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    line = MODEL.read_text().split("\n").index("    and t.flight = s.flight")
    assert done.stdout, done.stderr
    shown = json.loads(done.stdout)
    # Neovim counts bytes: the character outside of the BMP has four
    assert shown["found"] == [["merge-runner", line, 8], ["merge-runner", line, 31]], done.stderr
    assert shown["hover"].startswith("**static**")
    assert shown["lineage"].startswith("fct_flight (merge)\n  reads stg_flight")
    assert "merge into flights.fct_flight as t" in shown["compiled"]
