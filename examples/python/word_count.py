"""Counts the words of text files with actors: workers read files and send each word to the actor that counts it.

    python word_count.py [FOLDER] [--counters 2] [--most 10]

Without a folder the program reads the sources of Python's own library. The hash of a word selects its actor, so that
every count is in one place. Readers send a file's words in one message to each actor.
"""

from __future__ import annotations

import argparse
import re
import sysconfig
import zlib
from collections import Counter
from pathlib import Path

import parvum

WORD = re.compile(r"[A-Za-z]{4,}")


@parvum.actor
class Words:
    """Counts the words of this actor."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.files = 0

    def add(self, counts: dict[str, int]) -> None:
        """Adds the words of one file."""
        self.counts.update(counts)
        self.files += 1

    def most(self, count: int) -> list[tuple[str, int]]:
        """The most frequent words."""
        return self.counts.most_common(count)

    def total(self) -> tuple[int, int, int]:
        """The numbers of files, words and different words."""
        return self.files, self.counts.total(), len(self.counts)


def read(path: str, counters: parvum.ActorGroup) -> int:
    """Counts a file's words and sends them to the actors; returns the number of words."""
    text = Path(path).read_text(encoding="utf-8", errors="replace").lower()
    shares: list[Counter[str]] = [Counter() for _ in counters]
    for word in WORD.findall(text):
        shares[zlib.crc32(word.encode()) % len(shares)][word] += 1
    # The file is done when all actors have its words.
    for answer in [counter.add(dict(share)) for counter, share in zip(counters, shares)]:
        answer.result()
    return sum(share.total() for share in shares)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", default=sysconfig.get_path("stdlib"))
    parser.add_argument("--counters", type=int, default=2)
    parser.add_argument("--most", type=int, default=10)
    parser.add_argument("--files", type=int, default=400, help="read so many files at most")
    options = parser.parse_args()
    files = sorted(map(str, Path(options.folder).rglob("*.py")) if options.folder == sysconfig.get_path("stdlib") else (str(p) for p in Path(options.folder).rglob("*") if p.is_file()))
    files = files[: options.files]
    if not files:
        parser.error(f"there are no files in {options.folder}")

    counters = Words.start_group(options.counters)
    with parvum.Executor(2) as pool:
        words = sum(parvum.map(read, files, [counters] * len(files), executor=pool, ordered=False, progress="files"))
    totals = counters.total().result()
    best = sorted((pair for most in counters.most(options.most).result() for pair in most), key=lambda pair: (-pair[1], pair[0]))
    for word, count in best[: options.most]:
        print(f"{count:8} {word}")
    assert all(files_heard == len(files) for files_heard, _, _ in totals)
    counted = sum(total for _, total, _ in totals)
    print(f"{len(files)} files, {words} words, {sum(different for _, _, different in totals)} different; {'all counted' if counted == words else 'WORDS ARE MISSING'}")
    parvum.stop(counters)


if __name__ == "__main__":
    main()
