"""Hyper-parameter search over scikit-learn's digits: an unchanged GridSearchCV with Parvum's workers on all hosts.

    python grid_search.py [--quick]
"""

from __future__ import annotations

import argparse
import time

import joblib
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import parvum.joblib


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small grid over a part of the data")
    options = parser.parse_args()

    x, y = load_digits(return_X_y=True)
    grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [1e-4, 1e-3, 1e-2, 1e-1], "svc__kernel": ["rbf", "sigmoid"]}
    if options.quick:
        x, y = x[:300], y[:300]
        grid = {"svc__C": [1, 10], "svc__gamma": [1e-3, 1e-2]}

    parvum.joblib.register()
    begun = time.perf_counter()
    with joblib.parallel_config(backend="parvum", n_jobs=-1):
        search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=3).fit(x, y)
    seconds = time.perf_counter() - begun

    fits = 3 * len(search.cv_results_["params"])
    best = ", ".join(f"{name.removeprefix('svc__')}={value}" for name, value in search.best_params_.items())
    print(f"{fits} fits in {seconds:.1f} s; best: {best}, right in {search.best_score_:.1%} of cases")
    parvum.joblib.shutdown()


if __name__ == "__main__":
    main()
