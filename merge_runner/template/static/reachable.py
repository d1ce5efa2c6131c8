"""Which macro files a text can reach, read without Jinja: more rather than fewer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from merge_runner.text import SourceText

_BY_NAME = "dispatch"
"""What calls a macro whose name may be computed."""


def reachable(
    text: str,
    macro_files: Mapping[str, SourceText],
    sources: Sequence[SourceText],
    packages: Mapping[str, Sequence[SourceText]],
) -> frozenset[str]:
    """Return the paths of the files whose macros the text names, and of those that these files name, and so on.

    `macro_files` are the files by the names of their macros, `packages` those of packages by name: a text that names a
    package reaches all of it. Jinja evaluates a file of macros as a whole, and a macro is called by its name; where
    `adapter.dispatch` can be reached, which takes a text, that is all `sources` and packages.
    """
    paths: dict[str, None] = {}
    waiting = [text]
    while waiting:
        reader = waiting.pop()
        if _BY_NAME in reader:
            packaged = (source.path for files in packages.values() for source in files)
            return frozenset((*(source.path for source in sources), *packaged))
        for name, file in macro_files.items():
            if file.path not in paths and name in reader:
                paths[file.path] = None
                waiting.append(file.text)
        for package, files in packages.items():
            if package in reader:
                waiting += [file.text for file in files if file.path not in paths]
                paths.update((file.path, None) for file in files)
    return frozenset(paths)
