"""The client of tests that need no other one."""

from collections.abc import Iterator

import pytest

from tests.lsp.client import Editor


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    """Give a client with a server, which all tests of a module share."""
    found = Editor()
    yield found
    found.stop()
