"""Writes otava.txt: 20 series, and the change points that Apache Otava finds in them.

    pip install apache-otava==0.8.0
    python3 series_for_otava.py > otava.txt
"""

import importlib.metadata
import platform
import random

from otava.analysis import compute_change_points

# Lengths and levels of the parts of a series, in units of its noise; then how many outliers it has.
SHAPES = [
    ([(40, 0)], 0),
    ([(40, 0)], 2),
    ([(20, 0), (20, 4)], 0),
    ([(12, 0), (28, -4)], 1),
    ([(30, 0), (10, 5)], 0),
    ([(15, 0), (15, 6), (15, 12)], 0),
    ([(15, 0), (15, 6), (15, 0)], 0),
    ([(12, 0), (12, -6), (20, 6)], 1),
    ([(25, 0), (8, 8)], 0),
    ([(48, 0)], 1),
]


def series(parts, outliers, generator):
    values = [100 + level + generator.gauss(0, 1) for count, level in parts for _ in range(count)]
    for _ in range(outliers):
        values[generator.randrange(len(values))] += 15
    return [round(value, 2) for value in values]


print(f"# Made by series_for_otava.py: Apache Otava {importlib.metadata.version('apache-otava')}, its default settings, Python {platform.python_version()}.")
print("# Each line: the first values after each change that Otava finds, a colon, the series.")
for number in range(20):
    values = series(*SHAPES[number % len(SHAPES)], random.Random(number))
    found, _ = compute_change_points(values)
    print(*sorted(point.index for point in found), ":", *values)
