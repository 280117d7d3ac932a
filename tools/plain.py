#!/usr/bin/env python3
"""Finds sentences that a reader may have to read twice, and keeps their number from growing.

usage: tools/plain.py            compare each area's count with tools/plain.txt; exit code 1 if one is higher
       tools/plain.py --lower    write counts that have fallen into tools/plain.txt; none is ever raised
       tools/plain.py FILE...    show the sentences of these files, and why

The rules are signs, not proof: more than 25 words, a first word without a subject, a phrase from the list below, two negations.
The texts are prose of Markdown and manual pages, comments, and string literals of programs.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGET = ROOT / "tools" / "plain.txt"

MOST_WORDS = 25
# A sentence with fewer words is a title, a term or a list item.
FEWEST_WORDS = 5
NO_SUBJECT = re.compile(r"(Who|Whoever|Whom|What|Whatever|Of|That of|Those of|Where|So|Nor|Such)\b")
PHRASES = re.compile(
    r"\b(is told|are told|was told|be told|says so|said so|so many|makes no sense|of its own|anew|meanwhile|besides|aught"
    r"|and its like|and its kin|and their kin|for it has|see the cause|see .{1,20} above|who is none|that is none|are none"
    r"|one that|those that|those who|those of|whoever)\b",
    re.IGNORECASE,
)
NEGATION = r"\b(?:no|not|none|nobody|never|nothing)\b"
TWO_NEGATIONS = re.compile(f"{NEGATION}.*{NEGATION}", re.IGNORECASE)

# Files that are made, or that quote others.
LEFT_OUT = re.compile(r"^(docs/.*(findings|papers|history)\.md$|results/|tools/plain\.|.*/fixtures/|.*\.lock$)")
SLASHES = {".rs", ".c", ".h"}
HASHES = {".py", ".sh", ".toml"}
COMMENT = re.compile(r"(?:^|\s)(?://[/!]?|/?\*+)\s?(.*)")
LITERAL = re.compile(r'"((?:[^"\\]|\\.){25,})"')
HASH = re.compile(r"(?:^|\s)#\s?(.*)")
FULL_STOP = re.compile(r"(?<=[.!?;])\s+(?=[A-Z`*\"(])")


def area(path: str) -> str:
    """The part of the project that a file counts for."""
    parts = path.split("/")
    deep = {"crates": 3, "interfaces": 2, "docs": 2, "python": 2}
    return "/".join(parts[: deep.get(parts[0], 1)]) if len(parts) > 1 else path


def files() -> list[str]:
    """The texts that Git knows."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [path for path in listed.splitlines() if is_text(path) and not LEFT_OUT.match(path)]


def is_text(path: str) -> bool:
    suffix = Path(path).suffix
    return suffix == ".md" or suffix in SLASHES | HASHES or bool(re.search(r"^man/.*\.[1-8]$|manual\.txt$", path))


def prose(path: str, text: str) -> Iterator[tuple[int, str]]:
    """The lines with words for people, and their numbers."""
    suffix = Path(path).suffix
    is_code = is_docstring = False
    for number, line in enumerate(text.splitlines(), 1):
        if suffix == ".md":
            if line.lstrip().startswith("```"):
                is_code = not is_code
            elif not is_code and not line.startswith("    ") and not line.lstrip().startswith(("#", "<!--")):
                if re.match(r"\s*([-*]|\d+\.)\s", line):
                    # An item of a list is a sentence, with or without a full stop.
                    yield number, ""
                yield number, re.sub(r"^\s*[-*>]+\s+", " ", line)
        elif suffix in SLASHES:
            if found := COMMENT.search(line):
                yield number, found[1]
            for words in LITERAL.findall(line):
                yield number, words
        elif suffix in HASHES:
            marks = line.count('"""') if suffix == ".py" else 0
            if found := HASH.search(line):
                yield number, found[1]
            elif is_docstring or marks:
                yield number, line.replace('"""', "")
            is_docstring ^= marks % 2 == 1
        elif path.endswith("manual.txt"):
            # Each line has one function. The C prototype after the text is no sentence.
            yield number, line.partition(" = ")[0].lstrip("# ")
        elif line.startswith((".nf", ".EX", ".fi", ".EE")):
            is_code = line.startswith((".nf", ".EX"))
        elif not line.startswith(".") and not is_code:
            # A name in bold or italics is one word, and names before the dash of NAME are no sentence.
            yield number, re.sub(r"\\f[BI](.*?)\\fR", r"`\1`", re.sub(r"^[\w, +]+ \\- ", "", line))


def sentences(path: str, text: str) -> Iterator[tuple[int, str]]:
    """Whole sentences: neighbouring lines joined, and cut at full stops. A cell of a table stands alone."""
    held, start, last = "", 0, -1
    for number, line in [*prose(path, text), (sys.maxsize, "")]:
        is_row = path.endswith("manual.txt") or path.endswith(".md") and line.lstrip().startswith("|")
        cells = line.split("|") if is_row else []
        if (number != last + 1 or cells or not line.strip()) and held:
            yield from ((start, one) for one in FULL_STOP.split(held))
            held = ""
        for cell in cells:
            yield from ((number, one) for one in FULL_STOP.split(cell.strip()))
        if not cells and line.strip():
            start = start if held else number
            held = f"{held} {line.strip()}".strip()
        last = number


def faults(sentence: str) -> list[str]:
    """Why a sentence is flagged."""
    plain = re.sub(r"`[^`]*`", "x", sentence).strip("*_ ")
    words = re.findall(r"[A-Za-z']+", plain)
    if len(words) < FEWEST_WORDS:
        return []
    found = [f"{len(words)} words"] if len(words) > MOST_WORDS else []
    if (first := NO_SUBJECT.match(plain)) and not plain.endswith("?"):
        found.append(f"begins with {first[0]!r}")
    found += [repr(phrase[0]) for phrase in PHRASES.finditer(plain)]
    if TWO_NEGATIONS.search(plain):
        found.append("two negations")
    return found


def flagged(path: str) -> list[tuple[int, str, list[str]]]:
    text = (ROOT / path).read_text(errors="replace")
    judged = ((number, sentence, faults(sentence)) for number, sentence in sentences(path, text))
    return [one for one in judged if one[2]]


def read_budget() -> dict[str, int]:
    if not BUDGET.exists():
        return {}
    lines = [line.split() for line in BUDGET.read_text().splitlines() if line and not line.startswith("#")]
    return {place: int(count) for count, place in lines}


def write_budget(budget: dict[str, int]) -> None:
    head = "# Flagged sentences that each area may have. tools/plain.py --lower lowers a number; no number may rise.\n"
    BUDGET.write_text(head + "".join(f"{count:5} {place}\n" for place, count in sorted(budget.items()) if count))


def main(arguments: list[str]) -> int:
    if arguments and not arguments[0].startswith("-"):
        for path in arguments:
            for number, sentence, why in flagged(str(Path(path).resolve().relative_to(ROOT))):
                print(f"{path}:{number}: {', '.join(why)}: {sentence[:160]}")
        return 0
    if arguments not in ([], ["--lower"]):
        print(__doc__, file=sys.stderr)
        return 2
    counts: dict[str, int] = {}
    for path in files():
        counts[area(path)] = counts.get(area(path), 0) + len(flagged(path))
    budget = read_budget()
    if arguments:
        # The first list takes all counts as they are.
        write_budget({place: min(count, budget.get(place, 0 if budget else count)) for place, count in counts.items()})
    higher = {place: count for place, count in counts.items() if count > budget.get(place, 0)} if budget else {}
    for place, count in sorted(higher.items()):
        print(f"{place}: {count} sentences are flagged, and tools/plain.txt allows {budget.get(place, 0)}")
    if higher:
        print("help: tools/plain.py FILE shows the sentences of a file; rewrite those that you changed")
    print(f"{sum(counts.values())} sentences flagged; tools/plain.txt allows {sum(budget.values())}")
    return 1 if higher else 0


sys.exit(main(sys.argv[1:]))
