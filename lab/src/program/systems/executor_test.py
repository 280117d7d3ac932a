"""Tests of the executor over HyperQueue, with a HyperQueue of this file that runs each task in a thread."""

import contextlib
import importlib.util
import io
import os
import pickle
import sys
import threading
import types
import unittest


class Job:
    def __init__(self, max_fails):
        self.tasks = []

    def function(self, function, args, stdout, stderr):
        self.tasks.append((function, args))


class Client:
    def __init__(self):
        self.failed = {}

    def submit(self, job):
        submitted = types.SimpleNamespace(job=job)
        for number, (function, args) in enumerate(job.tasks):
            threading.Thread(target=self.work, args=(number, function, args)).start()
        return submitted

    def work(self, number, function, args):
        if pickle.loads(args[1])[0] is die:
            self.failed[number] = types.SimpleNamespace(error="killed")
        else:
            function(*args)

    def get_failed_tasks(self, job):
        return self.failed


class Cluster:
    def __init__(self):
        self.is_stopped = False

    def client(self, python_env):
        return Client()

    def stop(self):
        self.is_stopped = True


def module(name, **members):
    made = types.ModuleType(name)
    vars(made).update(members)
    sys.modules[name] = made


module("hyperqueue", Job=Job)
module("hyperqueue.task")
module("hyperqueue.task.function", PythonEnv=lambda python_bin: None)
module("cloudpickle", dumps=pickle.dumps)
spec = importlib.util.spec_from_file_location("executor", os.path.join(os.path.dirname(os.path.abspath(__file__)), "executor.py"))
executor = importlib.util.module_from_spec(spec)
spec.loader.exec_module(executor)


def square(number):
    return number * number


def odd(number):
    if number % 2 == 0:
        raise ValueError(number)
    return number


def lock(number):
    return threading.Lock()


def die(number):
    pass


class Tests(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster()
        self.executor = executor.JobExecutor(self.cluster)

    def tearDown(self):
        self.executor.shutdown()
        self.assertTrue(self.cluster.is_stopped)
        self.assertEqual(os.listdir(self.executor.folder), [])
        os.rmdir(self.executor.folder)

    def test_calls_return_their_results(self):
        self.assertEqual(list(self.executor.map(square, range(20))), [number * number for number in range(20)])

    def test_call_that_cannot_be_sent_fails_alone(self):
        good, bad = self.executor.submit(square, 3), self.executor.submit(square, threading.Lock())
        self.assertIsInstance(bad.exception(10), TypeError)
        self.assertEqual(good.result(10), 9)

    def test_result_that_cannot_be_sent_fails_alone(self):
        self.assertIn("cannot be sent", str(self.executor.submit(lock, 1).exception(10)))
        self.assertEqual(self.executor.submit(square, 4).result(10), 16)

    def test_executor_works_after_a_map_that_raised(self):
        with self.assertRaises(ValueError):
            list(self.executor.map(odd, range(8)))
        self.assertEqual(self.executor.submit(square, 5).result(10), 25)

    def test_task_without_a_result_fails(self):
        self.assertIn("killed", str(self.executor.submit(die, 1).exception(10)))

    def test_client_that_fails_fails_all_calls(self):
        def fail(job):
            raise OSError("the server is gone")

        self.executor.client.submit = fail
        with contextlib.redirect_stderr(io.StringIO()):
            calls = [self.executor.submit(square, number) for number in range(3)]
            for call in calls:
                self.assertIn("the server is gone", str(call.exception(10)))
            self.executor.thread.join(10)

    def test_call_after_the_end_is_refused(self):
        self.executor.shutdown()
        with self.assertRaisesRegex(RuntimeError, "after shutdown"):
            self.executor.submit(square, 1)


if __name__ == "__main__":
    unittest.main()
