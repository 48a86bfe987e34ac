# SPDX-License-Identifier: MIT
"""What tests in Python that run the built hone share.

A test is a function of a Place: a fresh folder that is also HOME, with a home of Hone's in it. Its name
is the sentence that it proves. Afterwards everything that still runs and carries the place's mark in
its environment is ended, and the folder is removed.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("HONE_BUILD", os.path.join(ROOT, "build")))
HONE = os.path.abspath(os.environ.get("HONE_BIN", os.path.join(BUILD, "hone")))
DEADLINE = 60  # seconds that a condition may take on a busy machine


class Skip(Exception):
    """This machine cannot show it; the text says why."""


class Place:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="hone-bad-")
        self.home = os.path.join(self.folder, "home")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("HONE_", "XDG_"))}
        self.env.update(HOME=self.folder, HONE_HOME=self.home, HONE_PLACE=self.folder,
                        NO_COLOR="1", TZ="UTC", LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1",
                        HONE_PORT="off",
                        PYTHONPATH=os.path.join(ROOT, "sdk", "python"))
        self.started = []

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8", errors="replace") as f:
            return f.read()

    def start(self, *words, **more):
        """hone in the background, words to files out and err."""
        out, err = open(self.path("out"), "wb"), open(self.path("err"), "wb")
        process = subprocess.Popen([HONE, *words], cwd=self.folder, env=self.env, stdout=out,
                                   stderr=err, stdin=subprocess.DEVNULL, **more)
        out.close()
        err.close()
        self.started.append(process)
        return process

    def hone(self, *words, code=0, before=()):
        """Run hone to its end; its standard output and error as texts."""
        done = subprocess.run([*before, HONE, *words], cwd=self.folder, env=self.env, timeout=3 * DEADLINE,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        if code is not None:
            assert done.returncode == code, f"hone {' '.join(words)}: exit {done.returncode}\n{out}{err}"
        return out, err

    def token(self, role="admin", user="tester"):
        """A token for this home's server: {"Authorization": "Bearer " + it}."""
        return self.hone("token", "add", user, "--role", role)[0].strip()

    def show(self, target):
        return json.loads(self.hone("show", target, "--json")[0])

    def trials(self, experiment="last"):
        """As `hone ls` has them; none while there is no experiment yet."""
        out, err = self.hone("ls", experiment, "--json", code=None)
        assert out or "no experiment" in err, err
        return json.loads(out or "[]")

    def experiments(self):
        return json.loads(self.hone("ls", "--json")[0])

    def close(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()
        while any(end(pid) for pid in marked(self.folder)):
            time.sleep(0.01)
        shutil.rmtree(self.folder, ignore_errors=True)


def marked(folder):
    """Processes that carry the mark of this place."""
    mark = b"\0HONE_PLACE=" + folder.encode() + b"\0"
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as f:
                if mark in b"\0" + f.read() + b"\0":
                    yield int(name)
        except OSError:
            continue


def end(pid):
    try:
        os.kill(pid, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False


def wait_for(what, condition):
    """Until the condition gives something true; that."""
    until = time.monotonic() + DEADLINE
    while time.monotonic() < until:
        got = condition()
        if got:
            return got
        time.sleep(0.02)
    raise AssertionError(f"waited {DEADLINE} s in vain: {what}")


def run_one(number, test):
    sentence = test.__name__.replace("_", " ")
    place = Place()
    try:
        test(place)
        print(f"ok {number} - {sentence}", flush=True)
        return True
    except Skip as why:
        print(f"ok {number} - {sentence} # SKIP {why}", flush=True)
        return True
    except Exception as e:  # a test may fail in any way; the others go on
        print(f"not ok {number} - {sentence}", flush=True)
        place_of_failure = e.__traceback__
        while place_of_failure.tb_next:
            place_of_failure = place_of_failure.tb_next
        text = f"{type(e).__name__} in line {place_of_failure.tb_lineno}: {e}"
        print("".join(f"# {line}\n" for line in text.splitlines()), end="", flush=True)
        return False
    finally:
        place.close()


def main(*tests):
    chosen = [t for t in tests if len(sys.argv) < 2 or t.__name__ in sys.argv[1:]]
    print(f"1..{len(chosen)}", flush=True)
    good = [run_one(i + 1, test) for i, test in enumerate(chosen)]
    sys.exit(0 if all(good) else 1)
