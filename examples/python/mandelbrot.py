"""The Mandelbrot set as a live picture: each row is drawn in its place as soon as it is ready, in any order.

    python mandelbrot.py [--width 640] [--height 400] [--picture mandelbrot.ppm]
"""

from __future__ import annotations

import argparse
import shutil
import sys

import parvum

LIMIT = 200


def row(y: int, width: int, height: int) -> tuple[int, bytes]:
    """A shade for each point of a row: 1 to 255 by the steps until the point escapes, and 0 if it never does."""
    shades = bytearray(width)
    imaginary = (y - height / 2) * 2.4 / height
    for x in range(width):
        c = complex((x - width * 0.68) * 3.4 / width, imaginary)
        z = 0j
        for n in range(LIMIT):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag > 4.0:
                shades[x] = 1 + n * 254 // LIMIT
                break
    return y, bytes(shades)


class Picture:
    """Rows as they come: on a terminal they are drawn at once, two rows in one line of characters."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.rows = [bytes(width)] * height
        self.live = sys.stdout.isatty()
        size = shutil.get_terminal_size((80, 24))
        self.columns, self.lines = min(width, size.columns), min(height // 2, size.lines - 2)
        if self.live:
            print("\x1b[2J", end="")

    def put(self, y: int, shades: bytes) -> None:
        self.rows[y] = shades
        if self.live:
            line = min(self.lines - 1, y * self.lines // self.height)
            print(f"\x1b[{line + 1};1H{self.line(line)}", end="", flush=True)

    def line(self, line: int) -> str:
        """A line of characters: the upper half of each is one row, the lower half another."""
        upper = self.rows[line * self.height // self.lines]
        lower = self.rows[(2 * line + 1) * self.height // (2 * self.lines)]
        points = [x * self.width // self.columns for x in range(self.columns)]
        return "".join(f"\x1b[38;2;{colour(upper[x])}m\x1b[48;2;{colour(lower[x])}m▀" for x in points) + "\x1b[0m"

    def save(self, path: str) -> None:
        """Saves the picture as a portable pixmap."""
        with open(path, "wb") as file:
            file.write(f"P6 {self.width} {self.height} 255\n".encode())
            for shades in self.rows:
                file.write(bytes(int(part) for shade in shades for part in colour(shade).split(";")))


def colour(shade: int) -> str:
    if shade == 0:
        return "0;0;0"
    t = (shade / 255) ** 0.45
    return f"{int(9 * (1 - t) * t**3 * 255)};{int(15 * (1 - t) ** 2 * t**2 * 255)};{int(8.5 * (1 - t) ** 3 * t * 255)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--height", type=int, default=400)
    parser.add_argument("--picture", default="mandelbrot.ppm")
    options = parser.parse_args()
    picture = Picture(options.width, options.height)
    count = options.height
    with parvum.Executor() as pool:
        for y, shades in parvum.map(row, range(count), [options.width] * count, [count] * count, executor=pool, ordered=False):
            picture.put(y, shades)
        places = sorted(set(pool.workers.values()))
    picture.save(options.picture)
    inside = sum(shades.count(0) for shades in picture.rows) / (options.width * options.height)
    if picture.live:
        print(f"\x1b[{picture.lines + 1};1H")
    print(f"{count} rows on {', '.join(places)}; {inside:.1%} of the points stay for ever; the picture is in {options.picture}")


if __name__ == "__main__":
    main()
