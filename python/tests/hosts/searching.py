"""The page `scikit-learn.md` on three hosts, and the same search without Parvum."""

import re
import subprocess
import sys
from pathlib import Path

import parvum
from parvum._task import session as _session

PAGE = Path(__file__).resolve().parents[3] / "docs/start/scikit-learn.md"
source = "\n".join(re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))

done = subprocess.run([sys.executable, "-c", source, "beta", "gamma"], capture_output=True, text=True, check=False)
assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
hosts = dict(re.findall(r"^(\w+) +\d+ +[\d.]+ +(\d+)$", done.stdout, re.MULTILINE))
assert sorted(hosts) == ["alpha", "beta", "gamma"] and all(int(tasks) > 0 for tasks in hosts.values()), done.stdout
assert not _session.is_running()

alone = source.replace("parvum.joblib.register(make_default=True)", "import contextlib; parvum.machine = lambda hosts: contextlib.nullcontext()")
alone = alone.replace("print(parvum.status())", "assert not search.refit_time_ < 0")
assert alone != source
told = subprocess.run([sys.executable, "-c", alone], capture_output=True, text=True, check=True).stdout
assert told.splitlines()[-1] == done.stdout.splitlines()[-1], (told, done.stdout)
assert not _session.is_running(), "the second search was to know nothing of Parvum"

# The whole table of the search, and where its fits were made.
from joblib import Parallel, delayed  # noqa: E402
from sklearn.datasets import load_iris  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

import parvum.joblib  # noqa: E402
import places  # noqa: E402

x, y = load_iris(return_X_y=True)
grid = {"C": [0.1, 1, 10], "kernel": ["linear", "rbf"]}
one = GridSearchCV(SVC(), grid, cv=3).fit(x, y)
parvum.joblib.register(make_default=True)
with parvum.machine(hosts=["beta", "gamma"]):
    three = GridSearchCV(SVC(), grid, cv=3, n_jobs=6).fit(x, y)
    assert set(Parallel(n_jobs=6, batch_size=1)(delayed(places.slowly)(n) for n in range(200))) == {"alpha", "beta", "gamma"}
assert list(one.cv_results_["mean_test_score"]) == list(three.cv_results_["mean_test_score"])
assert one.best_params_ == three.best_params_
print("all well")
