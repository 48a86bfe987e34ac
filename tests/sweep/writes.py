#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Kills during writes.

Each round runs a small experiment of writer.c, and at random moments kills with SIGKILL the program,
its keeper, `hone run`, or several of them at once; when hone is dead, `hone resume` goes on. At the end
the count that each program kept outside of Hone is compared with what Hone has.

SWEEP_ROUNDS rounds from seed SWEEP_SEED; SWEEP_ROUNDS=1 SWEEP_SEED=n repeats round n (its kills come
at the same times after the start, the machine's own timing differs). SWEEP_KEEP=1 keeps all folders.
"""

import concurrent.futures
import os
import random
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "support"))
from harness import ROUNDS, SEED, Home, Tap, check  # noqa: E402

AT_ONCE = 6  # rounds; they mostly wait
KINDS = [
    ("program",), ("keeper",), ("keeper",), ("hone",), ("keeper", "hone"), ("hone", "keeper"), ("program", "hone"),
    ("keeper", "program"), ("program", "keeper", "hone"),
]

KEPT = "every line whose write had returned is in the attempt's files"
READ = "the export shows exactly these samples"
ENDED = "every trial ended once, in the right state"
ONCE = "no attempt ran twice, no two attempts of a trial at once"
SAID = "what was said before a kill is so afterwards"
GONE = "no process is left"
FOLDERS = "no cgroup is left"

SPEC = """
name: sweep
command: [{writer}, '{steps}', '{pause}', '{daemon}']
params: {{x: {{range: [0, {trials}]}}}}
objective: v
search: {{algorithm: grid, parallel: 2}}
limits: {{retries: 50, grace: 1s}}
resources: {{cpus: 0.5}}
code: none
"""


class Round:
    def __init__(self, seed, writer, tap):
        self.seed, self.writer, self.tap = seed, writer, tap
        self.rng = random.Random(seed)
        self.home = Home(f"writes-{seed}")
        self.pause = self.rng.choice([0, 0, 500, 2000, 4000])
        self.steps = self.rng.randint(10, 60) if self.pause else self.rng.randint(100, 400)
        self.n_trials = self.rng.randint(1, 3)
        self.killed = {"program": set(), "keeper": set()}
        self.early = set()  # attempts whose keeper was killed before the program had begun
        self.hits = []
        self.said = {}

    # --- the run

    def write_spec(self):
        self.home.file("sweep.yaml", SPEC.format(
            writer=self.writer, steps=self.steps, pause=self.pause,
            daemon=self.rng.randint(0, 1), trials=self.n_trials,
        ))

    def begin(self):
        """`run` if nothing was committed yet, `resume` else; None if it has ended already."""
        there = self.home.experiments()
        check(there or not self.said, "the experiment was announced and is not there")
        if not there:
            return self.home.start("run", "sweep.yaml", "--json")
        if there[0]["state"] in ("finished", "failed"):
            return None
        return self.home.start("resume", "--json")

    def listen(self, proc):
        for event in self.home.events(proc):
            if event["event"] == "started":
                self.said["started"] = True
            if event["event"] == "trial_ended":
                now = (event["state"], event["reason"], event["value"])
                before = self.said.setdefault(event["trial"], now)
                check(before == now, event["trial"], "was said to be", before, "and then", now)

    def kill_trial_process(self, kind):
        victims = [
            (pid, env[b"HONE_TRIAL"].decode(), int(env[b"HONE_ATTEMPT"]))
            for pid, is_keeper, env in sorted(self.home.processes(), key=lambda p: p[0])
            if is_keeper == (kind == "keeper")
        ]
        if kind == "program":  # not a daemon of it
            pids = {int(words[3]) for words in self.starts("start")}
            victims = [victim for victim in victims if victim[0] in pids]
        if not victims:
            return
        pid, trial, attempt = self.rng.choice(victims)
        begun = any((words[1], int(words[2])) == (trial, attempt) for words in self.starts("start"))
        if not self.home.kill(pid, keeper=kind == "keeper"):
            return
        self.killed[kind].add((trial, attempt))
        if kind == "keeper" and not begun:
            self.early.add((trial, attempt))
        self.hits.append(f"{kind} {trial}#{attempt}")

    def kill(self, proc, kinds):
        for kind in kinds:
            if kind == "hone":
                proc.kill()
                self.hits.append("hone")
            else:
                self.kill_trial_process(kind)
        if "hone" in kinds:
            self.home.wait(proc)

    def wait_program(self, proc):
        """Until one more has begun, so that the kill comes in the middle of its work."""
        before = len(self.starts("start"))
        while proc.poll() is None and len(self.starts("start")) == before:
            time.sleep(0.001)

    def drive(self):
        proc = self.begin()
        for _ in range(self.rng.randint(1, 4)):
            kinds = self.rng.choice(KINDS)
            if self.rng.random() < 0.6:
                self.wait_program(proc)
            moment = time.monotonic() + self.rng.choice([0.02, 0.1, 0.3]) * self.rng.random() * 2
            while time.monotonic() < moment and proc.poll() is None:
                time.sleep(0.001)
            if proc.poll() is not None:
                break
            self.kill(proc, kinds)
            if proc.poll() is not None:
                self.listen(proc)
                proc = self.begin()
                if not proc:
                    return
        self.code = self.home.wait(proc)
        self.listen(proc)

    # --- what it left

    def starts(self, what):
        lines = self.home.read("starts").split("\n")[:-1]
        return [line.split() for line in lines if line.startswith(what + " ")]

    def tally(self, trial, attempt):
        try:
            with open(os.path.join(self.home.folder, f"{trial}-{attempt}"), "rb") as f:
                return struct.unpack("<QQQ", f.read(24).ljust(24, b"\0"))
        except FileNotFoundError:
            return None

    def attempt_file(self, trial, attempt, name):
        experiment, number = trial.split(".")
        return os.path.join(self.home.path, "experiments", experiment, f"{number}.{attempt}", name)

    def lines_of(self, kind, path, first):
        out = subprocess.run([self.writer, "check", kind, path, str(first)], stdout=subprocess.PIPE, check=True)
        lines, torn = (int(word) for word in out.stdout.split())
        check(lines >= 0, path, "holds what was never written")
        return lines, torn

    def check_kept(self):
        self.metric_lines = {}
        for _, trial, attempt, *_ in self.starts("start"):
            tally = self.tally(trial, attempt)
            if not tally:
                continue
            first, metrics, output = tally
            for kind, name, count in (("metrics", "metrics", metrics), ("output", "stdout", output)):
                path = self.attempt_file(trial, attempt, name)
                lines, _ = self.lines_of(kind, path, first)
                check(count <= lines <= count + 1, path, "has", lines, "lines of", count)
                if kind == "metrics":
                    self.metric_lines[trial, int(attempt)] = (path, lines)

    def expected(self, trial):
        """{metric: [(step, value)]} by the rule of series.h, from the whole lines in the files."""
        series = {}
        for attempt in range(1, trial["attempts"] + 1):
            path, lines = self.metric_lines.get((trial["trial"], attempt), (None, 0))
            newer = {}
            if lines:
                with open(path) as f:
                    for _, line in zip(range(lines), f):
                        pairs = [pair.split("=", 1) for pair in line.split(" ")[1].rstrip("\n").split(",")]
                        step = int(pairs[0][1][:-1])
                        for name, value in pairs[1:]:
                            if name != "text":
                                newer.setdefault(name, []).append((step, float(value)))
            for name, points in newer.items():
                old = [point for point in series.get(name, []) if point[0] < points[0][0]]
                series[name] = old + points
        return series

    def check_read(self):
        shown = {}
        for row in self.home.tell("export", "last", "--metrics", "--csv").splitlines()[1:]:
            trial, metric, step, _, value = row.split(",")
            shown.setdefault(trial, {}).setdefault(metric, []).append((int(step), float(value)))
        for trial in self.all:
            have, want = shown.get(trial["trial"], {}), self.expected(trial)
            for name in sorted(set(have) | set(want)):
                a, b = have.get(name, []), want.get(name, [])
                different = next((pair for pair in zip(a, b) if pair[0] != pair[1]), None)
                check(a == b, trial["trial"], name, "shows", len(a), "points of", len(b), "first:", different)

    def check_attempt(self, trial, run, last):
        key = (trial["trial"], run["attempt"])
        by_program, by_keeper = key in self.killed["program"], key in self.killed["keeper"]
        finished = any((w[1], int(w[2])) == key for w in self.starts("end"))
        what = (key, run["reason"], "signal", run["signal"], "exit", run["exit"], "finished", finished)
        check(run["state"] == "ended", *what)
        if run["reason"] == "lost":
            check(by_keeper and not last, "lost, but its keeper was not killed or it was not tried again", *what)
        elif run["reason"] == "signal":
            check(by_program and last and run["signal"] == 9, "a signal that nobody sent", *what)
        else:
            check(run["reason"] == "" and last and run["exit"] == 0, *what)
            check(finished, "completed without having finished", *what)
        if by_program and not by_keeper and not finished:
            check(run["reason"] == "signal", "its program was killed", *what)
        if by_keeper and not by_program and not finished and key not in self.early:
            check(run["reason"] == "lost", "its keeper was killed", *what)

    def check_ended(self):
        check([t["trial"] for t in self.all] == [f"1.{n + 1}" for n in range(self.n_trials)],
              "trials:", [t["trial"] for t in self.all])
        check(sorted(t["params"]["x"] for t in self.all) == list(range(self.n_trials)), "not the whole grid")
        for trial in self.all:
            runs = trial["runs"]
            check([run["attempt"] for run in runs] == list(range(1, trial["attempts"] + 1)),
                  trial["trial"], "has attempts", [run["attempt"] for run in runs])
            for run in runs:
                self.check_attempt(trial, run, run is runs[-1])
            want = ("completed", "") if runs[-1]["reason"] == "" else ("failed", "signal")
            check((trial["state"], trial["reason"]) == want, trial["trial"], trial["state"], trial["reason"])
        completed = any(t["state"] == "completed" for t in self.all)
        experiment = self.home.show("last")
        check(experiment["state"] == ("finished" if completed else "failed"), "experiment", experiment["state"])
        check(len(self.home.experiments()) == 1, "there is more than one experiment")

    def check_once(self):
        check(not self.starts("overlap"), "two at once:", self.starts("overlap"))
        check(not self.starts("twice"), "ran twice:", self.starts("twice"))
        keys = [(words[1], words[2]) for words in self.starts("start")]
        check(len(keys) == len(set(keys)), "an attempt began twice:", keys)

    def check_said(self):
        for trial in self.all:
            now = (trial["state"], trial["reason"], trial["value"])
            check(self.said.get(trial["trial"], now) == now, trial["trial"], "was", self.said.get(trial["trial"]), "is", now)

    def check_gone(self):
        left = self.home.left_over()
        check(not left, "processes are left:", left)

    def check_folders(self):
        left = self.home.cgroups()
        if left:  # nobody may have been there to remove the empty folder of the home
            for folder in left:
                check(not [f for f in os.scandir(folder) if f.is_dir()], "cgroups are left in", folder)
                os.rmdir(folder)

    def prove(self, sentence, fn):
        try:
            fn()
        except Exception as problem:  # a Problem, or a surprise: neither may hide the other rounds
            self.tap.fail(sentence, f"round {self.seed}: {problem!r}\nkills: {', '.join(self.hits)}\nkept: {self.home.folder}")
            self.failed = True

    def look(self):
        self.drive()
        self.all = self.home.trials()

    def run(self):
        self.failed = False
        self.write_spec()
        self.prove(ENDED, self.look)
        if not self.failed:
            for sentence, fn in ((GONE, self.check_gone), (FOLDERS, self.check_folders), (KEPT, self.check_kept),
                                 (ENDED, self.check_ended), (ONCE, self.check_once), (SAID, self.check_said)):
                self.prove(sentence, fn)
            if not self.failed:
                self.prove(READ, self.check_read)
        self.home.close(keep=self.failed or bool(os.environ.get("SWEEP_KEEP")))
        return self.hits


def one_round(seed, writer, tap):
    return Round(seed, writer, tap).run()


def main():
    tap = Tap(KEPT, READ, ENDED, ONCE, SAID, GONE, FOLDERS)
    with tempfile.TemporaryDirectory(prefix="hone-writer-") as folder:
        writer = os.path.join(folder, "writer")
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-o", writer, os.path.join(HERE, "writer.c")], check=True)
        begun = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            rounds = [pool.submit(one_round, seed, writer, tap) for seed in range(SEED, SEED + ROUNDS)]
            hits = [hit.split()[0] for done in rounds for hit in done.result()]
    print(f"# {ROUNDS} rounds in {time.monotonic() - begun:.0f} s; killed:",
          ", ".join(f"{hits.count(kind)} × {kind}" for kind in ("program", "keeper", "hone")))
    tap.finish()


main()
