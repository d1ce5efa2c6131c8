"""`docs serve` answers with regular files of its folder, to requests that name it as their host."""

import http.client
import os
import threading
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from merge_runner.api.pages import serve_folder
from merge_runner.errors import ProblemsError


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "target" / "docs"
    folder.mkdir(parents=True)
    (folder / "index.html").write_text("the page")
    (folder / "manifest.json").write_text("{}")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("a key")
    (tmp_path / "target" / "key").write_text("a key")
    (folder / "link").symlink_to(tmp_path / "secret" / "key")
    (folder / "folder").symlink_to(tmp_path / "secret")
    (folder / "inner").mkdir()
    (folder / "inner" / "link").symlink_to(tmp_path / "secret" / "key")
    (folder / "within").symlink_to("manifest.json")
    os.mkfifo(folder / "pipe")
    return folder


@contextmanager
def served(folder, host="127.0.0.1"):
    address = []
    is_up = threading.Event()

    def started(text):
        address.append(text)
        is_up.set()

    threading.Thread(target=serve_folder, args=(folder, host, 0, started), daemon=True).start()
    assert is_up.wait(30)
    yield urlsplit(address[0]).port


def answer(port, path="/", host="localhost:{port}", method="GET"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.putrequest(method, path, skip_host=True)
    if host is not None:
        connection.putheader("Host", host.format(port=port))
    connection.endheaders()
    response = connection.getresponse()
    return response.status, response.read().decode()


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 200),
        ("/index.html", 200),
        ("/?q=1", 200),
        ("/manifest.json", 200),
        ("/link", 404),
        ("/folder/key", 404),
        ("/folder/", 404),
        ("/inner", 404),
        ("/inner/", 404),
        ("/inner/link", 404),
        ("/within", 404),
        ("/pipe", 404),
        ("/../key", 404),
        ("/%2e%2e/key", 404),
        ("/..%2fkey", 404),
        ("//etc/passwd", 404),
        ("/index.html/", 404),
        ("/none", 404),
        ("/%00", 404),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_regular_files_of_the_folder_are_served(path, status, method, folder):
    with served(folder) as port:
        got, text = answer(port, path, method=method)
    assert got == status
    assert "a key" not in text


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:{port}", 200),
        ("LOCALHOST:{port}", 200),
        ("127.0.0.1:{port}", 200),
        ("[::1]:{port}", 200),
        ("attacker.example:{port}", 421),
        ("localhost.attacker.example:{port}", 421),
        ("localhost", 421),
        ("localhost:1", 421),
        ("attacker.example", 421),
        ("", 421),
        (None, 421),
    ],
)
def test_the_host_of_a_request_is_this_server(host, status, folder):
    with served(folder) as port:
        got, text = answer(port, host=host)
    assert (got, "the page" in text) == (status, status == 200)


@pytest.mark.parametrize(
    ("bound", "host"), [("0.0.0.0", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("127.0.0.1", "127.0.0.1")]
)
def test_the_bound_address_is_a_host(bound, host, folder):
    with served(folder, bound) as port:
        assert answer(port, host=f"{host}:{port}")[0] == 200
        assert answer(port, host=f"attacker.example:{port}")[0] == 421


@pytest.mark.parametrize("name", ["docs", "index.html"])
def test_a_link_is_no_page(name, folder, tmp_path):
    if name == "docs":
        moved = folder.rename(tmp_path / "moved")
        folder.symlink_to(moved)
    else:
        (folder / name).unlink()
        (folder / name).symlink_to(tmp_path / "secret" / "key")
    with pytest.raises(ProblemsError) as error:
        serve_folder(folder, "127.0.0.1", 0, lambda _: None)
    assert [problem.code for problem in error.value.problems] == ["no-docs"]
