"""Arrays and objects to another task and back: Parvum."""

import sys

import numpy
from common import arguments, dictionary, half_round_trips, report, wants

import parvum

ECHO = """
import sys; sys.path[:0] = {path!r}
import numpy, parvum
vm = parvum.enrol()
while (size := vm.recv(vm.parent, 1)) >= 0:
    if size:
        buffer = numpy.empty(size, "u1")
        vm.send(None, vm.parent, 3)
        while True:
            if vm.recv_into(buffer, vm.parent).tag == 4:
                break
            vm.send(buffer, vm.parent, 2)
        while (array := vm.recv(vm.parent, 5)) is not None:
            vm.send(array, vm.parent, 2)
    else:
        while (thing := vm.recv(vm.parent, 2)) is not None:
            vm.send(thing, vm.parent, 2)
"""


def main() -> None:
    options = arguments(__doc__)
    vm = parvum.enrol()
    (peer,) = vm.spawn(["python", "-c", ECHO.format(path=sys.path)])
    for size in options.sizes if wants(options, "array") else []:
        out, back = numpy.ones(size, "u1"), numpy.empty(size, "u1")
        vm.send(size, peer, 1)
        vm.recv(peer, 3)

        def there_and_back() -> None:
            vm.send(out, peer, 2)
            vm.recv_into(back, peer, 2)

        report(options, "parvum", "array", size, half_round_trips(there_and_back, options.seconds), "us")
        vm.send(out, peer, 4)

        # As mpi4py's Send and Recv do, both receive into an array that is there. By this they get a fresh one each time.
        def fresh() -> None:
            vm.send(out, peer, 5)
            vm.recv(peer, 2)

        if not options.lab:
            report(options, "parvum", "array by recv", size, half_round_trips(fresh, options.seconds), "us")
        vm.send(None, peer, 5)
    thing = dictionary()
    vm.send(0, peer, 1)

    def objects() -> None:
        vm.send(thing, peer, 2)
        vm.recv(peer, 2)

    if wants(options, "dictionary"):
        report(options, "parvum", "dictionary", 10 << 20, half_round_trips(objects, options.seconds), "us")
    vm.send(None, peer, 2)
    vm.send(-1, peer, 1)


main()
