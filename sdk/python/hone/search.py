# SPDX-License-Identifier: MIT
"""Hone's search for programs that run their trials themselves.

    from hone.search import Search

    s = Search({"lr": {"min": 1e-4, "max": 1e-1, "scale": "log"}, "batch": [32, 64]}, goal="maximize")
    for t in s:                             # 100 trials, or trials=…
        s.tell(t.id, train(**t.params))
    print(s.best().params)

Parameters are written as in a spec (docs/spec.md): a list of choices, {min, max, scale, type, step},
{values, when}, a constant. The search itself is libhone-search.so, used through ctypes; no other
dependency. A Search may be used from several threads.
"""

from __future__ import annotations

import ctypes
import errno
import json
import math
import os
import threading
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Union

__all__ = ["Search", "Trial", "Best", "SearchError", "Exhausted", "Waiting"]

Value = Union[float, Sequence[float]]


class SearchError(ValueError):
    """A sentence that says what is wrong."""


class Exhausted(SearchError):
    """Every setting of a finite space was given out."""


class Waiting(SearchError):
    """There is no next trial before one in flight is told."""


class Trial(NamedTuple):
    id: int
    params: Dict[str, Any]
    state: str = "running"  # completed, stopped, failed, cancelled
    value: Any = None  # its result; a list with several objectives
    constraints: Optional[List[Optional[float]]] = None  # what the constraints bound
    why: str = ""  # it was chosen: walk, draw, try, model, near, breed, repeat, own
    by: str = ""  # the algorithm
    seen: int = 0  # how many results the choice rests on
    mean: Optional[float] = None  # what the model expected of it
    deviation: Optional[float] = None
    acquisition: Optional[float] = None
    verdict: Optional[Dict[str, Any]] = None  # of the stop rule, at its last step


class Best(NamedTuple):
    id: int
    params: Dict[str, Any]
    value: float  # its result
    mean: float  # of its true value as the model sees it; without a model the average
    deviation: Optional[float]  # how sure that is; None: no model
    noise: Optional[float]  # deviation of one run; None: unknown
    repeats: int  # how many results its setting has
    constraints: Optional[List[Optional[float]]] = None  # what the constraints bound


# ---- the library ----

_NAME = "libhone-search.so"
_lib: Optional[ctypes.CDLL] = None
_lib_lock = threading.Lock()


def _places() -> List[str]:
    """Where the library may be: beside the package, in the source tree, in the same prefix."""
    folder = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(os.path.dirname(os.path.dirname(folder)))
    places = [os.path.join(folder, _NAME), os.path.join(root, "build", _NAME)]
    above = os.path.dirname(folder)
    while above != os.path.dirname(above):
        places.append(os.path.join(above, "lib", _NAME))
        above = os.path.dirname(above)
    return places


def _find() -> str:
    path = os.environ.get("HONE_SEARCH_LIB")
    if path:
        return path
    return next((place for place in _places() if os.path.exists(place)), _NAME)


def _open() -> ctypes.CDLL:
    path = _find()
    try:
        lib = ctypes.CDLL(path)
        _declare(lib)
    except OSError as e:
        hint = "run `make` in Hone's source folder, or name it in HONE_SEARCH_LIB"
        if not str(e).startswith(path):
            hint = "install what it needs: libfyaml and Jansson"
        raise ImportError(f"Hone's search library cannot be loaded: {e}; {hint}") from None
    except AttributeError as e:
        raise ImportError(f"{path} is not of this version of Hone: {e}") from None
    return lib


def _declare(lib: ctypes.CDLL) -> None:
    pointer, text, number, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_size_t
    doubles, result = ctypes.POINTER(ctypes.c_double), ctypes.c_int
    for name, answer, *arguments in (
        ("new", pointer, text, text, size),
        ("load", pointer, text, size, text, size),
        ("free", None, pointer),
        ("error", text, pointer),
        ("problem", text, pointer),
        ("ask", number, pointer),
        ("add", number, pointer, text),
        ("count", number, pointer),
        ("trial", text, pointer, number),
        ("tell", result, pointer, number, doubles, size),
        ("report", result, pointer, number, number, doubles, size),
        ("instance", result, pointer, number, number, doubles, size),
        ("close", result, pointer, number),
        ("stopped", result, pointer, number),
        ("fail", result, pointer, number),
        ("cancel", result, pointer, number),
        ("best", text, pointer),
        ("front", text, pointer),
        ("save", pointer, pointer, ctypes.POINTER(size)),
    ):
        function = getattr(lib, "hone_search_" + name)
        function.restype, function.argtypes = answer, arguments


def _library() -> ctypes.CDLL:
    global _lib
    with _lib_lock:
        if _lib is None:
            _lib = _open()
        return _lib


# ---- parameters to JSON and back ----


def _plain(value: Any) -> Any:
    """A choice as JSON can say it; one that is no scalar, or not finite, goes by its repr, and comes
    back itself."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()  # a number of numpy
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if value is None or isinstance(value, (str, int, float)):
        return value
    return repr(value)


def _whole(value: Any, what: str) -> int:
    """A number of 64 bits without a fraction."""
    try:
        number = int(value)
        if number == value and -(2**63) <= number < 2**63:
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise SearchError(f"{what} must be a whole number of 64 bits, not {value!r}")


def _float(value: Any) -> Any:
    """A number that was read from JSON, where "inf" is a text."""
    if isinstance(value, list):
        return [_float(v) for v in value]
    return float(value) if isinstance(value, str) else value


def _plain_param(param: Any) -> Any:
    if isinstance(param, Mapping):
        return {k: _plain_param(v) if k in ("values", "range") else v for k, v in param.items()}
    if isinstance(param, (list, tuple, range)):
        return [_plain(value) for value in param]
    return _plain(param)


def _plain_setting(setting: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: _plain(value) for name, value in setting.items()}


def _plain_clauses(clauses: Mapping[str, Any]) -> Dict[str, Any]:
    """Of `forbid`: a value, a list of values, or {min, max}."""
    return {
        name: v if isinstance(v, Mapping) else [_plain(x) for x in v] if isinstance(v, list) else _plain(v)
        for name, v in clauses.items()
    }


def _number(value: Any) -> Any:
    """What json does not know: numbers of numpy and the like."""
    if hasattr(value, "item"):
        return value.item()
    raise SearchError(f"{value!r} is neither a number nor a text")


def _restorer(param: Any) -> Callable[[Any], Any]:
    """What makes of a value that was read from JSON the one that the user wrote."""
    if isinstance(param, Mapping) and "min" in param and "max" in param:
        return int if param.get("type") == "int" else float
    if isinstance(param, Mapping):
        param = param.get("values", ())
    choices = param if isinstance(param, (list, tuple, range)) else [param]
    written = {(isinstance(_plain(v), bool), _plain(v)): v for v in choices}
    return lambda value: written.get((isinstance(value, bool), value), value)


def _objective(goal: Union[str, Sequence[str]], objectives: int) -> Any:
    goals = [goal] * objectives if isinstance(goal, str) else list(goal)
    if len(goals) == 1:
        return {"metric": "value", "goal": goals[0]}
    if not goals or objectives not in (1, len(goals)):
        raise SearchError(f"{len(goals)} goals are given for {objectives} objectives")
    return [{"metric": f"value{i}", "goal": goal} for i, goal in enumerate(goals)]


class Search:
    """Ask for settings, try them, tell the results.

    goal         "minimize", "maximize", or a list of these, one an objective
    algorithm    "auto", "bayes", "forest", "tpe", "cmaes", "evolve", "sobol", "random", "grid"
    seed         same seed and same tells, same settings; None: a random one
    trials       how many you mean to run; the search plans with it, asking for more is fine
    forbid       settings that are never given out: [{"opt": "sgd", "lr": {"min": 0.01}}]
    tries        settings to give out first, maybe partial: [{"lr": 0.01}]
    objectives   how many values a result has
    constraints  bounds of further values: ["latency_ms <= 20"], or how many values must be ≤ 0
    stop         the rule behind tell(…, step=…): "curve", "none", "median", "asha", "hyperband", or
                 with its numbers: {"curve": "2%"}
    repeats      "auto": a good setting may be given out again to tell noise from merit; "never"
    """

    def __init__(self, params: Mapping[str, Any], goal: Union[str, Sequence[str]] = "minimize", *,
                 algorithm: str = "auto", seed: Optional[int] = None, trials: int = 100,
                 forbid: Optional[Sequence[Mapping[str, Any]]] = None,
                 tries: Optional[Sequence[Mapping[str, Any]]] = None, objectives: int = 1,
                 constraints: Union[int, Sequence[str]] = 0, stop: Any = "curve",
                 repeats: str = "auto") -> None:
        if isinstance(constraints, int):
            constraints = [f"constraint{i} <= 0" for i in range(constraints)]
        how = {"algorithm": algorithm, "trials": trials, "stop": stop, "repeats": repeats}
        if seed is not None:
            how["seed"] = seed
        problem: Dict[str, Any] = {
            "params": {name: _plain_param(param) for name, param in params.items()},
            "objective": _objective(goal, objectives),
            "search": how,
        }
        if forbid:
            problem["forbid"] = [_plain_clauses(clauses) for clauses in forbid]
        if tries:
            problem["try"] = [_plain_setting(setting) for setting in tries]
        if constraints:
            problem["constraint"] = list(constraints)
        text = json.dumps(problem, ensure_ascii=False, default=_number).encode("utf-8", "replace")
        error = ctypes.create_string_buffer(2000)
        self._adopt(_library().hone_search_new(text, error, len(error)), error, params)

    def _adopt(self, pointer: Optional[int], error: Any, params: Optional[Mapping[str, Any]]) -> None:
        if not pointer:
            raise SearchError(error.value.decode("utf-8", "replace"))
        self._lib = _library()
        self._pointer: Optional[int] = pointer
        self._lock = threading.RLock()
        try:
            problem = json.loads(self._lib.hone_search_problem(pointer))
        except ValueError:
            problem = {}  # saved by another language, in YAML
        self._params = dict(problem.get("params", {}) if params is None else params)
        self._restore = {name: _restorer(param) for name, param in self._params.items()}
        self._trials = int(problem.get("search", {}).get("trials", 100))

    def __del__(self) -> None:
        pointer, self._pointer = getattr(self, "_pointer", None), None
        if pointer:
            self._lib.hone_search_free(pointer)

    # -- asking --

    def ask(self) -> Trial:
        """The next trial. Exhausted when there is none; Waiting when there is none yet."""
        with self._lock:
            return self.trial(self._check(self._lib.hone_search_ask(self._pointer)))

    def add(self, params: Mapping[str, Any]) -> Trial:
        """A trial with a setting of your own."""
        text = json.dumps(_plain_setting(params), ensure_ascii=False).encode("utf-8", "replace")
        with self._lock:
            return self.trial(self._check(self._lib.hone_search_add(self._pointer, text)))

    def __iter__(self) -> Iterator[Trial]:
        """Trials until `trials` were given out, or there are no more."""
        while len(self) < self._trials:
            try:
                trial = self.ask()
            except Exhausted:
                return
            yield trial

    def __len__(self) -> int:
        """How many trials were given out."""
        with self._lock:
            return int(self._lib.hone_search_count(self._pointer))

    def trial(self, id: int) -> Trial:
        with self._lock:
            return Trial(**self._read(self._lib.hone_search_trial(self._pointer, _whole(id, "an id"))))

    @property
    def trials(self) -> List[Trial]:
        """All trials so far, as they are now."""
        with self._lock:
            return [self.trial(i + 1) for i in range(len(self))]

    # -- telling --

    def tell(self, id: int, value: Optional[Value] = None, *, step: Optional[int] = None,
             instance: Optional[int] = None) -> bool:
        """Say how good a trial is. True: it is not worth going on.

        tell(id, 0.93)               its result; with several objectives and constraints a list
        tell(id, 0.80, step=3)       a value on the way; then close it, or tell its result
        tell(id, 0.91, instance=2)   its value on one fold or instance; the mean is its result
        tell(id)                     close it with what was told: it is stopped if the last answer
                                     was True
        """
        call, handle = self._lib, self._pointer
        if step is not None and instance is not None:
            raise SearchError("give a step or an instance, not both")
        if value is None:
            if step is not None or instance is not None:
                raise SearchError("give a value for that step or instance")
            return self._end(call.hone_search_close, id)
        values, number = self._numbers(value), _whole(id, "an id")
        with self._lock:
            if step is not None:
                r = call.hone_search_report(handle, number, _whole(step, "a step"), values, len(values))
            elif instance is not None:
                k = _whole(instance, "an instance")
                r = call.hone_search_instance(handle, number, k, values, len(values))
            else:
                r = call.hone_search_tell(handle, number, values, len(values))
            return self._check(r) == 1

    def stopped(self, id: int) -> None:
        """It was ended early: what was told on the way tells how good it would have become."""
        self._end(self._lib.hone_search_stopped, id)

    def fail(self, id: int) -> None:
        """It has no result, by its own fault."""
        self._end(self._lib.hone_search_fail, id)

    def cancel(self, id: int) -> None:
        """It has no result, which says nothing about its setting: that may be given out again."""
        self._end(self._lib.hone_search_cancel, id)

    def _end(self, call: Callable[..., int], id: int) -> bool:
        with self._lock:
            self._check(call(self._pointer, _whole(id, "an id")))
        return False

    @staticmethod
    def _numbers(value: Value) -> Any:
        try:
            values = [float(value)]  # type: ignore[arg-type]
        except (TypeError, ValueError, RuntimeError):
            values = [float(v) for v in value]  # type: ignore[union-attr]
        return (ctypes.c_double * len(values))(*values)

    # -- what came out --

    def best(self) -> Best:
        """The best trial that was run, as the model sees it over all results."""
        with self._lock:
            return Best(**self._read(self._lib.hone_search_best(self._pointer)))

    def front(self) -> List[Trial]:
        """With several objectives: the trials that no other beats in all of them."""
        with self._lock:
            text = self._lib.hone_search_front(self._pointer)
            return [Trial(**self._restored(t), state="completed") for t in json.loads(text)]

    # -- keeping --

    def save(self) -> bytes:
        """All of it: problem, trials, results, state."""
        n = ctypes.c_size_t()
        with self._lock:
            return ctypes.string_at(self._lib.hone_search_save(self._pointer, ctypes.byref(n)), n.value)

    @classmethod
    def load(cls, saved: bytes, params: Optional[Mapping[str, Any]] = None) -> Search:
        """What was saved; it goes on as the saved one would have. `params` again, if there are
        choices that JSON cannot say: else those come as their repr()."""
        error = ctypes.create_string_buffer(2000)
        self = cls.__new__(cls)
        pointer = _library().hone_search_load(saved, len(saved), error, len(error))
        self._adopt(pointer, error, params)
        return self

    def __reduce__(self) -> Any:
        return type(self).load, (self.save(), self._params)

    # -- between the languages --

    def _check(self, r: int) -> int:
        if r >= 0:
            return r
        kind = {errno.EAGAIN: Waiting, errno.ENODATA: Exhausted}.get(-r, SearchError)
        raise kind(self._error())

    def _error(self) -> str:
        return str(self._lib.hone_search_error(self._pointer).decode("utf-8", "replace"))

    def _read(self, text: Optional[bytes]) -> Dict[str, Any]:
        if text is None:
            raise SearchError(self._error())
        return self._restored(json.loads(text))

    def _restored(self, trial: Dict[str, Any]) -> Dict[str, Any]:
        restore = self._restore
        trial["params"] = {k: restore[k](v) if k in restore else v for k, v in trial["params"].items()}
        for name in ("value", "constraints", "mean", "deviation", "noise", "acquisition"):
            if name in trial:
                trial[name] = _float(trial[name])
        return trial
