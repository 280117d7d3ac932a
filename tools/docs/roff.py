"""Turns a manual page in the man macros into Markdown.

The pages of Parvum use few macros, and `page` refuses all others, so that no text is lost in silence.
"""

from __future__ import annotations

import re

# Between these a word is literal: Markdown's own signs mean nothing in it.
ESCAPES = [("\\-", "-"), ("\\&", ""), ("\\e", "\\"), ("\\(aq", "'"), ("\\|", "")]
FONT = re.compile(r"\\f(.)")


class Unknown(ValueError):
    """A macro that this module does not know."""


def plain(text: str) -> str:
    """A line without fonts and escapes, as a terminal shows it."""
    text = FONT.sub("", text)
    for roff, sign in ESCAPES:
        text = text.replace(roff, sign)
    return text


def escaped(text: str) -> str:
    """Text whose signs mean nothing to Markdown."""
    text = plain(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]#{}])", r"\\\1", text)


def spanned(text: str, font: str) -> str:
    """A piece in one font: bold is code, since bold words of these pages are names; italic is emphasis."""
    head, tail = re.match(r"\s*", text).group(), re.search(r"\s*$", text).group()
    words = text.strip()
    if not words:
        return text
    if font == "B":
        code = plain(words)
        return f"{head}`` {code} ``{tail}" if "`" in code else f"{head}`{code}`{tail}"
    return f"{head}*{escaped(words)}*{tail}" if font == "I" else escaped(text)


def inline(text: str, font: str = "R") -> str:
    """A line with its fonts as Markdown."""
    pieces = FONT.split(text)
    out, now = spanned(pieces[0], font), font
    for letter, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        now = letter
        out += spanned(piece, now)
    # Neighbours in one font are one word.
    return out.replace("``", "") if "`` " not in out else out


def words_of(rest: str) -> list[str]:
    """The arguments of a macro: words, or what stands between quotes."""
    return [quoted or word for quoted, word in re.findall(r'"([^"]*)"|(\S+)', rest)]


def turned(rest: str, fonts: str) -> str:
    """The arguments of .BR and the like: fonts take turns."""
    return "".join(inline(word, fonts[at % 2]) for at, word in enumerate(words_of(rest)))


class Page:
    """What was read of a page."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0
        self.item = False
        self.is_code = False
        self.wants_term = False

    def indent(self) -> str:
        return "    " * (self.depth + self.item)

    def blank(self) -> None:
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def text(self, line: str, roff: str) -> None:
        if self.is_code:
            self.lines.append(self.indent() + plain(roff))
        elif self.wants_term:
            self.blank()
            self.lines.append("    " * self.depth + line)
            self.wants_term, self.item = False, True
            # Of a definition the first line begins so.
            self.lines.append("    " * self.depth + ":   ")
        elif self.lines and self.lines[-1].endswith(":   "):
            self.lines[-1] += line
        else:
            self.lines.append(self.indent() + line)

    def section(self, mark: str, title: str) -> None:
        self.item, self.depth = False, 0
        self.blank()
        self.lines += [f"{mark} {title}", ""]

    def code(self, begins: bool) -> None:
        if begins != self.is_code:
            if begins:
                self.blank()
            self.lines.append(self.indent() + ("```text" if begins else "```"))
            if not begins:
                self.lines.append("")
        self.is_code = begins


def macro(page: Page, name: str, rest: str, line: str) -> None:
    match name:
        case "SH" | "SS":
            words = plain(rest.replace('"', ""))
            page.section("##" if name == "SH" else "###", words.capitalize() if words.isupper() else words)
        case "PP" if page.is_code:
            page.lines.append("")
        case "PP":
            page.item = False
            page.blank()
        case "TP":
            page.item, page.wants_term = False, True
        case "nf" | "EX":
            page.code(True)
        case "fi" | "EE":
            page.code(False)
        case "RS" | "RE":
            page.depth += 1 if name == "RS" and page.item else 0
            page.depth = max(0, page.depth - (name == "RE"))
            page.blank()
        case "B" | "I":
            page.text(inline(rest, name), rest)
        case "BR" | "BI" | "IR" | "IB" | "RB" | "RI":
            page.text(turned(rest, name), "".join(words_of(rest)))
        case "TH" | "in" | "" | '\\"':
            pass
        case _:
            raise Unknown(line)


def page(text: str) -> str:
    """The Markdown of a page, without its title."""
    made = Page()
    for line in text.splitlines():
        if line.startswith('.\\"'):
            continue
        if found := re.match(r"\.\s*(\w*)\s*(.*)$", line):
            macro(made, found.group(1), found.group(2), line)
        elif line:
            made.text(inline(line), line)
    if made.is_code:
        made.code(False)
    return "\n".join(made.lines).strip() + "\n"
