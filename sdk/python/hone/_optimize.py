# SPDX-License-Identifier: MIT
"""hone.optimize: a Python function as objective.

    def loss(p):                            # or loss(p, trial), with trial.report(value, step)
        return (p["x"] - 1) ** 2

    result = hone.optimize(loss, {"x": {"min": -5, "max": 5}}, trials=40)
    print(result.best.params)

Each of `parallel` slots asks, runs, tells, in a thread; with processes=True the thread only speaks
to a process that runs the function. One slot needs no thread at all.
"""

from __future__ import annotations

import inspect
import multiprocessing
import threading
import traceback
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional

from .search import Best, Exhausted, Search, SearchError, Trial, Waiting

ALL_RAISED = 5  # so many exceptions without a result: it is the function


class Result(NamedTuple):
    best: Optional[Best]  # None with several objectives
    front: List[Trial]  # several objectives: what no other trial beats in all of them
    trials: List[Trial]
    errors: Dict[int, str]  # why trials failed, by their ids
    search: Search


class Running:
    """A trial as the function sees it, if it takes a second argument."""

    def __init__(self, id: int, params: Dict[str, Any], tell: Callable[..., bool]) -> None:
        self.id = id
        self.params = params
        self.should_stop = False
        self._tell = tell

    def report(self, value: Any, step: Optional[int] = None, *, instance: Optional[int] = None) -> bool:
        """A value on the way, at a step or on a fold. True: return now, it is not worth going on."""
        if step is None and instance is None:
            raise SearchError("report(value, step) or report(value, instance=…)")
        self.should_stop = self._tell(value, step, instance)
        return self.should_stop


class _Job:
    """What the slots share."""

    def __init__(self, search: Search, trials: int, patience: int) -> None:
        self.search = search
        self.left = trials
        self.patience = patience
        self.changed = threading.Condition()
        self.flying = 0
        self.completed = 0
        self.raised = 0
        self.errors: Dict[int, str] = {}
        self.first_error: Optional[BaseException] = None
        self.broken: Optional[BaseException] = None  # ends all slots

    def next(self) -> Optional[Trial]:
        with self.changed:
            while self.left > 0 and not self.broken:
                try:
                    trial = self.search.ask()
                except Exhausted:
                    return None
                except Waiting:
                    if not self.flying:
                        raise
                    self.changed.wait()
                    continue
                self.left -= 1
                self.flying += 1
                return trial
            return None

    def landed(self) -> None:
        self.flying -= 1
        self.changed.notify_all()

    def done(self, id: int, value: Any, stopped: bool) -> None:
        with self.changed:
            if stopped:
                self.search.stopped(id)
            else:
                self.search.tell(id, value)
            if self.search.trial(id).state == "failed":
                self.errors[id] = "its value is not finite"
            else:
                self.completed += 1
            self.landed()

    def failed(self, id: int, error: BaseException, text: str) -> None:
        with self.changed:
            self.search.fail(id)
            self.errors[id] = text
            self.raised += 1
            self.first_error = self.first_error or error
            if not self.completed and self.raised >= self.patience:
                self.broken = self.broken or self.all_failed()
            self.landed()

    def all_failed(self) -> SearchError:
        first = min(self.errors)
        return SearchError(f"all of {len(self.errors)} trials failed; trial {first}: {self.errors[first]}")

    def cancel(self, id: int, error: BaseException) -> None:
        with self.changed:
            self.search.cancel(id)
            self.broken = self.broken or error
            self.landed()


def _text(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(type(error), error)).strip()


def _takes_trial(function: Callable[..., Any]) -> bool:
    """Does it want a second argument?"""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(places) > 1 and places[1].default is inspect.Parameter.empty


def _call(function: Callable[..., Any], running: Running, takes_trial: bool) -> Any:
    return function(running.params, running) if takes_trial else function(running.params)


class _Here:
    """Runs the function in this thread."""

    def __init__(self, function: Callable[..., Any], search: Search) -> None:
        self.function = function
        self.takes_trial = _takes_trial(function)
        self.search = search

    def run(self, trial: Trial) -> Any:
        def tell(value: Any, step: Optional[int], instance: Optional[int]) -> bool:
            return self.search.tell(trial.id, value, step=step, instance=instance)

        running = Running(trial.id, trial.params, tell)
        return _call(self.function, running, self.takes_trial), running.should_stop

    def close(self) -> None:
        pass


class RemoteError(Exception):
    """What the function raised in its process, as text."""


class _There:
    """Runs the function in a process of its own, which lives for many trials."""

    def __init__(self, function: Callable[..., Any], search: Search) -> None:
        self.function = function
        self.search = search
        self.start()

    def start(self) -> None:
        self.ours, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=_serve, args=(theirs, self.function), daemon=True)
        self.process.start()
        theirs.close()

    def run(self, trial: Trial) -> Any:
        try:
            self.ours.send((trial.id, trial.params))
            while True:
                kind, *rest = self.ours.recv()
                if kind == "returned":
                    return rest
                if kind == "raised":
                    raise RemoteError(rest[0])
                self.ours.send(self.answer(trial, *rest))
        except (EOFError, OSError):
            code = self.restart()
            raise RemoteError(f"its process ended with code {code}") from None

    def answer(self, trial: Trial, value: Any, step: Optional[int], instance: Optional[int]) -> Any:
        try:
            return self.search.tell(trial.id, value, step=step, instance=instance)
        except (SearchError, TypeError, ValueError) as e:
            return str(e)

    def restart(self) -> Optional[int]:
        self.process.join()
        code = self.process.exitcode
        self.ours.close()
        self.start()
        return code

    def close(self) -> None:
        self.process.terminate()
        self.process.join()
        self.ours.close()


def _serve(pipe: Any, function: Callable[..., Any]) -> None:
    """The process: trials in, results out, until the other end is closed."""

    def tell(value: Any, step: Optional[int], instance: Optional[int]) -> bool:
        pipe.send(("reported", value, step, instance))
        answer = pipe.recv()
        if isinstance(answer, str):
            raise SearchError(answer)
        return bool(answer)

    takes_trial = _takes_trial(function)
    while True:
        try:
            id, params = pipe.recv()
        except EOFError:
            return
        running = Running(id, params, tell)
        try:
            value = _call(function, running, takes_trial)
            pipe.send(("returned", value, running.should_stop))
        except Exception as e:
            pipe.send(("raised", _text(e)))


def _slot(job: _Job, runner: Any) -> None:
    while True:
        trial = job.next()
        if trial is None:
            return
        try:
            value, stopped = runner.run(trial)
            job.done(trial.id, value, stopped)
        except Exception as e:
            job.failed(trial.id, e, _text(e) if not isinstance(e, RemoteError) else str(e))
        except BaseException as e:
            job.cancel(trial.id, e)
            return


def _run_threads(job: _Job, runners: List[Any]) -> None:
    def work(runner: Any) -> None:
        try:
            _slot(job, runner)
        except BaseException as e:  # of ours: the search refused to go on
            with job.changed:
                job.broken = job.broken or e
                job.changed.notify_all()

    threads = [threading.Thread(target=work, args=(runner,)) for runner in runners]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException as e:
        with job.changed:
            job.broken = e
        raise


def optimize(function: Callable[..., Any], params: Mapping[str, Any], trials: int = 100,
             goal: Any = "minimize", *, parallel: int = 1, processes: bool = False,
             **search: Any) -> Result:
    """Find the settings for which function(params) is best.

    The function gets a dict and returns a number (a list with several objectives and constraints).
    If it takes a second argument, that is the trial: trial.report(value, step) answers whether to
    return at once. An exception fails its trial; when all fail, the first is raised again.
    parallel: how many at once, in threads, or processes if processes is true (then the function
    must be one that pickle can name). Further arguments are those of hone.search.Search.
    """
    parallel = max(1, parallel)
    found = Search(params, goal, trials=trials, **search)
    job = _Job(found, trials, max(ALL_RAISED, parallel))
    kind = _There if processes else _Here
    runners: List[Any] = []
    try:
        for _ in range(parallel):
            runners.append(kind(function, found))
        if parallel == 1 and not processes:
            _slot(job, runners[0])
        else:
            _run_threads(job, runners)
    finally:
        for runner in runners:
            runner.close()
    if job.broken:
        raise job.broken from job.first_error
    return _result(job)


def _result(job: _Job) -> Result:
    search, trials = job.search, job.search.trials
    if job.errors and not job.completed:
        raise job.all_failed() from job.first_error
    several = any(isinstance(trial.value, list) for trial in trials)
    completed = any(trial.state == "completed" for trial in trials)
    best = search.best() if completed and not several else None
    return Result(best, search.front(), trials, job.errors, search)
