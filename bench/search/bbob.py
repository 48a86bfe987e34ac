# SPDX-License-Identifier: MIT
"""bbob.c and multi.c for Python: the same compiled functions that our own searchers are run on."""
import ctypes
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = ["bbob.c", "bbob_parts.c", "bbob_functions.c"]
FLAGS = ["-std=gnu17", "-O2", "-ffp-contract=off", "-shared", "-fPIC"]


def library(folder):
    """Compile into the folder unless it is there and newer than the sources; load it."""
    path = folder / "libbench-search.so"
    sources = [HERE / name for name in SOURCES]
    newest = max(file.stat().st_mtime for file in HERE.glob("*.[ch]"))
    if not path.exists() or path.stat().st_mtime < newest:
        fresh = path.with_suffix(f".{os.getpid()}")
        subprocess.run([os.environ.get("CC", "cc"), *FLAGS, "-o", fresh, *sources, "-lm"],
                       check=True)
        fresh.rename(path)
    return ctypes.CDLL(str(path))


class Bbob:
    """One instance of one function, to be minimised over [-5, 5]^dim."""

    def __init__(self, folder, function, dim, instance):
        self.lib = library(folder)
        self.lib.bbob_new.restype = ctypes.c_void_p
        self.lib.bbob_new.argtypes = [ctypes.c_int, ctypes.c_size_t, ctypes.c_int]
        self.lib.bbob_value.restype = ctypes.c_double
        self.lib.bbob_value.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_double)]
        self.lib.bbob_best.restype = ctypes.c_double
        self.lib.bbob_best.argtypes = [ctypes.c_void_p]
        self.lib.bbob_optimum.restype = ctypes.POINTER(ctypes.c_double)
        self.lib.bbob_optimum.argtypes = [ctypes.c_void_p]
        self.lib.bbob_free.restype = None
        self.lib.bbob_free.argtypes = [ctypes.c_void_p]
        self.dim = dim
        self.handle = self.lib.bbob_new(function, dim, instance)
        if not self.handle:
            raise ValueError(f"no function {function} in {dim} dimensions, instance {instance}")
        self.best = self.lib.bbob_best(self.handle)
        self.optimum = self.lib.bbob_optimum(self.handle)[:dim]

    def __call__(self, x):
        return self.lib.bbob_value(self.handle, (ctypes.c_double * self.dim)(*x))

    def __del__(self):
        if getattr(self, "handle", None):
            self.lib.bbob_free(self.handle)
