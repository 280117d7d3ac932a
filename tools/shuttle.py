#!/usr/bin/env python3
"""Writes the Shuttle data of Debian's r-cran-mlbench as text, without R: shuttle.py PACKAGE.deb FILE

A line for each of the 58,000 items: nine numbers, and 1 if it is of the class that four fifths are of (Rad Flow), else 0. The first
line says how many items and numbers there are. The data are NASA's, from the StatLog project; `parvum compare --suite shared` trains
its small net with them when FILE is the one that tools/peers.sh writes.
"""
import io
import lzma
import struct
import subprocess
import sys
import tarfile

MEMBER = "./usr/lib/R/site-library/mlbench/data/Shuttle.rda"


class Reader:
    """R's serialization, as its manual "R Internals" has it (1.8): XDR, as much of it as a data frame needs."""

    def __init__(self, data):
        self.data, self.at, self.symbols = data, 0, []

    def take(self, form):
        values = struct.unpack_from(">" + form, self.data, self.at)
        self.at += struct.calcsize(">" + form)
        return values

    def item(self):
        (flags,) = self.take("i")
        kind, has_attributes, has_tag = flags & 255, flags & 512, flags & 1024
        if kind == 254:
            return None
        if kind == 255:
            index = flags >> 8 or self.take("i")[0]
            return self.symbols[index - 1]
        if kind == 1:
            self.symbols.append(self.item())
            return self.symbols[-1]
        if kind == 9:
            (length,) = self.take("i")
            text = self.data[self.at : self.at + max(length, 0)]
            self.at += max(length, 0)
            return text.decode()
        if kind == 2:  # a pair list: attributes, and what the file names
            pairs = {}
            while kind == 2:
                if has_attributes:
                    self.item()
                tag = self.item() if has_tag else None
                pairs[tag] = self.item()
                (flags,) = self.take("i")
                kind, has_attributes, has_tag = flags & 255, flags & 512, flags & 1024
            return pairs
        if kind in (10, 13):
            value = list(self.take(f"{self.length()}i"))
        elif kind == 14:
            value = list(self.take(f"{self.length()}d"))
        elif kind in (16, 19):
            value = [self.item() for _ in range(self.length())]
        else:
            raise ValueError(f"R's type {kind} is not one of a data frame")
        return (value, self.item()) if has_attributes else (value, {})

    def length(self):
        return self.take("i")[0]


def shuttle(package):
    """The rows of the data frame."""
    unpacked = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(unpacked)) as tar:
        data = lzma.decompress(tar.extractfile(MEMBER).read())
    if not data.startswith(b"RDX"):
        raise ValueError("Shuttle.rda is no file of R's save()")
    version = data[3:4]
    reader = Reader(data)
    reader.at = len("RDX2\nX\n")
    reader.take("iii")
    if version == b"3":  # the name of the encoding
        reader.at += reader.take("i")[0]
    columns, attributes = reader.item()["Shuttle"]
    names = attributes["names"][0]
    classes = columns[names.index("Class")]
    common = classes[1]["levels"][0].index("Rad.Flow") + 1
    numbers = [column[0] for name, column in zip(names, columns) if name != "Class"]
    return [row + (int(kind == common),) for row, kind in zip(zip(*numbers), classes[0])]


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: shuttle.py PACKAGE.deb FILE")
    rows = shuttle(sys.argv[1])
    with open(sys.argv[2], "w", encoding="ascii") as out:
        out.write(f"{len(rows)} {len(rows[0]) - 1}\n")
        out.writelines(" ".join(f"{value:g}" for value in row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
