"""Arrays and objects to another process and back: multiprocessing's pipes."""

import multiprocessing

import numpy
from common import arguments, dictionary, half_round_trips, report, wants


def echo(pipe):
    while (thing := pipe.recv()) is not None:
        pipe.send(thing)


def main() -> None:
    options = arguments(__doc__)
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=echo, args=(there,))
    process.start()

    def there_and_back(thing):
        here.send(thing)
        here.recv()

    for size in options.sizes if wants(options, "array") else []:
        out = numpy.ones(size, "u1")
        report(options, "multiprocessing", "array", size, half_round_trips(lambda: there_and_back(out), options.seconds), "us")
    thing = dictionary()
    if wants(options, "dictionary"):
        report(options, "multiprocessing", "dictionary", 10 << 20, half_round_trips(lambda: there_and_back(thing), options.seconds), "us")
    here.send(None)
    process.join()


if __name__ == "__main__":
    main()
