"""What calls write appears where the pool is, whatever writes it: Python, C, a shell, other programs."""

from __future__ import annotations

import time

import pytest
import support
import tasks

import parvum

pytestmark = pytest.mark.usefixtures("machine")


def collect() -> tuple[list[tuple[str, str]], parvum.Executor]:
    """A pool of one worker, and what it writes."""
    said: list[tuple[str, str]] = []
    return said, parvum.Executor(1, output=lambda task, host, stream, text: said.append((stream, text)))


def test_output_arrives_in_order_from_all_ways_of_writing() -> None:
    said, pool = collect()
    with pool:
        pool.submit(tasks.write_in_all_ways).result()
        # All of it is here before the result is, half a line too.
        text = "".join(text for stream, text in said if stream == "stdout")
    words = ["print", "os.system", "subprocess", "print", "os.write", "puts", "printf, and the rest of the line", "fork", "no newline"]
    assert text.split("\n") == [f"{number} {word}" for number, word in enumerate(words, 1)]


def test_output_streams_keep_order_and_pass_any_bytes() -> None:
    said, pool = collect()
    with pool:
        pool.submit(tasks.complain).result()
    assert "".join(text for stream, text in said if stream == "stderr") == "to descriptor 2\nto stderr\n"
    printed = [text for _, text in said if "descriptor" not in text]
    assert "".join(printed) == "to stdout\nto stderr\nto stdout again\n\ufffd no text\n"


def test_large_output_arrives_whole() -> None:
    said, pool = collect()
    with pool:
        pool.submit(tasks.print_much, 20_000).result()
        lines = "".join(text for _, text in said).splitlines()
    assert lines == [f"{n} {'x' * 50}" for n in range(20_000)]


def test_output_of_running_call_arrives_early() -> None:
    said, pool = collect()
    with pool:
        running = pool.submit(eval, "__import__('os').system('echo early; sleep 60')")
        support.eventually(lambda: ("stdout", "early\n") in said)
        assert running.cancel()


def test_output_of_actor_and_its_programs_arrives(capfd: pytest.CaptureFixture[str]) -> None:
    from actors import Counter

    counter = Counter.start()
    counter.shell("echo from a shell; echo complains >&2").result()
    out = err = ""
    until = time.monotonic() + 60
    while ("from a shell" not in out or "complains" not in err) and time.monotonic() < until:
        more = capfd.readouterr()
        out, err = out + more.out, err + more.err
    assert out.startswith("[t") and "] from a shell\n" in out and "] complains\n" in err
    parvum.stop(counter)
