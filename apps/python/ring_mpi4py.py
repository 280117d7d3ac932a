"""Arrays and objects to another process and back: mpi4py. mpiexec -n 2 python ring_mpi4py.py --name mpich"""

import numpy
from common import arguments, dictionary, half_round_trips, report, wants
from mpi4py import MPI

comm = MPI.COMM_WORLD


def main() -> None:
    options = arguments(__doc__, name="mpi4py")
    for size in options.sizes if wants(options, "array") else []:
        out, back = numpy.ones(size, "u1"), numpy.empty(size, "u1")

        def there_and_back() -> None:
            comm.Send(out, 1, 2)
            comm.Recv(back, 1, 2)

        if comm.rank == 0:
            values = half_round_trips(there_and_back, options.seconds)
            comm.Send(out, 1, 4)
            report(options, options.name, "array", size, values, "us")
        else:
            status = MPI.Status()
            while True:
                comm.Recv(back, 0, MPI.ANY_TAG, status)
                if status.tag == 4:
                    break
                comm.Send(back, 0, 2)
    thing = dictionary()

    def objects() -> None:
        comm.send(thing, 1, 2)
        comm.recv(source=1, tag=2)

    if comm.rank == 0:
        if wants(options, "dictionary"):
            report(options, options.name, "dictionary", 10 << 20, half_round_trips(objects, options.seconds), "us")
        comm.send(None, 1, 2)
    else:
        while (received := comm.recv(source=0, tag=2)) is not None:
            comm.send(received, 0, 2)


main()
