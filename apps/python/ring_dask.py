"""Arrays and objects to a worker and back: dask.distributed."""

import numpy
from common import arguments, dictionary, half_round_trips, report, wants


class Echo:
    def back(self, thing):
        return thing


def main() -> None:
    from dask.distributed import Client

    options = arguments(__doc__)
    with Client(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as client:
        echo = client.submit(Echo, actor=True).result()
        for size in options.sizes if wants(options, "array") else []:
            out = numpy.ones(size, "u1")
            values = half_round_trips(lambda: echo.back(out).result(), options.seconds)
            report(options, "dask", "array", size, values, "us")
        if not wants(options, "dictionary"):
            return
        thing = dictionary()
        values = half_round_trips(lambda: echo.back(thing).result(), options.seconds)
        report(options, "dask", "dictionary", 10 << 20, values, "us")


if __name__ == "__main__":
    main()
