#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sdk/python against files made here: what it reads of parameters and control page, what it writes.

Each program under test runs in a Python of its own, since the module looks at its environment once.
Prints TAP.
"""

import json
import mmap
import os
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SDK = os.path.join(ROOT, "sdk", "python")


class Attempt:
    """A folder with what a trial sees."""

    def __init__(self, folder):
        self.folder = folder
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("HONE_")}
        self.env["PYTHONPATH"] = SDK

    def with_hone(self):
        path = os.path.join(self.folder, "state")
        with open(path, "wb") as f:
            f.truncate(12288)
        with open(path, "r+b") as f:
            self.page = mmap.mmap(f.fileno(), 8192)
        self.put_page(2, "{}")
        self.env["HONE_CONTROL"] = path
        self.env["HONE_METRICS"] = os.path.join(self.folder, "metrics")
        return self

    def put_page(self, generation, text):
        """As the agent writes it, so that a program may be reading: odd, text, even."""
        text = text.encode()
        self.page[8:16] = struct.pack("<Q", generation - 1)
        self.page[16 : 24 + len(text)] = struct.pack("<Q", len(text)) + text
        self.page[0:8] = struct.pack("<Q", 1)
        self.page[8:16] = struct.pack("<Q", generation)

    def put_params(self, **params):
        path = os.path.join(self.folder, "params.json")
        with open(path, "w") as f:
            json.dump(params, f)
        self.env["HONE_PARAMS"] = path

    def run(self, program):
        """The program may change the page by put(generation, text)."""
        head = (
            "import hone, mmap, os, struct\n"
            "def put(generation, text):\n"
            "    with open(os.environ['HONE_CONTROL'], 'r+b') as f, mmap.mmap(f.fileno(), 8192) as m:\n"
            "        m[0:24] = struct.pack('<QQQ', 1, generation, len(text))\n"
            "        m[24:24 + len(text)] = text.encode()\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", head + program],
            env=self.env, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def lines(self):
        """What was logged, without the timestamps, which must be there."""
        with open(self.env["HONE_METRICS"], encoding="utf-8") as f:
            lines = [line.rsplit(" ", 1) for line in f.read().splitlines()]
        assert all(len(time) == 19 for _, time in lines), lines
        return [text for text, _ in lines]


def parameters_are_attributes_and_items(a):
    a.put_params(lr=1e-3, batch=32, act="relu", bias=True, none=None)
    a.run(
        "p = hone.params\n"
        "assert p.lr == 1e-3 and p['batch'] == 32 and p.act == 'relu' and p.bias is True\n"
        "assert p.none is None and 'lr' in p and p.get('x', 7) == 7\n"
        "q = hone.params(lr=5, wd=0.5)\n"
        "assert q is hone.params and q.lr == 1e-3 and q.wd == 0.5\n"
        "try: p.missing\n"
        "except AttributeError as e: assert 'missing' in str(e)\n"
        "else: assert False\n"
    )


def without_hone_it_prints_and_goes_on(a):
    out = a.run(
        "assert hone.params.get('lr', 0.1) == 0.1 and not hone.active\n"
        "hone.log(loss=0.5)\n"
        "for e in hone.epochs(2): hone.log(loss=0.41, acc=e)\n"
        "assert not hone.should_stop and hone.checkpoint is None\n"
        "with hone.save_checkpoint(3) as path: open(path, 'w').close()\n"
        "assert os.path.exists('checkpoints/1-3')\n"
    )
    assert out == "loss 0.5\nstep 0 loss 0.41 acc 0\nstep 1 loss 0.41 acc 1\n", out


def logged_doubles_arrive_exactly(a):
    a.with_hone().run(
        "inf = float('inf')\n"
        "hone.log(early=1.5)\n"
        "hone.log(step=3, loss=0.1, third=1/3, n=7, on=True)\n"
        "hone.log({'a b,c=d%': -2.0, 'step': 4}, z=1e-5)\n"
        "hone.log({'x': -inf, 'y': inf, 'n': inf - inf}, step=5)\n"
        "hone.log({'bad\\\\\\n\"': 5e-324}, step=6)\n"
        "hone.log()\n"
        "class Scalar:\n"
        "    def __float__(self): return 0.25\n"
        "hone.log(tensor=Scalar(), step=7)\n"
    )
    assert a.lines() == [
        "hone generation=2i",
        "train early=1.5",
        "train loss=0.1,third=0.3333333333333333,n=7.0,on=1.0,step=3i",
        "train a\\ b\\,c\\=d%=-2.0,z=1e-05,step=4i",
        "train x=-inf,y=inf,n=nan,step=5i",
        "train bad___=5e-324,step=6i",
        "train tensor=0.25,step=7i",
    ], a.lines()


def many_metrics_go_into_several_lines(a):
    a.with_hone().run("hone.log({f'metric{i}': i / 3 for i in range(9000)}, step=1)\n")
    lines = a.lines()[1:]
    assert len(lines) > 1 and all(len(line) < 65000 for line in lines)
    assert sum(line.count("metric") for line in lines) == 9000


def a_generation_is_answered_once_and_only_when_told(a):
    a.with_hone().run(
        "assert hone.step(1) and not hone.checkpoint_asked()\n"
        "put(4, '{\"configuration\": {\"stop\": true}, \"checkpoint\": true}')\n"
        "assert hone.step(2) and hone.step(3)\n"
        "assert hone.checkpoint_asked() and not hone.checkpoint_asked()\n"
        "put(5, '')\n"
        "assert hone.step(4)\n"
        "put(6, '{\"stop\": true}')\n"
        "hone.log(loss=1, step=7)\n"
        "assert not hone.step(8) and hone.should_stop\n"
        "put(8, 'true, but not JSON')\n"
        "assert not hone.should_stop\n"
    )
    assert a.lines() == [
        "hone generation=2i",
        "hone generation=4i,step=2i",
        "train loss=1.0,step=7i",
        "hone generation=6i,step=8i",
        "hone generation=8i,step=8i",
    ], a.lines()


def the_machines_settings_follow_the_page_and_are_answered(a):
    a.with_hone().env["HONE_SYSTEM"] = '{"threads": 3}'
    a.run(
        "import sys\n"
        "assert 'json' not in sys.modules and 'ctypes' not in sys.modules\n"
        "assert hone.system('threads', 9) == 3 and hone.system('workers', 9) == 9\n"
        "put(4, '{\"system\": {\"threads\": 2, \"workers\": 4}}')\n"
        "hone.log(loss=1, step=1)\n"  # workers are the program's own affair: not answered by this
        "assert hone.step(2) and hone.system('threads') == 2 and hone.system('workers') == 4\n"
        "put(6, '{\"stop\": true}')\n"
        "assert not hone.step(3) and hone.system('threads') == 2\n"
        "put(8, '{\"system\": {\"threads\": 1}}')\n"
        "hone.log(loss=1, step=4)\n"
        "put(10, '{\"system\": {\"threads\": \"many\"}}')\n"
        "assert hone.step(5) and hone.system('workers') is None\n"
        "put(12, '{\"system\": [1]}')\n"
        "assert hone.system('threads') == 'many'\n"
    )
    assert a.lines() == [
        "hone generation=2i",
        "train loss=1.0,step=1i",
        "hone generation=4i,step=2i",
        "hone generation=6i,step=3i",
        "train loss=1.0,step=4i",
        "hone generation=8i,step=3i",
        "hone generation=10i,step=5i",
        "hone generation=12i,step=5i",
    ], a.lines()


def without_a_page_the_machines_settings_are_those_of_the_start(a):
    a.run("assert hone.system('threads', 9) == 9 and hone.system('threads') is None\n")
    a.env["HONE_SYSTEM"] = '{"threads": 2}'
    a.run("assert hone.step(1) and hone.system('threads', 9) == 2\n")
    a.env["HONE_SYSTEM"] = "two threads, please"
    a.run("hone.log(loss=1); assert hone.step(1) and hone.system('threads', 9) == 9\n")


def threads_are_set_where_they_are_loaded(a):
    """A module in torch's place says what it was told, and libgomp what it took."""
    with open(os.path.join(a.folder, "torch.py"), "w") as f:
        f.write("calls = []\nset_num_threads = calls.append\n")
    a.with_hone().env["HONE_SYSTEM"] = '{"threads": 3}'
    a.env["PYTHONPATH"] += os.pathsep + a.folder
    out = a.run(
        "import ctypes, sys\n"
        "try: omp = ctypes.CDLL('libgomp.so.1')\n"
        "except OSError: omp = None\n"
        "def threads(): return omp.omp_get_max_threads() if omp else hone.system('threads')\n"
        "hone.step(0)\n"
        "assert threads() == 3 and 'torch' not in sys.modules\n"
        "import torch\n"
        "hone.step(1)\n"
        "hone.log(loss=1)\n"
        "put(4, '{\"system\": {\"threads\": 2}}')\n"
        "hone.log(loss=1)\n"
        "assert threads() == 2\n"
        "put(6, '{\"system\": {\"threads\": 0}}')\n"
        "hone.step(2)\n"
        "assert torch.calls == [3, 2], torch.calls\n"
        "def refuse(n): raise RuntimeError('no')\n"
        "torch.set_num_threads = refuse\n"
        "put(8, '{\"system\": {\"threads\": 5}}')\n"
        "print(hone.step(3))\n"
    )
    assert out == "True\n", out


def interop_threads_are_set_once(a):
    with open(os.path.join(a.folder, "torch.py"), "w") as f:
        f.write("calls = []\nset_num_interop_threads = calls.append\n")
    a.with_hone().env["HONE_SYSTEM"] = '{"interop": 2}'
    a.env["PYTHONPATH"] += os.pathsep + a.folder
    a.run("import torch\nhone.step(0)\nhone.step(1)\nassert torch.calls == [2], torch.calls\n")


def where_the_training_ends_is_told(a):
    a.with_hone().run("for e in hone.epochs(3): pass\n")
    assert "hone total=2i" in a.lines(), a.lines()


def the_loop_ends_when_told_to_stop(a):
    out = a.with_hone().run(
        "for e in hone.epochs(100):\n"
        "    if e == 4: put(4, '{\"stop\": true}')\n"
        "print(e)\n"
    )
    assert out == "4\n", out


def a_checkpoint_gets_its_name_when_it_is_complete(a):
    a.with_hone()
    a.env.update(HONE_CHECKPOINT_DIR=a.folder + "/c", HONE_CHECKPOINT="/x/2-9", HONE_ATTEMPT="3")
    a.run(
        "assert hone.checkpoint == '/x/2-9'\n"
        "with hone.save_checkpoint(12) as path:\n"
        "    open(path, 'w').write('weights')\n"
        "    assert os.listdir(hone.checkpoint_dir) == ['.3-12.part']\n"
        "for i in range(2): saved = hone.save_checkpoint(13, os.mkdir)\n"
        "assert saved.path.endswith('/3-13')\n"
        "try:\n"
        "    with hone.save_checkpoint(14) as path: os.mkdir(path); 1 / 0\n"
        "except ZeroDivisionError: pass\n"
    )
    assert sorted(os.listdir(a.folder + "/c")) == ["3-12", "3-13"]


def after_a_full_disk_the_next_line_stands_alone(a):
    a.with_hone().run(
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "def limit(n): resource.setrlimit(resource.RLIMIT_FSIZE, (n, resource.RLIM_INFINITY))\n"
        "limit(50)\n"
        "hone.log(a=2, step=2); hone.log(a=3, step=3)\n"
        "limit(resource.RLIM_INFINITY)\n"
        "hone.log(a=4, step=4)\n"
    )
    with open(a.env["HONE_METRICS"]) as f:
        assert "\ntrain a=4.0,step=4i " in f.read()


def broken_files_do_not_end_the_program(a):
    a.with_hone()
    a.env["HONE_CONTROL"] = a.folder + "/missing"
    a.env["HONE_PARAMS"] = a.folder + "/missing"
    a.env["HONE_METRICS"] = a.folder + "/no/folder"
    out = a.run("hone.log(a=1); print(hone.params.get('lr', 2), hone.should_stop)\n")
    assert out == "2 False\n", out


def log_is_fast_and_import_is_light(a):
    """Generous bounds, so that a busy machine does not fail them; the bench has the figures."""
    out = a.with_hone().run(
        "import sys, time\n"
        "assert 'json' not in sys.modules and 'typing' not in sys.modules\n"
        "took = []\n"
        "v = {f'm{i}': i / 7 for i in range(10)}\n"
        "for i in range(3000):\n"
        "    t = time.perf_counter_ns(); hone.log(v, step=i); took.append(time.perf_counter_ns() - t)\n"
        "print(sorted(took)[1500])\n"
    )
    assert int(out) < 100_000, out


def main():
    print(f"1..{len(TESTS)}")
    failed = 0
    for i, test in enumerate(TESTS, 1):
        with tempfile.TemporaryDirectory(prefix="hone-sdk-") as folder:
            try:
                test(Attempt(folder))
                print(f"ok {i} - {test.__name__}")
            except Exception as e:
                failed += 1
                print(f"not ok {i} - {test.__name__}")
                print("# " + repr(e).replace("\n", "\n# "))
    return 1 if failed else 0


TESTS = [
    parameters_are_attributes_and_items,
    without_hone_it_prints_and_goes_on,
    logged_doubles_arrive_exactly,
    many_metrics_go_into_several_lines,
    a_generation_is_answered_once_and_only_when_told,
    the_machines_settings_follow_the_page_and_are_answered,
    without_a_page_the_machines_settings_are_those_of_the_start,
    threads_are_set_where_they_are_loaded,
    interop_threads_are_set_once,
    where_the_training_ends_is_told,
    the_loop_ends_when_told_to_stop,
    a_checkpoint_gets_its_name_when_it_is_complete,
    after_a_full_disk_the_next_line_stands_alone,
    broken_files_do_not_end_the_program,
    log_is_fast_and_import_is_light,
]

if __name__ == "__main__":
    sys.exit(main())
