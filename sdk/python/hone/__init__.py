# SPDX-License-Identifier: MIT
"""What a training program in Python may use of Hone.

    import hone

    p = hone.params(lr=0.1, batch=32)       # this trial's, with defaults
    for epoch in hone.epochs(10):           # ends early when told to stop
        loss = train(p.lr, p.batch)
        hone.log(loss=loss)                 # step=… if it is not the epoch

hone.search and hone.optimize are for programs that run their trials themselves; they are loaded when
they are first used.

All of it is optional, and without Hone around it prints and goes on. The protocol is plain files
named by environment variables: HONE_PARAMS is read once, HONE_CONTROL is mapped and one 64-bit word
of it is looked at in a step, HONE_METRICS is appended to with one write(2) a line; HONE_SYSTEM is
JSON, the machine's settings at the start. No dependency, and
nothing is imported here that Python has not loaded already.
"""

from __future__ import annotations

import os
import sys
import time

__version__ = "0.1.0"
__all__ = [
    "params", "log", "epochs", "step", "total", "system", "should_stop", "checkpoint", "checkpoint_dir",
    "checkpoint_asked", "save_checkpoint", "active", "EXIT_AGAIN", "search", "optimize",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Tuple, Type, Union

    from . import search
    from ._optimize import optimize

EXIT_AGAIN = 85  # exit with this to say: checkpointed, start me again

# Looked up by __getattr__ below, each time anew.
params: Params
should_stop: bool  # the program is asked to end: save what is worth it and leave
checkpoint: Optional[str]  # newest complete checkpoint to start from: a file or folder, or None
checkpoint_dir: str  # where checkpoints are written; made if missing
active: bool  # does Hone listen?


# ---- parameters ----


class Params(dict):
    """The hyperparameters of this trial: params.lr, params["lr"], params.get("lr", 0.1).

    Call it to fill in defaults: params(lr=0.1, batch=32) returns params itself.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(
                f"no parameter '{name}' here; for a default write "
                f"hone.params.get('{name}', …) or hone.params({name}=…)"
            ) from None

    def __call__(self, **defaults: Any) -> Params:
        for name, value in defaults.items():
            self.setdefault(name, value)
        return self


def _load_params() -> Params:
    path = os.environ.get("HONE_PARAMS")
    if not path:
        return Params()
    import json

    try:
        with open(path, encoding="utf-8") as file:
            return Params(json.load(file))
    except OSError as e:
        print(f"hone: no parameters, the defaults are used: {e}", file=sys.stderr)
        return Params()


# ---- metrics ----


class _Writer:
    """Appends lines to HONE_METRICS. The file is made by the first line.

    A full disk must not end a training: the loss is said once on standard error, and the line after
    a half-written one starts with a newline.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.fd = -1
        self.cut = False
        self.complained = False

    def write(self, line: bytes) -> None:
        if self.cut:
            line = b"\n" + line
        try:
            if self.fd < 0:
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
                self.fd = os.open(self.path, flags, 0o644)
            written = os.write(self.fd, line)
        except OSError as e:
            self.complain(e)
            return
        self.cut = written < len(line)

    def complain(self, e: OSError) -> None:
        if not self.complained:
            self.complained = True
            print(f"hone: metrics are lost: {e}", file=sys.stderr)


_WHOLE = 2.0**53  # from here on floats leave out whole numbers
_LINE_CAP = 60000  # readers pass over lines of more than 64 KiB
_names: Dict[Any, Tuple[str, str]] = {}  # field names → line with and without step
_escapes = {ord(c): "\\" + c for c in ",= "}
_escapes.update({c: "_" for c in (*range(32), ord("\\"), ord('"'))})


def _format_of(names: Tuple[str, ...]) -> Tuple[str, str]:
    """The line protocol of these fields, ready for %: values, (step,) time in ns."""
    fields = ",".join(n.translate(_escapes).replace("%", "%%") + "=%r" for n in names)
    formats = (f"train {fields},step=%di %d\n", f"train {fields} %d\n")
    if len(_names) < 1000:
        _names[names] = formats
    return formats


def log(metrics: Optional[Mapping[str, Any]] = None, *, step: Optional[int] = None,
        **values: Any) -> None:
    """Record values: log(loss=0.3, acc=0.9, step=120) or log({"loss": 0.3}, step=120).

    Anything that float() takes is a value; it arrives exactly, NaN and infinities too, and so do
    whole numbers of 64 bits. Without a step it is the epoch inside epochs(), what step() said, or
    else Hone counts.
    """
    if metrics is not None:
        values = {**metrics, **values}
        if step is None:
            step = values.pop("step", None)
    if step is None:
        step = _now
    if not values:
        return
    if _writer is None:
        _print(values, step)
    else:
        _write(values, step)
    _look(told=False)  # afterwards: what was logged was done under the settings before


class _Whole(int):
    """Written as line protocol has it."""

    def __repr__(self) -> str:
        return f"{int(self)}i"


def _exact(value: Any) -> float:
    """A whole number that no float need have stays one, as long as it has 64 bits."""
    number = float(value)
    try:
        whole = value.__index__()
    except (AttributeError, TypeError):
        return number
    return _Whole(whole) if abs(number) >= _WHOLE and -(1 << 63) <= whole < 1 << 63 else number


def _write(values: Dict[str, Any], step: Optional[int]) -> None:
    assert _writer is not None
    names = tuple(values)
    formats = _names.get(names) or _format_of(names)
    numbers = tuple(map(float, values.values()))
    if not (max(numbers) < _WHOLE and min(numbers) > -_WHOLE):  # NaN may be any of them
        numbers = tuple(map(_exact, values.values()))
    if step is None:
        line = formats[1] % (*numbers, time.time_ns())
    else:
        line = formats[0] % (*numbers, step, time.time_ns())
    if len(line) > _LINE_CAP and len(names) > 1:
        _write_halves(values, step)
        return
    _writer.write(line.encode("utf-8", "replace"))


def _write_halves(values: Dict[str, Any], step: Optional[int]) -> None:
    items = list(values.items())
    middle = len(items) // 2
    _write(dict(items[:middle]), step)
    _write(dict(items[middle:]), step)


def _print(values: Dict[str, Any], step: Optional[int]) -> None:
    words = [] if step is None else [f"step {int(step)}"]
    words += [f"{name} {float(value):.6g}" for name, value in values.items()]
    print(" ".join(words), flush=True)


# ---- the machine's settings ----


class _System:
    """The settings in force: those of HONE_SYSTEM, then those of the newest page that has any.

    Known ones are applied here, to what the program has loaded by itself; for PyTorch and numpy
    loaded later it is done again.
    """

    SETTERS = {  # part of a library's file name: what sets its number of threads
        "omp": ("omp_set_num_threads",),  # libgomp, libomp, libiomp5
        "blas": ("openblas_set_num_threads", "openblas_set_num_threads64_",
                 "scipy_openblas_set_num_threads", "scipy_openblas_set_num_threads64_"),
    }

    def __init__(self) -> None:
        self.unread: Optional[str] = None  # HONE_SYSTEM until somebody asks: spares import json
        self.values: Dict[str, Any] = {}
        self.threads = 0  # 0: not said
        self.interop: Any = None  # None: not said, or done
        self.applied: Any = None
        self.complained = False

    def read(self) -> None:
        if self.unread:
            text, self.unread = self.unread, None
            self.set(_parse(text))

    def set(self, values: Dict[str, Any]) -> None:
        self.unread = None
        self.values = values
        threads = values.get("threads")
        whole = isinstance(threads, (int, float)) and 1 <= threads < 1 << 20
        self.threads = int(threads) if whole and not isinstance(threads, bool) else 0
        if self.interop is None:  # only before the first work: it cannot be changed later
            self.interop = values.get("interop")

    def known(self) -> bool:
        """Is all that is said applied here, so that the program need not look itself?"""
        return all(name in ("threads", "interop") for name in self.values)

    def apply(self) -> None:
        self.read()
        loaded = (self.threads, "torch" in sys.modules, "numpy" in sys.modules)
        if not (self.threads or self.interop) or loaded == self.applied:
            return
        self.applied = loaded
        try:
            self.set_threads()
        except Exception as e:  # whatever a library says, the training goes on
            if not self.complained:
                self.complained = True
                print(f"hone: cannot set {self.threads} threads: {e}", file=sys.stderr)

    def set_threads(self) -> None:
        for path, setters in self.libraries():
            import ctypes

            try:
                library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
            except OSError:  # replaced on disk since it was loaded
                continue
            for setter in setters:
                if self.threads and hasattr(library, setter):
                    getattr(library, setter)(ctypes.c_int(self.threads))
        torch = sys.modules.get("torch")
        if self.interop and hasattr(torch, "set_num_interop_threads"):
            interop, self.interop = self.interop, False
            torch.set_num_interop_threads(int(interop))
        if self.threads and hasattr(torch, "set_num_threads"):  # not while it is still being loaded
            torch.set_num_threads(self.threads)

    def libraries(self) -> Iterator[Tuple[str, Tuple[str, ...]]]:
        """The loaded libraries that may have threads of their own, with what may set them."""
        with open("/proc/self/maps", "rb") as maps:
            paths = {line.split(None, 5)[-1].rstrip(b"\n") for line in maps if b".so" in line}
        for path in sorted(map(os.fsdecode, paths)):
            for part, setters in self.SETTERS.items():
                if part in os.path.basename(path):
                    yield path, setters


def system(name: str, otherwise: Any = None) -> Any:
    """A setting of the machine that is now in force: system("threads", 2). It may change with any
    step. "threads" is applied by step() and log() themselves to PyTorch, OpenMP and OpenBLAS where
    they are loaded; what else there is (workers of a loader …) the program asks for here.
    """
    _look()
    _system.read()
    return _system.values.get(name, otherwise)


# ---- control ----


class _Control:
    """The page by which Hone speaks: 64-bit words version, generation (odd while being written) and
    length, then JSON. A generation is answered in the metrics once the program is told of it, or
    when all that it asks for was done here.
    """

    SIZE = 8192

    def __init__(self, path: str) -> None:
        import mmap

        fd = os.open(path, os.O_RDONLY)
        try:
            if os.fstat(fd).st_size < self.SIZE:
                raise OSError(f"{path} is too short")
            page = mmap.mmap(fd, self.SIZE, access=mmap.ACCESS_READ)
        finally:
            os.close(fd)
        self.bytes = memoryview(page)
        self.words = self.bytes.cast("Q")
        self.seen = 0
        self.stop = False
        self.checkpoint = False
        self.owed = False  # an answer to what was seen
        self.rest = False  # it asks for more than is done here

    def look(self, told: bool = True) -> None:
        """`told`: the caller hands the news to the program."""
        generation = self.words[1]
        if generation != self.seen and generation % 2 == 0:
            self.hear(generation)
        if _system.threads or _system.interop or _system.unread:
            _system.apply()
        if self.owed and (told or not self.rest):
            self.answer()

    def hear(self, generation: int) -> None:
        length = self.words[2]
        text = bytes(self.bytes[24 : 24 + length]) if length <= self.SIZE - 24 else b""
        if self.words[1] != generation:
            return  # it changed under us: next time
        self.seen = generation
        nothing = b"true" not in text and b"system" not in text
        asked = {} if nothing else _parse(text)  # spares the import of json at start
        self.stop = asked.get("stop") is True
        self.checkpoint = self.checkpoint or asked.get("checkpoint") is True
        if isinstance(asked.get("system"), dict):  # silent: they stay
            _system.set(asked["system"])
        self.owed = True
        self.rest = self.stop or self.checkpoint or not _system.known()

    def answer(self) -> None:
        self.owed = False
        if _writer is not None:
            step = "" if _now is None else f",step={int(_now)}i"
            _writer.write(f"hone generation={self.seen}i{step} {time.time_ns()}\n".encode())


def _parse(text: Union[str, bytes]) -> Dict[str, Any]:
    import json

    try:
        values = json.loads(text)
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}


def step(step: int) -> bool:
    """Say where the program is. False when it is asked to stop."""
    global _now
    _now = step
    return not _look()


def total(step: int) -> None:
    """Say at which step the training ends, so that Hone can tell how long it still takes."""
    if _writer is not None:
        _writer.write(f"hone total={int(step)}i {time.time_ns()}\n".encode())


def epochs(n: int, start: int = 0) -> Iterator[int]:
    """range(start, n) that ends when the program is asked to stop; log() takes the epoch as step."""
    total(n - 1)
    for epoch in range(start, n):
        if not step(epoch):
            return
        yield epoch


def checkpoint_asked() -> bool:
    """True once for every request to write a checkpoint soon."""
    if _control is None:
        return False
    _control.look()
    asked, _control.checkpoint = _control.checkpoint, False
    return asked


def _look(told: bool = True) -> bool:
    if _control is None:
        if _system.unread or _system.threads or _system.interop:
            _system.apply()
        return False
    _control.look(told)
    return _control.stop


# ---- checkpoints ----


class Checkpoint:
    """A checkpoint being written: beside, then renamed, so that a half-written one is never taken
    for a whole. `path` is where to write inside the with block, and where it is after it.
    """

    def __init__(self, step: int) -> None:
        name = f"{os.environ.get('HONE_ATTEMPT') or 1}-{int(step)}"
        folder = _checkpoint_dir()
        self.path = os.path.join(folder, f".{name}.part")
        self._final = os.path.join(folder, name)

    def __enter__(self) -> str:
        _remove(self.path)
        return self.path

    def __exit__(self, kind: Optional[Type[BaseException]], *rest: Any) -> None:
        if kind is not None:
            _remove(self.path)
            return
        fd = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
        if os.path.isdir(self._final):
            _remove(self._final)
        os.replace(self.path, self._final)
        self.path = self._final


def save_checkpoint(step: int, writer: Optional[Callable[[str], Any]] = None) -> Checkpoint:
    """Write a file or folder of this step:

    with hone.save_checkpoint(step) as path:
        torch.save(model.state_dict(), path)

    or in one call, hone.save_checkpoint(step, lambda path: torch.save(model.state_dict(), path)).
    """
    saving = Checkpoint(step)
    if writer is not None:
        with saving as path:
            writer(path)
    return saving


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        import shutil

        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def _checkpoint_dir() -> str:
    path = os.environ.get("HONE_CHECKPOINT_DIR") or "checkpoints"
    os.makedirs(path, exist_ok=True)
    return path


# ---- the module itself ----


def __getattr__(name: str) -> Any:
    if name == "should_stop":
        return _look()
    if name == "params":
        return globals().setdefault("params", _load_params())
    if name == "checkpoint":
        return os.environ.get("HONE_CHECKPOINT") or None
    if name == "checkpoint_dir":
        return _checkpoint_dir()
    if name == "active":
        return _writer is not None
    if name in ("search", "optimize"):
        import importlib

        module = importlib.import_module("._optimize" if name == "optimize" else ".search", "hone")
        return globals().setdefault(name, module.optimize if name == "optimize" else module)
    raise AttributeError(f"module 'hone' has no attribute '{name}'")


def _open_control() -> Optional[_Control]:
    path = os.environ.get("HONE_CONTROL")
    if not path:
        return None
    try:
        return _Control(path)
    except OSError as e:
        print(f"hone: cannot be told to stop: {e}", file=sys.stderr)
        return None


_now: Optional[int] = None  # the step given last
_metrics: Optional[str] = os.environ.get("HONE_METRICS")
_writer: Optional[_Writer] = _Writer(_metrics) if _metrics else None
_system = _System()
_control: Optional[_Control] = _open_control()
if _control is not None:
    _control.look()  # the answer tells Hone that there is somebody to talk to
if not _system.values:
    _system.unread = os.environ.get("HONE_SYSTEM")
