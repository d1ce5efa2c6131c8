"""Emacs starts the server as the guide says: eglot shows what lint finds in the text of its buffer, and a verdict."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/guides/editor-support.md").read_text(encoding="utf-8")
MODEL = ROOT / "models/facts/fct_flight.sql"
EMACS = shutil.which("emacs")

SCRIPT = """
(setq eglot-sync-connect 60 eglot-connect-timeout 60 make-backup-files nil create-lockfiles nil)
(find-file (getenv "MODEL"))
(run-hooks 'post-command-hook)  ; as after a command: eglot-ensure waits for one
(search-forward "    and t.flight = s.flight\\n")
(replace-match "    and t.nothing = '😀' and t.flights = s.flight\\n")
(eglot--signal-textDocument/didChange)
(flymake-mode 1)
(flymake-start)
(defun found ()
  (seq-filter (lambda (each) (string-match-p "C009" (flymake-diagnostic-text each))) (flymake-diagnostics)))
(with-timeout (60) (while (< (length (found)) 2) (accept-process-output nil 0.05)))
(goto-char (point-min))
(search-forward "mer")
(let ((hover (jsonrpc-request (eglot--current-server-or-lose) :textDocument/hover
                              (eglot--TextDocumentPositionParams)))
      (places (mapcar (lambda (each)
                        (save-excursion
                          (goto-char (flymake-diagnostic-beg each))
                          (vector (line-number-at-pos) (current-column))))
                      (found))))
  (princ (json-encode `((found . ,(vconcat (sort places (lambda (a b) (< (aref a 1) (aref b 1))))))
                        (hover . ,(plist-get (plist-get hover :contents) :value))))))
"""


@pytest.fixture
def eglot():
    """Skip where there is no Emacs with eglot: one of version 29 or newer, or with the package."""
    asked = [EMACS, "--batch", "--eval", "(package-initialize)", "--eval", "(require 'eglot)"]
    if EMACS is None or subprocess.run(asked, capture_output=True, check=False).returncode:
        pytest.skip("needs Emacs with eglot: apt-get install emacs-nox elpa-eglot")


@pytest.mark.slow
@pytest.mark.usefixtures("eglot")
def test_an_unsaved_change_is_linted_with_the_configuration_of_the_guide(tmp_path, merge_runner_on_path):
    configuration = GUIDE.partition("### The server in Emacs")[2].partition("```elisp\n")[2].partition("```")[0]
    (tmp_path / "init.el").write_text(f"(package-initialize)\n{configuration}(require 'eglot)\n")
    (tmp_path / "test.el").write_text(SCRIPT, encoding="utf-8")
    environment = merge_runner_on_path | {"MODEL": str(MODEL), "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    done = subprocess.run(
        [EMACS, "--batch", "-l", str(tmp_path / "init.el"), "-l", str(tmp_path / "test.el")],
        check=False,
        env=os.environ | environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    line = MODEL.read_text().split("\n").index("    and t.flight = s.flight") + 1
    assert [each[0] for each in shown["found"]] == [line, line]
    assert shown["hover"].startswith("**")
