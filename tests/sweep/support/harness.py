# SPDX-License-Identifier: MIT
"""What the sweeps share: running hone, finding what a home has running, killing it safely, TAP.

A process is signalled only through a pidfd whose process was looked at after it was opened, so a
number that was given anew cannot be hit.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HONE = os.environ.get("HONE_BIN") or os.path.abspath("build/hone")
ROUNDS = int(os.environ.get("SWEEP_ROUNDS") or 50)
SEED = int(os.environ.get("SWEEP_SEED") or 1)
PATIENCE = float(os.environ.get("SWEEP_PATIENCE") or 60)  # seconds; only a failure waits so long


class Problem(Exception):
    """Something that must always hold did not."""


def check(condition, *words):
    if not condition:
        raise Problem(" ".join(str(word) for word in words))


def wait_for(what, condition, patience=PATIENCE):
    """Poll until the condition gives something true, and return that."""
    until = time.monotonic() + patience
    while True:
        result = condition()
        if result:
            return result
        check(time.monotonic() < until, "waited in vain until", what)
        time.sleep(0.005)


class Home:
    """A home of Hone in a folder of its own, removed at the end unless something went wrong."""

    def __init__(self, name):
        self.folder = tempfile.mkdtemp(prefix=f"hone-{name}-")
        self.path = os.path.join(self.folder, "home")
        self.procs = []
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("HONE_")}
        self.env["HONE_HOME"] = self.path
        self.env["HONE_PORT"] = "off"
        self.env["SWEEP_FOLDER"] = self.folder

    def file(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w") as f:
                f.write(text)
        return path

    def read(self, name):
        try:
            with open(os.path.join(self.folder, name)) as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def start(self, *words, **how):
        """hone WORDS in a session of its own, its output in numbered files."""
        n = len(self.procs)
        how.setdefault("stdout", open(self.file(f"out.{n}"), "wb"))
        how.setdefault("stderr", open(self.file(f"err.{n}"), "wb"))
        how.setdefault("stdin", subprocess.DEVNULL)
        proc = subprocess.Popen([HONE, *words], cwd=self.folder, env=self.env, start_new_session=True, **how)
        proc.number, proc.words = n, words
        self.procs.append(proc)
        for key in ("stdout", "stderr"):
            if hasattr(how[key], "close"):
                how[key].close()
        return proc

    def events(self, proc):
        """What a `hone … --json` has said so far. A line that was cut off by a kill is not said."""
        lines = self.read(f"out.{proc.number}").split("\n")[:-1]
        return [json.loads(line) for line in lines if line.startswith("{")]

    def wait_event(self, proc, name, n=1):
        def there():
            found = [e for e in self.events(proc) if e.get("event") == name]
            check(len(found) >= n or proc.poll() is None, "hone ended before", name, self.errors(proc))
            return found if len(found) >= n else None

        return wait_for(f"event {name}", there)

    def errors(self, proc):
        return self.read(f"err.{proc.number}")[-2000:]

    def wait(self, proc, patience=PATIENCE):
        try:
            return proc.wait(patience)
        except subprocess.TimeoutExpired:
            raise Problem(f"hone {proc.words} did not end; it said: {self.errors(proc)}") from None

    def ask(self, *words):
        """hone WORDS: (exit code, output)."""
        done = subprocess.run(
            [HONE, *words], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE,
        )
        self.last_error = done.stderr.decode(errors="replace")
        return done.returncode, done.stdout.decode(errors="replace")

    def tell(self, *words):
        code, out = self.ask(*words)
        check(code == 0, "hone", *words, "gave", code, self.last_error)
        return out

    def show(self, what):
        return json.loads(self.tell("show", what, "--json"))

    def trials(self, experiment="last"):
        """Every trial of an experiment, whole, by number."""
        rows = self.tell("export", experiment, "--csv").splitlines()[1:]
        return [self.show(row.split(",")[0]) for row in rows]

    def experiments(self):
        code, out = self.ask("ls", "--json")
        return json.loads(out) if code == 0 else []

    def home_id(self):
        """The id that names this home's attempts and cgroups."""
        import sqlite3

        with sqlite3.connect(f"file:{self.path}/hone.db?mode=ro", uri=True) as db:
            row = db.execute("SELECT value FROM meta WHERE key = 'home_id'").fetchone()
        db.close()
        return row[0]

    # --- what runs

    def processes(self):
        """(pid, is it a keeper, environment) of everything that a trial of this home runs."""
        mark = b"SWEEP_FOLDER=" + self.folder.encode()
        for pid in all_pids():
            env = proc_environ(pid)
            if mark not in env:
                continue
            names = dict(pair.split(b"=", 1) for pair in env if b"=" in pair)
            if b"HONE_ATTEMPT_ID" in names:
                yield pid, is_keeper(pid), names

    def left_over(self):
        return [pid for pid, _, _ in self.processes()]

    def cgroups(self):
        name = f"hone-{self.home_id()}"
        return [
            os.path.join(at, name)
            for at, folders, _ in os.walk("/sys/fs/cgroup")
            if name in folders
        ]

    def kill(self, pid, keeper=None, number=signal.SIGKILL):
        """Kill a process of a trial of this home; whether it was there to be killed."""
        try:
            fd = os.pidfd_open(pid)
        except OSError:
            return False
        try:
            if b"SWEEP_FOLDER=" + self.folder.encode() not in proc_environ(pid):
                return False
            if keeper is not None and keeper != is_keeper(pid):
                return False
            signal.pidfd_send_signal(fd, number)
            return True
        except OSError:
            return False
        finally:
            os.close(fd)

    def close(self, keep=False):
        """End what still runs, and the folder with it."""
        for proc in self.procs:
            if proc.poll() is None:
                proc.kill()
                proc.wait()
        for _ in range(100):
            left = self.left_over()
            for pid in left:
                self.kill(pid)
            if not left:
                break
            time.sleep(0.01)
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def proc_text(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as f:
            return f.read()
    except OSError:
        return b""


def proc_environ(pid):
    """Empty for zombies, which are dead."""
    return proc_text(pid, "environ").split(b"\0")


def is_keeper(pid):
    """The child of a keeper has its name until it becomes the program."""

    def named(number):
        return proc_text(number, "comm").strip() == b"hone-keeper"

    stat = proc_text(pid, "stat").rpartition(b")")[2].split()
    return named(pid) and len(stat) > 1 and not named(int(stat[1]))


class Tap:
    """One test per sentence; a sentence fails once, with all that is known about it."""

    def __init__(self, *sentences):
        self.sentences = list(sentences)
        self.failures = {}

    def fail(self, sentence, *words):
        self.failures.setdefault(sentence, []).append(" ".join(str(word) for word in words))

    def finish(self):
        for n, sentence in enumerate(self.sentences, 1):
            failed = self.failures.get(sentence, [])
            print("not ok" if failed else "ok", n, "-", sentence)
            for words in failed[:10]:
                for line in words.splitlines():
                    print("#", line)
        print(f"1..{len(self.sentences)}")
        sys.exit(1 if self.failures else 0)


def scenarios(tests):
    """Run functions that take a Home, each a test that is named by the first line of its docstring."""
    only = os.environ.get("SWEEP_ONLY")
    tests = [test for test in tests if not only or only in test.__name__]
    print(f"1..{len(tests)}", flush=True)
    bad = 0
    for n, test in enumerate(tests, 1):
        home = Home(test.__name__)
        failure = None
        try:
            test(home)
            left = home.left_over()
            check(not left, "processes are left:", left)
            check(not home.cgroups(), "cgroups are left:", home.cgroups())
        except Problem as problem:
            failure = str(problem)
        except Exception as surprise:  # a broken sentence must not hide the ones after it
            failure = repr(surprise)
        home.close(keep=failure is not None)
        print("not ok" if failure else "ok", n, "-", test.__doc__.strip().splitlines()[0], flush=True)
        if failure:
            bad += 1
            for line in (failure + f"\nkept: {home.folder}").splitlines():
                print("#", line, flush=True)
    sys.exit(1 if bad else 0)
