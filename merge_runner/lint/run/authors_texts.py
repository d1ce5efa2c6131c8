"""The authors' texts of the files that lint has looked at, each read when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from merge_runner.errors import Problems
from merge_runner.plan.load.project_context import Prepared
from merge_runner.project.syntax.read_text import read_text
from merge_runner.project_file import Boundary
from merge_runner.text import SourceText


class AuthorsTexts(Mapping[str, SourceText]):
    """Texts by path: those of `paths` that are models, macros or tests, and of `others` that can be read."""

    def __init__(self, prepared: Prepared, paths: AbstractSet[str], others: AbstractSet[str]) -> None:
        self._prepared = prepared
        self._boundary = Boundary(prepared.files.root)
        self._texts = {source.path: source for source in (*prepared.files.macros, *prepared.files.singular_tests)}
        own = (path for path in sorted(paths) if path in prepared.model_names or path in self._texts)
        self._paths = dict.fromkeys((*own, *(path for path in sorted(others - paths) if self.get(path) is not None)))

    def __getitem__(self, path: str) -> SourceText:
        if path not in self._texts:
            source = self._read_source(path)
            if source is None:
                raise KeyError(path)
            self._texts[path] = source
        return self._texts[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def _read_source(self, path: str) -> SourceText | None:
        files, name = self._prepared.files, self._prepared.model_names.get(path)
        if name is not None:
            return files.models[name].source
        if path in files.unsaved:
            return SourceText(path, files.unsaved[path])
        return read_text(files.root / path, path, Problems(), self._boundary)
