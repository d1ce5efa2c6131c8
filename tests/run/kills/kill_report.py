"""Kills builds and streams at every moment there is, and prints what came of it: `python -m tests.run.kills.kill_report`."""

import argparse
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from merge_runner.engine.startup import start_driver
from merge_runner.project.schema.profile import Profile
from tests.run.kills.kill_scenarios import SCENARIOS
from tests.run.kills.kills import Lane, reader, run, summary


def tell(one, found):
    """Keeps what came of one kill, and prints it."""
    found.append(one)
    print(one, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=", ".join(SCENARIOS))
    parser.add_argument("--every", type=int, default=1, help="every Nth moment alone")
    parser.add_argument("--begin", type=int, default=1, help="the first moment")
    parser.add_argument("--delays", default="0", help="seconds behind each moment, separated by commas")
    parser.add_argument("--lanes", type=int, default=1, help="how many points at once")
    parser.add_argument(
        "--then", default="", help="at which moments what goes on with it is killed, one after the other"
    )
    asked = parser.parse_args()
    then = asked.then.split(",") if asked.then else []
    found = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        unused = {"type": "embedded"}  # the jars of the projects, and with them their class-data archive
        profile = Profile(
            "kills", "kills", schema="kills", master="local[2]", warehouse="w", catalogs={"unused": unused}
        )
        driver = start_driver(profile, root, root / "spark.log", os.environ)
        try:
            for name in asked.scenarios or SCENARIOS:
                with ExitStack() as lanes:
                    made = [
                        lanes.enter_context(
                            Lane(name, root / f"{name}{number}".replace(" ", "_"), reader(driver.spark))
                        )
                        for number in range(asked.lanes)
                    ]
                    print(f"{name}: {len(made[0].moments)} moments", flush=True)
                    points = [
                        (f"{number}+{delay}" if float(delay) else str(number), *then)
                        for number in range(asked.begin, len(made[0].moments) + 1, asked.every)
                        for delay in asked.delays.split(",")
                    ]
                    run(made, points, lambda one: tell(one, found))
        except KeyboardInterrupt:
            print("stopped; what was killed until then:")
        finally:
            driver.stop()
    text, well = summary(found)
    print(text)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
