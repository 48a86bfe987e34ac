# SPDX-License-Identifier: MIT
"""bbob.c, multi.c and nested.c for Python: the same compiled functions that our own searchers run
on."""
import ctypes
import math
import os
import pathlib
import subprocess
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_uint, c_void_p

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = ["bbob.c", "bbob_parts.c", "bbob_functions.c", "multi.c", "nested.c"]
FLAGS = ["-std=gnu17", "-D_GNU_SOURCE", "-O2", "-ffp-contract=off", "-shared", "-fPIC"]
NESTED_FLOAT, NESTED_INT, NESTED_CHOICE = range(3)


class NestedParam(ctypes.Structure):
    """struct nested_param in nested.h"""
    _fields_ = [("name", c_char_p), ("kind", c_int), ("log", c_int), ("low", c_double),
                ("high", c_double), ("parent", c_int), ("values", c_uint), ("partner", c_int),
                ("weight", c_double)]


SIGNATURES = {
    "bbob_new": (c_void_p, c_int, c_size_t, c_int),
    "bbob_free": (None, c_void_p),
    "bbob_value": (c_double, c_void_p, POINTER(c_double)),
    "bbob_best": (c_double, c_void_p),
    "bbob_optimum": (POINTER(c_double), c_void_p),
    "multi_find": (c_void_p, c_char_p),
    "multi_allows": (c_int, c_void_p, c_size_t, c_size_t),
    "multi_low": (c_double, c_void_p, c_size_t),
    "multi_high": (c_double, c_void_p, c_size_t),
    "multi_value": (None, c_void_p, c_size_t, c_size_t, POINTER(c_double), POINTER(c_double)),
    "multi_reference": (None, c_void_p, c_size_t, POINTER(c_double)),
    "multi_best_volume": (c_double, c_void_p, c_size_t),
    "multi_volume": (c_double, POINTER(c_double), c_size_t, c_size_t, POINTER(c_double)),
    "nested_count": (c_size_t,),
    "nested_at": (POINTER(NestedParam), c_size_t),
    "nested_active": (c_int, c_size_t, POINTER(c_double)),
    "nested_value": (c_double, c_int, POINTER(c_double)),
    "nested_optimum": (None, c_int, POINTER(c_double)),
}


def library(folder):
    """Compile into the folder unless it is there and newer than the sources; load it."""
    path = folder / "libbench-search.so"
    newest = max(file.stat().st_mtime for file in HERE.glob("*.[ch]"))
    if not path.exists() or path.stat().st_mtime < newest:
        folder.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}")
        subprocess.run([os.environ.get("CC", "cc"), *FLAGS, "-o", fresh,
                        *(HERE / name for name in SOURCES), "-lm"], check=True)
        fresh.rename(path)
    lib = ctypes.CDLL(str(path))
    for name, (result, *arguments) in SIGNATURES.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


def array(values):
    return (c_double * len(values))(*values)


class Bbob:
    """One instance of one function, to be minimised over [-5, 5]^dim."""

    def __init__(self, lib, function, dim, instance):
        self.lib = lib
        self.handle = lib.bbob_new(function, dim, instance)
        if not self.handle:
            raise ValueError(f"no function {function} in {dim} dimensions, instance {instance}")
        self.best = lib.bbob_best(self.handle)
        self.optimum = lib.bbob_optimum(self.handle)[:dim]

    def __call__(self, x):
        return self.lib.bbob_value(self.handle, array(x))

    def __del__(self):
        if getattr(self, "handle", None):
            self.lib.bbob_free(self.handle)


class Multi:
    """A closed form with several objectives, and the volume that points dominate."""

    def __init__(self, lib, name, dim, objectives):
        self.lib, self.dim, self.objectives = lib, dim, objectives
        self.handle = lib.multi_find(name.encode())
        if not self.handle or not lib.multi_allows(self.handle, dim, objectives):
            raise ValueError(f"no {name} with {dim} parameters and {objectives} objectives")
        self.low = [lib.multi_low(self.handle, i) for i in range(dim)]
        self.high = [lib.multi_high(self.handle, i) for i in range(dim)]
        self.best_volume = lib.multi_best_volume(self.handle, objectives)

    def __call__(self, x):
        out = array([0.0] * self.objectives)
        self.lib.multi_value(self.handle, self.dim, self.objectives, array(x), out)
        return list(out)

    def volume(self, points):
        reference = array([0.0] * self.objectives)
        self.lib.multi_reference(self.handle, self.objectives, reference)
        flat = array([value for point in points for value in point])
        return self.lib.multi_volume(flat, len(points), self.objectives, reference)


class Nested:
    """A closed form with conditional parameters; the least value is 0."""

    def __init__(self, lib, instance):
        self.lib, self.instance = lib, instance
        self.params = [lib.nested_at(i).contents for i in range(lib.nested_count())]

    def fill(self, choose):
        """A point: choose(param) is asked for the parameters that are active, in their order."""
        x = array([math.nan] * len(self.params))
        for i, param in enumerate(self.params):
            if self.lib.nested_active(i, x):
                x[i] = choose(param)
        return list(x)

    def optimum(self):
        x = array([math.nan] * len(self.params))
        self.lib.nested_optimum(self.instance, x)
        return list(x)

    def __call__(self, x):
        return self.lib.nested_value(self.instance, array(x))
