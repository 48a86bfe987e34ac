# SPDX-License-Identifier: MIT
"""What the benches share: running a command and knowing what it cost, a fresh folder, RESULTS.md.

Every figure is a median over rounds that take turns, so that a machine that gets slower gets
slower for all. A section of RESULTS.md belongs to the bench that wrote it and is replaced as a
whole; nobody writes in that file by hand.
"""
import datetime
import os
import pathlib
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("HONE_BUILD", TOP / "build")).resolve()
HONE = os.environ.get("HONE_BIN", str(BUILD / "hone"))
RESULTS = pathlib.Path(os.environ.get("HONE_BENCH_RESULTS", TOP / "bench" / "RESULTS.md"))
NOOP = "/bin/true"
PYTHON = "/usr/bin/python3"


class Cost:
    """Seconds on the clock, and of the processor in the whole tree of what was run."""

    def __init__(self, wall, cpu):
        self.wall = wall
        self.cpu = cpu


def run(argv, **more):
    """Run to the end. The kernel adds up what every waited-for descendant used."""
    more.setdefault("stdout", subprocess.DEVNULL)
    began = time.monotonic()
    child = subprocess.Popen([str(word) for word in argv], **more)
    _, status, used = os.wait4(child.pid, 0)
    wall = time.monotonic() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"bench: {argv[0]} ended with {child.returncode}")
    return Cost(wall, used.ru_utime + used.ru_stime)


def output(argv, **more):
    return subprocess.run([str(word) for word in argv], check=True, text=True,
                          stdout=subprocess.PIPE, **more).stdout


class Folder:
    """A folder of this run alone. It goes at the very end, all at once: ext4 gives out inodes
    slowly for minutes after thousands of files were deleted."""

    def __init__(self):
        parent = pathlib.Path(os.environ.get("HONE_BENCH_DIR", BUILD / "bench"))
        parent.mkdir(parents=True, exist_ok=True)
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="run.", dir=parent))
        self.count = 0

    def fresh(self, name):
        self.count += 1
        path = self.path / f"{self.count}-{name}"
        path.mkdir()
        return path

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        shutil.rmtree(self.path, ignore_errors=True)


def median(values):
    return statistics.median(values)


def cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def file_system(path):
    """Its type as it is mounted: the longest mount point above the path."""
    best = ("", "unknown")
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        point, kind = line.split()[1:3]
        if pathlib.Path(point) in [path, *path.parents] and len(point) >= len(best[0]):
            best = (point, kind)
    return best[1]


def conditions(command, load_before, folder):
    """The lines above every table: how to get it again, where and when it was had."""
    load = os.getloadavg()[0]
    cores = len(os.sched_getaffinity(0))
    busy = (" The machine was busy with other work: ratios count, rates are too low."
            if load_before > 0.5 * cores else "")
    place = ("HONE_BENCH_DIR, a file system of its own"
             if "HONE_BENCH_DIR" in os.environ else "the folder of the build")
    return (f"Command: `{command}` · {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} "
            f"UTC\n\nMachine: {cpu_model()}, {cores} cores, Linux {platform.release()}, "
            f"{file_system(folder)} ({place}); load average {load_before:.1f} before, {load:.1f} "
            f"after.{busy}\n")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def verdict(good):
    return "yes" if good else "**no**"


def section(name, title, text):
    """Put a section into RESULTS.md in the place of the one of the same name."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    old = RESULTS.read_text() if RESULTS.exists() else (
        "# What the benches measured\n\nWritten by the scripts of this folder (`make bench`); "
        "README.md says what each of them does.\n")
    new = f"{begin}\n## {title}\n\n{text.strip()}\n{end}\n"
    if begin in old:
        head, rest = old.split(begin, 1)
        old = head + new + rest.split(end, 1)[1].lstrip("\n")
    else:
        old = old.rstrip("\n") + "\n\n" + new
    RESULTS.write_text(old)
    print(f"## {title}\n\n{text.strip()}\n")


def own_cpu():
    """Of this process and the children it has waited for."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
