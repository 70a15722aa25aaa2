#!/usr/bin/python3
"""Every technique against scikit-learn, with the same parameters and the same rows.

Linear regression, support vectors, nearest neighbours and kernel ridge must agree to 1e-9. Trees are random: the
mean error of ours over ten seeds must lie within the range of scikit-learn's ten seeds.
Skipped (77) where scikit-learn is absent, unless BERTH_REQUIRE_DATA=1.
"""
import csv
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

REQUIRED = os.environ.get("BERTH_REQUIRE_DATA") == "1"
try:
    import numpy as np
    from sklearn import ensemble, gaussian_process, linear_model, neighbors, svm, tree
    from sklearn.gaussian_process import kernels
except ImportError as error:
    print(f"scikit-learn is not installed: {error}")
    sys.exit(1 if REQUIRED else 77)

SOURCE = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
TOOLS = Path(os.environ.get("BERTH_TOOLS", SOURCE / "build" / "release" / "tests"))
DATA = Path(os.environ.get("BERTH_DATA_DIR", SOURCE / ".." / "shared" / "data"))
TOLERANCE = 1e-9
SEEDS = range(10)

warnings.filterwarnings("ignore")


def ours(technique, train, test, seed=0, **params):
    """Our predictions for the rows of `test`, after a round trip of the model through JSON."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("train.csv", "test.csv")]
        for path, (x, y) in zip(paths, (train, test)):
            np.savetxt(path, np.column_stack([x, y]), fmt="%.17g", delimiter=",")
        command = [TOOLS / "technique_runner", technique, *paths, str(seed)]
        command += [f"{name}={value!r}" for name, value in params.items()]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return np.array([float(line) for line in done.stdout.split()])


# --- data sets: (name, train, test), each side (x, y) ---

def standardised(x, y, train_rows):
    train, test = np.arange(len(y)) < train_rows, np.arange(len(y)) >= train_rows
    mean, sd = x[train].mean(axis=0), x[train].std(axis=0)
    x = (x - mean) / np.where(sd > 0, sd, 1.0)
    return (x[train], y[train]), (x[test], y[test])


def curve(x, rng, noise=0.1):
    y = np.sin(2 * x[:, 0]) + 0.5 * x[:, 1 % x.shape[1]] ** 2 - 0.3 * x.sum(axis=1)
    return y + noise * rng.standard_normal(len(x))


def made_data():
    rng = np.random.default_rng(20)
    x = rng.standard_normal((300, 6))
    yield "random", *standardised(x, curve(x, rng), 200)
    x = rng.standard_normal((150, 5))
    x[:, 3] = 7.0
    yield "constant feature", *standardised(x, curve(x, rng), 100)
    x = np.repeat(rng.standard_normal((60, 4)), 2, axis=0)
    yield "duplicated rows", *standardised(x, curve(x, rng), 80)
    x = rng.standard_normal((24, 3))
    yield "few rows", *standardised(x, curve(x, rng), 8)
    x = rng.standard_normal((60, 14))
    yield "wide", *standardised(x, curve(x, rng), 40)
    x = rng.standard_normal((40, 50))
    yield "more features than rows", *standardised(x, curve(x, rng), 25)
    x = np.column_stack([rng.integers(0, 2, (200, 5)), rng.standard_normal((200, 2))])
    yield "indicators", *standardised(x, curve(x, rng), 140)
    x = rng.standard_normal((120, 3))
    yield "constant target", *standardised(x, np.full(120, 2.5), 80)
    x = rng.standard_normal((1300, 12))
    yield "1000 by 12", *standardised(x, curve(x, rng), 1000)


def real_data():
    """Solo profiles of the handed-out sets, first fold of the first folding."""
    for path in sorted((DATA / "interference" / "berth_csv").glob("*.folds.csv")):
        with open(str(path).replace(".folds", ""), newline="") as file:
            rows = list(csv.DictReader(file))
        with open(path, newline="") as file:
            folds = np.array([int(row["repeat0"]) for row in csv.DictReader(file)])
        names = [name for name in rows[0] if name.startswith(("solo.", "co."))]
        x = np.array([[float(row[name] or "nan") for name in names] for row in rows])
        y = np.array([float(row["interference_rate"]) for row in rows])
        held_out = folds == 0
        x = np.where(np.isnan(x), np.nanmedian(x[~held_out], axis=0), x)
        order = np.argsort(held_out, kind="stable")
        yield path.name.split(".")[0], *standardised(x[order], y[order], int((~held_out).sum()))


# --- techniques ---

class MinimumNorm(linear_model.LinearRegression):
    """LinearRegression, but for columns that depend on each other. There it keeps singular values
    that are nothing but rounding (its bound is one epsilon of the largest) and its answer is noise;
    ours drops them, as numpy does with its usual bound."""

    def fit(self, x, y):
        super().fit(x, y)
        bound = max(x.shape) * np.finfo(float).eps
        if self.singular_.min() <= bound * self.singular_.max():
            self.coef_ = np.linalg.lstsq(x - x.mean(axis=0), y - y.mean(), rcond=bound)[0]
            self.intercept_ = y.mean() - x.mean(axis=0) @ self.coef_
        return self


class Neighbours(neighbors.KNeighborsRegressor):
    """KNeighborsRegressor, but where the fifth and the sixth neighbour are equally far: which of
    them it takes is an accident of its search tree; ours is the earlier row. (Its brute search
    computes distances by a product of matrices, which is not exact for rows that are the same; its
    tree does it directly, as we do.)"""

    def __init__(self):
        super().__init__(5, weights="distance", algorithm="kd_tree")

    def predict(self, x):
        result = super().predict(x)
        for i, row in enumerate(x):
            distances = np.sqrt(((self._fit_X - row) ** 2).sum(axis=1))
            order = np.argsort(distances, kind="stable")
            fifth, sixth = distances[order[4:6]]
            if sixth - fifth <= 1e-12 * sixth:
                near, y = order[:5], self._y[order[:5]]
                with np.errstate(divide="ignore"):
                    weights = 1.0 / distances[near]
                weights = np.isinf(weights) if np.isinf(weights).any() else weights
                result[i] = np.average(y, weights=weights)
        return result


class KernelRidge:
    """A Gaussian process of given length and noise about the mean target."""

    def fit(self, x, y):
        variance = x.var()
        gamma = 1.0 / (x.shape[1] * variance) if variance > 0 else 1.0
        kernel = kernels.Matern(length_scale=1.0 / np.sqrt(2.0 * gamma), nu=1.5)
        self.mean_ = y.mean()
        self.process_ = gaussian_process.GaussianProcessRegressor(
            kernel, alpha=0.03, optimizer=None).fit(x, y - self.mean_)
        return self

    def predict(self, x):
        return self.mean_ + self.process_.predict(x)


EXACT = {
    "linear": ({}, lambda: MinimumNorm()),
    "svr-linear": ({"C": 1.0, "epsilon": 0.01},
                   lambda: svm.SVR(kernel="linear", C=1.0, epsilon=0.01)),
    "svr-poly": ({"C": 1.0, "epsilon": 0.01},
                 lambda: svm.SVR(kernel="poly", degree=3, coef0=0.0, C=1.0, epsilon=0.01)),
    "svr-rbf": ({"C": 10.0, "epsilon": 0.01},
                lambda: svm.SVR(kernel="rbf", C=10.0, epsilon=0.01)),
    "knn": ({"k": 5.0}, lambda: Neighbours()),
    "kernel-ridge": ({"alpha": 0.03}, lambda: KernelRidge()),
}

RANDOM = {
    "cart": ({"min_samples_leaf": 3.0},
             lambda seed: tree.DecisionTreeRegressor(min_samples_leaf=3, random_state=seed)),
    "random-forest": ({"trees": 200.0},
                      lambda seed: ensemble.RandomForestRegressor(200, random_state=seed)),
    "extra-trees": ({"trees": 200.0},
                    lambda seed: ensemble.ExtraTreesRegressor(200, random_state=seed)),
    "bagging": ({"trees": 50.0}, lambda seed: ensemble.BaggingRegressor(
        tree.DecisionTreeRegressor(), n_estimators=50, random_state=seed)),
    "adaboost-r2": ({"trees": 100.0, "max_depth": 6.0}, lambda seed: ensemble.AdaBoostRegressor(
        tree.DecisionTreeRegressor(max_depth=6), n_estimators=100, random_state=seed)),
    "gradient-boosting": (
        {"trees": 300.0, "max_depth": 4.0, "learning_rate": 0.05, "subsample": 0.8},
        lambda seed: ensemble.GradientBoostingRegressor(
            n_estimators=300, max_depth=4, learning_rate=0.05, subsample=0.8, random_state=seed)),
}


def check_exact(data):
    failures = 0
    for name, train, test in data:
        for technique, (params, make) in EXACT.items():
            theirs = make().fit(*train).predict(test[0])
            got = ours(technique, train, test, **params)
            worst = np.max(np.abs(got - theirs) / np.maximum(1.0, np.abs(theirs)))
            good = worst <= TOLERANCE
            failures += not good
            print(f"{'ok  ' if good else 'FAIL'} {name:24} {technique:18} differs by {worst:.2g}")
    return failures


def check_random(data):
    failures = 0
    for name, train, test in data:
        for technique, (params, make) in RANDOM.items():
            theirs = [error(make(seed).fit(*train).predict(test[0]), test) for seed in SEEDS]
            mine = [error(ours(technique, train, test, seed, **params), test) for seed in SEEDS]
            low, high, mean = min(theirs), max(theirs), np.mean(mine)
            good = low - TOLERANCE <= mean <= high + TOLERANCE
            failures += not good
            print(f"{'ok  ' if good else 'FAIL'} {name:24} {technique:18} "
                  f"ours {mean:.5f}, theirs {low:.5f} to {high:.5f}")
    return failures


def error(predicted, test):
    return np.mean(np.abs(predicted - test[1]))


def main():
    data = list(made_data())
    real = list(real_data())
    if not real:
        print(f"no interference data under {DATA}: made data only")
        if REQUIRED:
            return 1
    failures = check_exact(data + real)
    forests = ("random", "indicators")
    failures += check_random([entry for entry in data if entry[0] in forests] + real)
    print(f"{failures} comparisons failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
