"""When a node that takes long is announced where there is no terminal."""

import pytest

from merge_runner.cli.display.announcer import Announcer
from merge_runner.cli.display.display import TextDisplay
from merge_runner.run.results.event_types import NodeFinished, NodeStarted, Running
from merge_runner.run.results.events import Events


class Clock:
    """Seconds that go by when a test says so."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize(
    ("expected", "seconds", "announced"),
    [
        (None, 9, []),
        (None, 10, [10]),
        (None, 59, [10]),
        (None, 185, [10, 60, 120, 180]),
        (2.0, 12, [10]),
        (600.0, 5, [0]),
        (600.0, 61, [0, 60]),
    ],
)
def test_a_long_node_is_announced_when_it_starts_and_every_minute(expected, seconds, announced):
    clock, said = Clock(), []
    announcer = Announcer(lambda name, so_far: said.append((name, round(so_far))), clock)
    announcer.started("model.p.a", "a", expected)
    for _ in range(seconds):
        clock.now += 1
        announcer.look()
    assert said == [("a", each) for each in announced]
    announcer.finished("model.p.a")
    clock.now += 600
    announcer.look()
    assert len(said) == len(announced)


def test_after_a_pause_no_line_is_caught_up():
    clock, said = Clock(), []
    announcer = Announcer(lambda name, so_far: said.append(so_far), clock)
    announcer.started("model.p.a", "a", None)
    clock.now += 500  # the machine slept
    announcer.look()
    announcer.look()
    assert said == [500]


def test_off_a_terminal_the_lines_are_aligned_with_the_results(capfd):
    clock = Clock()
    display = TextDisplay(quiet=False, debug=False, clock=clock)
    events = Events(display)
    events.emit(Running(nodes=12, threads=2))
    events.emit(NodeStarted(node="model.p.a", name="a", label="a", group="g/a", expected=75.0))
    clock.now += 75
    display.announcer.look()
    result = {"status": "success", "message": "2 inserted", "execution_time": 80.5, "timing": [{}]}
    events.emit(NodeFinished(node="model.p.a", name="a", label="a", result=result))
    assert capfd.readouterr().err.splitlines()[1:] == [
        "      START           a",
        "      RUN       75 s  a",
        " 1/12 OK     80.50 s  a  2 inserted",
    ]


def test_quiet_announces_nothing(capfd):
    clock = Clock()
    display = TextDisplay(quiet=True, debug=False, clock=clock)
    Events(display).emit(NodeStarted(node="model.p.a", name="a", label="a", group="g/a", expected=75.0))
    assert capfd.readouterr().err == ""
