"""Which messages arrive, whatever is between them and however the input is cut."""

import io
import logging
import random
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygls.io_ import run

from merge_runner.lsp.protocol.frames import Frames


class Pieces(io.BytesIO):
    """A stream whose content comes in pieces of random sizes."""

    def __init__(self, content, seed=0):
        super().__init__(content)
        self._sizes = random.Random(seed)

    def read1(self, size=-1):
        return super().read1(min(size, self._sizes.choice([1, 7, 100, size])))


class Received:
    """What takes the messages of pygls."""

    def __init__(self):
        self.messages = []

    def structure_message(self, message):
        return message

    def handle_message(self, message):
        self.messages.append(message)


def received(content, seed=0):
    found = Received()
    quiet = logging.Logger("quiet", logging.CRITICAL)
    run(Event(), Frames(Pieces(content, seed)), found, quiet)
    return found.messages


def frame(body):
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


BODIES = [
    b"[1]",
    b'["a\\r\\nContent-Length: 4\\r\\n"]',
    '["😀"]'.encode(),
    b'[\n  "a"\n]',
    b"[" + b"1, " * 30_000 + b"1]",
]
LAST = frame(b'["last"]')
WRONG = {
    "a length beyond memory": b"Content-Length: 999999999999\r\n\r\n{}",
    "a length without an end": b"Content-Length: %s\r\n\r\n" % (b"9" * 5_000),
    "more than the body has": b'Content-Length: 5000\r\n\r\n{"half": ',
    "fewer than the body has": b'Content-Length: 3\r\n\r\n["a long body"]',
    "no body": b"Content-Length: 10\r\n\r\n",
    "a negative length": b"Content-Length: -10\r\n\r\n{}",
    "a line without an end": b"x" * 300_000,
    "bytes": bytes(range(256)),
    "blank lines": b"\r\n\r\n\n\n",
    "another header": b"Content-Type: text/plain\r\n\r\n",
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_frame_costs_no_other_message(case):
    first = frame(b'["first"]')
    assert [each for each in received(first + WRONG[case] + LAST) if each in (["first"], ["last"])] == [
        ["first"],
        ["last"],
    ]


@given(st.lists(st.sampled_from(BODIES), max_size=5), st.integers())
def test_messages_arrive_as_they_were_sent(bodies, seed):
    assert len(received(b"".join(map(frame, bodies)), seed)) == len(bodies)


@given(st.lists(st.one_of(st.binary(max_size=40), st.sampled_from([*WRONG.values()])), max_size=4), st.integers())
def test_the_second_message_after_anything_arrives(garbage, seed):
    assert received(b"".join(garbage) + LAST + LAST, seed)[-1:] == [["last"]]


@pytest.mark.parametrize("header", [b"content-length:8\r\n", b"CONTENT-LENGTH: 0008 \n", b"Content-Length:\t8\r\n"])
def test_a_header_may_be_written_in_other_ways(header):
    assert received(header + b'\r\n["last"]') == [["last"]]


def test_the_end_of_the_input_within_a_frame_ends_the_reading():
    assert received(LAST + b"Content-Length: 100\r\n\r\n[1") == [["last"]]
    assert received(LAST + b"Content-Le") == [["last"]]
