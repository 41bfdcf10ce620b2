"""Install R and nginx, which some tests need, where root has apt-get; elsewhere those tests skip and say so."""

import os
import shutil

from chromium import install

PACKAGES = {"Rscript": "r-base-core", "nginx": "nginx"}

if __name__ == "__main__":
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"])
    if missing := [package for program, package in PACKAGES.items() if not shutil.which(program, path=path)]:
        install(*missing)
