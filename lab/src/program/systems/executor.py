"""Runs `main(executor)` of a script, with an executor of a package: NAME WORKERS SCRIPT ARGUMENTS."""

import concurrent.futures
import importlib
import itertools
import os
import pickle
import sys
import tempfile
import threading
import time


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
    from hyperqueue.cluster import LocalCluster, WorkerConfig

    # The server prints a table about itself.
    output = os.dup(1)
    os.dup2(2, 1)
    try:
        cluster = LocalCluster(tempfile.mkdtemp(prefix="hq"), WorkerConfig(cores=workers))
    finally:
        os.dup2(output, 1)
        os.close(output)
    try:
        return JobExecutor(cluster)
    except BaseException:
        cluster.stop()
        raise


class JobExecutor(concurrent.futures.Executor):
    """HyperQueue has jobs of tasks and no executor. Calls that have come together become the tasks of a job.

    A task of HyperQueue returns no result, so it writes the result into a file. Its client looks for the end of a job once
    a second, so this executor looks for the files.
    """

    LOOK, LOOK_FOR_FAILURES = 0.002, 0.5

    def __init__(self, cluster):
        from hyperqueue.task.function import PythonEnv

        self.cluster = cluster
        self.client = cluster.client(python_env=PythonEnv(python_bin=sys.executable))
        self.folder = tempfile.mkdtemp(prefix="calls")
        self.numbers = itertools.count()
        # The calls that no job has yet; the future of each result file; the jobs with the files of their tasks.
        self.calls, self.awaited, self.jobs = [], {}, []
        self.come, self.is_over = threading.Condition(), False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def submit(self, function, /, *words, **more):
        import cloudpickle

        future = concurrent.futures.Future()
        try:
            call = cloudpickle.dumps((function, words, more))
        except Exception as why:
            future.set_exception(why)
            return future
        with self.come:
            if self.is_over:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self.calls.append((future, call))
            self.come.notify()
        return future

    def run(self):
        try:
            while self.step():
                pass
        except BaseException as why:
            with self.come:
                self.is_over = True
                waiting = [future for future, _ in self.calls if future.set_running_or_notify_cancel()]
                lost = waiting + list(self.awaited.values())
                self.calls, self.awaited = [], {}
            for future in lost:
                future.set_exception(why)
            raise

    def step(self):
        """Submits the calls that have come, and takes the results that are there. False: all is over."""
        with self.come:
            if not self.calls and (self.awaited or not self.is_over):
                self.come.wait(self.LOOK if self.awaited else None)
            calls, self.calls = self.calls, []
        calls = [call for call in calls if call[0].set_running_or_notify_cancel()]
        if calls:
            self.submit_job(calls)
        for file in os.listdir(self.folder):
            if file in self.awaited:
                self.take(file)
        if self.awaited and time.monotonic() > self.next_look:
            self.look_for_failures()
        return bool(self.calls or self.awaited or not self.is_over)

    def submit_job(self, calls):
        from hyperqueue import Job

        job, files = Job(max_fails=None), [str(next(self.numbers)) for _ in calls]
        # All of them are awaited before anything can fail.
        self.awaited.update(zip(files, (future for future, _ in calls)))
        for file, (_, call) in zip(files, calls):
            # Otherwise each task leaves two files in the current folder.
            job.function(call_into, args=(os.path.join(self.folder, file), call), stdout=None, stderr=None)
        self.jobs.append((self.client.submit(job), files))
        self.next_look = time.monotonic() + self.LOOK_FOR_FAILURES

    def take(self, file):
        path = os.path.join(self.folder, file)
        try:
            with open(path, "rb") as result:
                is_done, value = pickle.load(result)
        except Exception as why:
            is_done, value = False, why
        os.unlink(path)
        future = self.awaited.pop(file)
        future.set_result(value) if is_done else future.set_exception(value)

    def look_for_failures(self):
        """Tasks that ended without a result, because their process was killed for example."""
        self.next_look = time.monotonic() + self.LOOK_FOR_FAILURES
        self.jobs = [one for one in self.jobs if any(file in self.awaited for file in one[1])]
        for job, files in self.jobs:
            try:
                failed = self.client.get_failed_tasks(job)
            except KeyError:
                continue
            for number, context in failed.items():
                file = files[number]
                if file in self.awaited and not os.path.exists(os.path.join(self.folder, file)):
                    why = getattr(context, "error", context)
                    self.awaited.pop(file).set_exception(RuntimeError(f"the task of HyperQueue failed: {why}"))

    def shutdown(self, wait=True, *, cancel_futures=False):
        with self.come:
            self.is_over = True
            # The first call stops the cluster.
            cluster, self.cluster = self.cluster, None
            if cancel_futures:
                for future, _ in self.calls:
                    future.cancel()
            self.come.notify()
        if wait or cluster:
            self.thread.join()
        if cluster:
            cluster.stop()


def call_into(path, call):
    """Runs in a worker of HyperQueue."""
    import os
    import pickle

    try:
        function, words, more = pickle.loads(call)
        result = True, function(*words, **more)
    except BaseException as why:
        result = False, why
    try:
        text = pickle.dumps(result)
    except Exception as why:
        text = pickle.dumps((False, RuntimeError(f"the result cannot be sent: {why!r}: {result[1]!r}")))
    with open(path + ".part", "wb") as out:
        out.write(text)
    os.rename(path + ".part", path)


def main():
    name, workers, script = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    sys.argv = sys.argv[3:]
    # Workers import the script by this name; its folder is in PYTHONPATH.
    module = importlib.import_module(os.path.splitext(os.path.basename(script))[0])
    with globals()["with_" + name](workers) as executor:
        module.main(executor)


if __name__ == "__main__":
    main()
