"""One peer on one table, in the peer's own environment: ``peer_worker.py PEER IN.npz OUT.npz``; see `bench_peers`.

IN has rows (n x d, in [-1, 1], norm at most bound), bound, epsilon and draws; OUT gets one covariance a draw.
"""

import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")


def diffprivlib(rows, bound, epsilon, seed):
    from diffprivlib.models import PCA

    d = rows.shape[1]
    model = PCA(epsilon=epsilon, bounds=(-np.ones(d), np.ones(d)), data_norm=bound, random_state=seed)
    return model.fit(rows).get_covariance()


def opendp(rows, bound, epsilon, seed):
    import opendp.prelude as dp
    from opendp.extras.sklearn.decomposition import PCA

    dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")
    model = PCA(epsilon=epsilon, row_norm=bound, n_samples=len(rows), n_features=rows.shape[1])
    return model.fit(rows).get_covariance()


def dpmm(rows, bound, epsilon, seed):
    import pandas as pd
    from dpmm.pipelines.mst import MSTPipeline

    table = pd.DataFrame(rows, columns=[f"x{j}" for j in range(rows.shape[1])])
    model = MSTPipeline(
        epsilon=epsilon, delta=1e-6, proc_epsilon=None, binner_type="uniform", n_bins=8, gen_kwargs={"n_iters": 1000}
    )
    model.fit(table, domain={name: {"lower": -1.0, "upper": 1.0} for name in table}, random_state=seed)
    return np.cov(model.generate(n_records=20_000, random_state=seed).to_numpy().T, bias=True)


if __name__ == "__main__":
    peer, source, target = sys.argv[1:]
    given = np.load(source)
    made = [
        {"diffprivlib": diffprivlib, "opendp": opendp, "dpmm": dpmm}[peer](
            given["rows"], float(given["bound"]), float(given["epsilon"]), seed
        )
        for seed in range(int(given["draws"]))
    ]
    np.savez(target, covariances=np.array(made))
