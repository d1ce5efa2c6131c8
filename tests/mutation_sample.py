"""Draws mutants by a seed from all modules of [tool.mutmut], has mutmut run them, and prints the score and what survived.

    python -m tests.mutation_sample 400 --seed 7
    python -m tests.mutation_sample 400 --again        # and those that survived the last time
    python -m tests.mutation_sample 9999 --modules judge bounds --jobs 2    # all of two modules

mutmut generates and runs the mutants, and keeps in `mutants/` what came of each; docs/contributing/quality-report.md has the verdicts.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from hashlib import sha256
from pathlib import Path

from mutmut.__main__ import _run, create_mutants
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.stats import status_by_exit_code
from mutmut.utils.file_utils import copy_also_copy_files, copy_src_dir, setup_source_paths

LEAST = 20
"""Of a small module so many are drawn, or all that there are; each of the others has its share."""


def results() -> dict[str, dict[str, str]]:
    """By module and the name of the mutant: `killed`, `survived`, `no tests`, `not checked` and what else mutmut says."""
    found = {}
    for path in sorted(Path("mutants").rglob("*.py.meta")):
        codes = json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
        found[path.name.removesuffix(".py.meta")] = {name: status_by_exit_code[code] for name, code in codes.items()}
    return {module: names for module, names in found.items() if names}


def generate() -> None:
    """Writes all mutants, as `mutmut run` does first; those of functions that are the same keep their results."""
    set_mutant_under_test("mutant_generation")
    Path("mutants").mkdir(exist_ok=True)
    copy_src_dir()
    copy_also_copy_files()
    setup_source_paths()
    create_mutants(1)
    Path("mutants/mutmut-stats.json").unlink(
        missing_ok=True
    )  # cases of a test that is known may reach more than before


def drawn(number: int, seed: int, chosen: list[str]) -> list[str]:
    """The names of the mutants to run: a larger sample holds the smaller one, and few change when a function does.

    `chosen` are the modules that count; where it is empty, all do.
    """
    modules = results()
    total = sum(map(len, modules.values()))
    names = []
    for module, mutants in modules.items():
        if chosen and module not in chosen:
            continue
        share = max(LEAST, round(number * len(mutants) / total))
        names += sorted(mutants, key=lambda name: sha256(f"{seed} {name}".encode()).digest())[:share]
    return names


def report(names: list[str]) -> None:
    """Prints what came of the mutants of each module, and the diff of each that no test noticed."""
    left = []
    print("| module | mutants | killed | survived | other |\n|---|---|---|---|---|")
    for module, mutants in results().items():
        told = Counter(mutants[name] for name in names if name in mutants)
        other = ", ".join(f"{count} {status}" for status, count in told.items() if status not in ("killed", "survived"))
        print(f"| `{module}` | {told.total()} of {len(mutants)} | {told['killed']} | {told['survived']} | {other} |")
        left += [name for name in names if mutants.get(name) in ("survived", "no tests")]
    for name in left:
        print(f"\n# {name}\n{get_diff_for_mutant(name)}")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("number", type=int, nargs="?", default=400)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--again", action="store_true", help="also run those that survived, once there are more tests")
    parser.add_argument("--modules", nargs="+", default=[], help="draw of these only")
    parser.add_argument("--jobs", type=int, default=1, help="so many mutants at a time")
    given = parser.parse_args()
    generate()
    names = drawn(given.number, given.seed, given.modules)
    known = {name: status for mutants in results().values() for name, status in mutants.items()}
    wanted = ("not checked", "survived", "no tests") if given.again else ("not checked",)
    todo = [name for name in names if known[name] in wanted]
    if todo:
        _run(todo, given.jobs)
    report(names)


if __name__ == "__main__":
    main()
