"""Runs `main(executor)` of a script, with an executor of a package: NAME WORKERS SCRIPT ARGUMENTS."""

import importlib
import os
import sys


def with_processes(workers):
    from concurrent.futures import ProcessPoolExecutor

    return ProcessPoolExecutor(workers)


def with_parvum(workers):
    import parvum

    return parvum.Executor(workers)


def with_loky(workers):
    from loky import ProcessPoolExecutor

    return ProcessPoolExecutor(workers)


def with_mpi4py(workers):
    # `python -m mpi4py.futures` has made the other ranks workers.
    from mpi4py.futures import MPIPoolExecutor

    return MPIPoolExecutor(workers)


def with_dask(workers):
    from distributed import Client

    client = Client(n_workers=workers, threads_per_worker=1, dashboard_address=None, local_directory=os.environ["TMPDIR"])
    executor = client.get_executor()
    shutdown = executor.shutdown

    def close(*words, **more):
        shutdown(*words, **more)
        client.close()
        client.cluster.close()

    executor.shutdown = close
    return executor


def with_executorlib(workers):
    from executorlib import SingleNodeExecutor

    return SingleNodeExecutor(max_workers=workers)


def with_parsl(workers):
    from parsl.concurrent import ParslPoolExecutor
    from parsl.config import Config
    from parsl.executors import HighThroughputExecutor
    from parsl.providers import LocalProvider

    provider = LocalProvider(init_blocks=1, min_blocks=1, max_blocks=1)
    pool = HighThroughputExecutor(
        label="parsl", max_workers_per_node=workers, cores_per_worker=1e-3, provider=provider, address="127.0.0.1", encrypted=False
    )
    return ParslPoolExecutor(config=Config(executors=[pool], run_dir=os.environ["TMPDIR"] + "/parsl", usage_tracking=0))


def main():
    name, workers, script = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    sys.argv = sys.argv[3:]
    # Workers import the script by this name; its folder is in PYTHONPATH.
    module = importlib.import_module(os.path.splitext(os.path.basename(script))[0])
    with globals()["with_" + name](workers) as executor:
        module.main(executor)


if __name__ == "__main__":
    main()
