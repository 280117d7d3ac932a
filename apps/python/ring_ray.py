"""Arrays and objects to an actor and back: Ray."""

import numpy
import ray
from common import arguments, dictionary, half_round_trips, report, wants


@ray.remote
class Echo:
    def back(self, thing):
        return thing


def main() -> None:
    options = arguments(__doc__)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    echo = Echo.remote()
    for size in options.sizes if wants(options, "array") else []:
        out = numpy.ones(size, "u1")
        report(options, "ray", "array", size, half_round_trips(lambda: ray.get(echo.back.remote(out)), options.seconds), "us")
        if options.lab:
            continue
        put = half_round_trips(lambda: ray.get(ray.put(out)), options.seconds)
        report(options, "ray", "put and get", size, put, "us")
    if not wants(options, "dictionary"):
        return
    thing = dictionary()
    report(options, "ray", "dictionary", 10 << 20, half_round_trips(lambda: ray.get(echo.back.remote(thing)), options.seconds), "us")


main()
