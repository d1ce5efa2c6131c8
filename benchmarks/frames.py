"""Print the stack of one plain Delta MERGE, from the command line to `session.sql`: `python benchmarks/frames.py`.

The frames of merge-runner alone, those of the main thread first and then those of the thread of the node; and how many
frames and modules that are.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

from pyspark.sql import SparkSession

from merge_runner.cli.main import main

FILES = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
    "profiles.yml": "shop: {outputs: {dev: {master: 'local[2]', schema: shop}}}\n",
    "seeds/price.csv": "id,v\n1,7\n2,8\n",
    "models/fct.sql": "merge into {{ this }} as t using {{ ref('price') }} as s on t.id = s.id\n"
    "when matched then update set * when not matched then insert *\n",
    "models/fct.yml": "models: [{name: fct, columns: [{name: id, data_type: int}, {name: v, data_type: int}]}]\n",
}


def own_frames(frame: FrameType) -> list[tuple[str, str]]:
    """Return the module and function of each frame of merge-runner, the outermost first."""
    stack = traceback.extract_stack(frame)
    return [
        (each.filename.rpartition("/merge_runner/")[2], each.name)
        for each in stack
        if "/merge_runner/" in each.filename
    ]


def count() -> list[tuple[str, str]]:
    """Build a project of one seed and one MERGE, and return the frames above its `session.sql`."""
    found: list[tuple[str, str]] = []
    sql, main_thread = SparkSession.sql, threading.main_thread().ident

    def seen(self: SparkSession, text: str, *args: Any, **options: Any) -> Any:
        if text.lstrip().lower().startswith("merge") and not found:
            found.extend(own_frames(sys._current_frames()[main_thread or 0]))
            found.extend(own_frames(sys._getframe(1)))
        return sql(self, text, *args, **options)

    SparkSession.sql = seen  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        for path, text in FILES.items():
            (Path(folder) / path).parent.mkdir(exist_ok=True)
            (Path(folder) / path).write_text(text)
        os.chdir(folder)
        try:
            main(["build", "--no-lint"])
        except SystemExit as end:
            if end.code:
                raise
    return found


if __name__ == "__main__":
    frames = count()
    for module, function in frames:
        print(f"{module}: {function}")
    print(f"{len(frames)} frames, {len({module for module, _ in frames})} modules")
