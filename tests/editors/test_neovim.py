"""Neovim starts the server as the guide says: it shows what lint finds in the text of its buffer, and a verdict."""

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
io.stdout:write(vim.json.encode({ found = shown, hover = hover.contents.value }))
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
    given = ["--headless", "-i", "NONE", "-n", "-u", str(tmp_path / "init.lua"), "-l", str(tmp_path / "test.lua")]
    environment = merge_runner_on_path | {"MODEL": str(MODEL), "XDG_STATE_HOME": str(tmp_path), "HOME": str(tmp_path)}
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
    shown = json.loads(done.stdout)
    # Neovim counts bytes: the character outside of the BMP has four
    assert shown["found"] == [["merge-runner", line, 8], ["merge-runner", line, 31]], done.stderr
    assert shown["hover"].startswith("**static**")
