"""A copy of the flights project with some days alone, and its tables in Spark as `expected` compares them."""

import shutil

from . import expected


def copy_of_days(root, *beginnings):
    """Copy the project to `root` with the flights and the weather of some days (`2013,1,31,`)."""
    for name in ("models", "macros", "seeds", "data_tests", "data"):
        shutil.copytree(expected.ROOT / name, root / name)
    shutil.copy(expected.ROOT / "pyproject.toml", root)
    for name in ("flights.csv", "weather.csv"):
        header, *lines = (expected.DATA / name).read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if line.startswith(beginnings) or line[4:].startswith(beginnings)]  # EWR,2013
        (root / "data" / name).write_text(header + "".join(kept), encoding="utf-8")
    return root


def table_fingerprint(session, table):
    """The fingerprint of a table in Spark, without bringing its rows to Python."""
    frame = session.table(table)
    texts = ", ".join(_as_text(column) for column in frame.schema)
    codes = frame.selectExpr(f"crc32(concat_ws('|', {texts})) as code")
    row = codes.selectExpr("count(*) as rows", "coalesce(sum(code), 0) as checksum").first()
    return expected.Fingerprint(**row.asDict())


def _as_text(column):
    """SQL for what `expected.text` does."""
    value = f"unix_seconds({column.name})" if column.dataType.simpleString() == "timestamp" else column.name
    return f"coalesce(cast({value} as string), '~')"
