"""Furniture of the pages. The first page waits here for the libraries that `make run` began to import."""

import threading

for _thread in threading.enumerate():
    if _thread.name == "libraries":
        _thread.join()
