"""The timings the project claims, as ratios measured in one run: ``make bench``.

accuracy  auto-cov over paper 5's methods, zCDP; pure: the same under pure DP.
speed     paper 5's methods as multiples of the linear algebra they cannot avoid.
glasso    the graphical lasso as multiples of scikit-learn's and gglasso's time at equal accuracy.
latency   every page's lever, from the key to the first and the last change, in multiples of a page that only echoes
          its slider; in real Chromium, and said to be missing where there is none.
cold      from the start of the server to the first picture on Home, beside a page with one tiny chart; with
          BENCH_BEFORE=folder also beside another checkout.
"""

from __future__ import annotations

import argparse
import sys

from tests import bench_accuracy, bench_glasso, bench_latency

SECTIONS = {
    "accuracy": bench_accuracy.accuracy,
    "pure": bench_accuracy.pure,
    "speed": bench_accuracy.speed,
    "glasso": bench_glasso.glasso,
    "latency": bench_latency.latency,
    "cold": bench_latency.cold,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], help="default: all")
    chosen = parser.parse_args().sections or list(SECTIONS)
    for name in chosen:
        for what, found, gate in SECTIONS[name]():
            print(f"{name:<10} {what:<48} {found}   {gate}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
