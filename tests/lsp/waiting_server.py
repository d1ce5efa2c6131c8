"""`merge-runner lsp` as a process that looks at no document itself until a file exists; its second process does.

Its arguments are the path of this file, and the seconds for which a document waits for the second process alone:
`python -m tests.lsp.waiting_server FILE SECONDS`.
"""

import os
import sys
import time
from pathlib import Path

from merge_runner.lsp.documents.looking_process import fork_to_look
from merge_runner.lsp.documents.open_documents import OpenDocuments


class WaitingDocuments(OpenDocuments):
    def __init__(self, env, gate):
        super().__init__(env)
        self._gate = gate

    def look(self, path, texts):
        while not self._gate.exists():
            time.sleep(0.01)
        return super().look(path, texts)


if __name__ == "__main__":
    fork = fork_to_look(os.environ)
    from merge_runner.lsp.documents.first_looks import FirstLooks
    from merge_runner.lsp.protocol.frames import serve
    from merge_runner.lsp.protocol.server import make_server

    looks = FirstLooks(WaitingDocuments(os.environ, Path(sys.argv[1])), fork, float(sys.argv[2]))
    with os.fdopen(os.dup(1), "wb") as output:
        serve(make_server(looks), sys.stdin.buffer, output)
