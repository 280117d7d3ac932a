"""joblib: 10,000 calls that take 1 ms each, on two workers. Ideal is what the calls took by themselves, shared by two: 5 s on a quiet machine.

usage: joblib_any.py --system parvum|loky|dask|ray
"""

import sys
import time

import joblib
from common import arguments, report


def wait(seconds):
    """A call of so many seconds, which leaves the processor to others: what is measured is what joblib adds. How long it took."""
    begun = time.perf_counter()
    until = begun + seconds
    time.sleep(seconds * 0.9)
    while (now := time.perf_counter()) < until:
        time.sleep(0)
    return now - begun


def main() -> None:
    options = arguments(__doc__, system="parvum", calls=10_000)
    if options.system == "parvum":
        import parvum.joblib

        parvum.joblib.register()
    elif options.system == "dask":
        from dask.distributed import Client

        client = Client(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    elif options.system == "ray":
        import ray
        from ray.util.joblib import register_ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
        register_ray()
    with joblib.parallel_config(backend=options.system, n_jobs=2):
        joblib.Parallel()(joblib.delayed(wait)(0.001) for _ in range(200))
        values = []
        for _ in range(3):
            begun = time.perf_counter()
            took = joblib.Parallel()(joblib.delayed(wait)(0.001) for _ in range(options.calls))
            # On a busy machine calls take longer than they want: ideal is what they took, shared by two.
            values.append((time.perf_counter() - begun) / (sum(took) / 2))
    report(options, options.system, "joblib over ideal", 0, values, "x", **({"work_ns": 1_000_000_000} if options.lab else {}))
    if options.system == "dask":
        client.close()


if __name__ == "__main__":
    sys.exit(main())
