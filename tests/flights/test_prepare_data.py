"""demo/prepare_data.py on small files: what it writes, what it leaves alone, what it refuses."""

import hashlib
import importlib.util
import sys
import zipfile

import pytest

from .expected import ROOT

spec = importlib.util.spec_from_file_location("prepare_data", ROOT / "demo" / "prepare_data.py")
prepare_data = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = prepare_data  # where a dataclass looks up its module
spec.loader.exec_module(prepare_data)

PLAIN = b"carrier,name\nUA,United Air Lines Inc.\n"
ZIPPED = b"flight\n1\n2\n"


def table(name, content, rows):
    return prepare_data.Table(name, rows, hashlib.sha256(content).hexdigest())


TABLES = (table("airlines.csv", PLAIN, 1), table("flights.csv", ZIPPED, 2))


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "airlines.csv").write_bytes(PLAIN)
    with zipfile.ZipFile(folder / "flights.csv.zip", "w") as archive:
        archive.writestr("flights.csv", ZIPPED)
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_plain_and_zipped_files_are_written_as_they_are(source, tmp_path):
    target = tmp_path / "data"
    assert prepare_data.prepare(source, target, TABLES) == list(TABLES)
    assert (target / "airlines.csv").read_bytes() == PLAIN
    assert (target / "flights.csv").read_bytes() == ZIPPED
    assert names(target) == ["airlines.csv", "flights.csv"]


def test_files_that_are_right_stay_untouched(source, tmp_path):
    target = tmp_path / "data"
    prepare_data.prepare(source, target, TABLES)
    before = {path.name: path.stat().st_mtime_ns for path in target.iterdir()}
    assert prepare_data.prepare(source, target, TABLES) == []
    assert {path.name: path.stat().st_mtime_ns for path in target.iterdir()} == before


def test_a_damaged_file_is_written_again(source, tmp_path):
    target = tmp_path / "data"
    prepare_data.prepare(source, target, TABLES)
    (target / "flights.csv").write_bytes(ZIPPED[:-1])
    assert prepare_data.prepare(source, target, TABLES) == [TABLES[1]]
    assert (target / "flights.csv").read_bytes() == ZIPPED


def test_a_source_with_another_content_is_refused_and_leaves_nothing(source, tmp_path):
    target = tmp_path / "data"
    (source / "airlines.csv").write_bytes(b"carrier,name\nUA,Another\n")
    with pytest.raises(prepare_data.DataError, match="SHA-256 differs"):
        prepare_data.prepare(source, target, TABLES)
    assert names(target) == []


def test_a_wrong_number_of_rows_is_refused(source, tmp_path):
    target = tmp_path / "data"
    with pytest.raises(prepare_data.DataError, match="has 1 rows instead of 7"):
        prepare_data.prepare(source, target, (table("airlines.csv", PLAIN, 7),))
    assert names(target) == []


def test_a_source_without_the_file_is_named(source, tmp_path):
    with pytest.raises(prepare_data.DataError, match=r"neither planes\.csv nor planes\.csv\.zip"):
        prepare_data.prepare(source, tmp_path / "data", (table("planes.csv", b"", 0),))


def test_a_missing_package_is_an_error_that_says_what_to_install(tmp_path, capsys):
    assert prepare_data.main(["--to", str(tmp_path)], package="no_flights") == 2
    assert capsys.readouterr().err == "prepare_data: no_flights is not installed: pip install 'no_flights==0.0.3'\n"
