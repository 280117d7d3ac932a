"""Runs `main(executor)` of a script, with an executor of a package: NAME WORKERS SCRIPT ARGUMENTS."""

import concurrent.futures
import importlib
import os
import pickle
import sys
import tempfile
import threading


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


def with_hyperqueue(workers):
    import hyperqueue.client
    from hyperqueue.cluster import LocalCluster, WorkerConfig

    # The client draws a bar for each job, which would mix with the output of the script.
    hyperqueue.client.create_progress_callback = lambda: lambda jobs: None
    # The server prints a table about itself.
    output = os.dup(1)
    os.dup2(2, 1)
    try:
        cluster = LocalCluster(tempfile.mkdtemp(prefix="hq"), WorkerConfig(cores=workers))
    finally:
        os.dup2(output, 1)
        os.close(output)
    return JobExecutor(cluster)


class JobExecutor(concurrent.futures.Executor):
    """HyperQueue has jobs of tasks and no executor: the calls that have come together become the tasks of a job."""

    def __init__(self, cluster):
        from hyperqueue.task.function import PythonEnv

        self.cluster = cluster
        self.client = cluster.client(python_env=PythonEnv(python_bin=sys.executable))
        self.folder = tempfile.mkdtemp(prefix="calls")
        self.calls, self.come, self.is_over = [], threading.Condition(), False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def submit(self, function, /, *words, **more):
        future = concurrent.futures.Future()
        with self.come:
            self.calls.append((future, function, words, more))
            self.come.notify()
        return future

    def run(self):
        numbers = iter(range(1 << 62))
        while True:
            with self.come:
                self.come.wait_for(lambda: self.calls or self.is_over)
                calls, self.calls = self.calls, []
            if not calls:
                return
            self.run_job([(os.path.join(self.folder, str(next(numbers))), *call) for call in calls])

    def run_job(self, calls):
        from hyperqueue import Job

        job = Job()
        for file, _, function, words, more in calls:
            job.function(call_into, args=(file, function, words, more))
        self.client.wait_for_jobs([self.client.submit(job)], raise_on_error=False)
        for file, future, *_ in calls:
            try:
                with open(file, "rb") as result:
                    is_done, value = pickle.load(result)
                os.unlink(file)
            except FileNotFoundError:
                is_done, value = False, RuntimeError("the task of HyperQueue left no result")
            future.set_result(value) if is_done else future.set_exception(value)

    def shutdown(self, wait=True, *, cancel_futures=False):
        with self.come:
            if self.is_over:
                return
            self.is_over = True
            self.come.notify()
        self.thread.join()
        self.cluster.stop()


def call_into(file, function, words, more):
    """Runs in a worker of HyperQueue. The result goes into a file, because a task of HyperQueue returns none."""
    try:
        result = True, function(*words, **more)
    except BaseException as why:
        result = False, why
    with open(file + ".part", "wb") as out:
        pickle.dump(result, out)
    os.rename(file + ".part", file)


def main():
    name, workers, script = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    sys.argv = sys.argv[3:]
    # Workers import the script by this name; its folder is in PYTHONPATH.
    module = importlib.import_module(os.path.splitext(os.path.basename(script))[0])
    with globals()["with_" + name](workers) as executor:
        module.main(executor)


if __name__ == "__main__":
    main()
