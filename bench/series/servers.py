# SPDX-License-Identifier: MIT
"""The servers that the benches of series compare, behind one face: hone serve, InfluxDB,
VictoriaMetrics. Each runs on free ports of the loopback, in a folder of its own, and ends with the
bench.

    server = kind(folder); server.start(); server.post(body); server.settle(); server.stop()

`cpu()` is user and system time of the server's whole process tree so far, in seconds. What peers
need to be at their best or to be comparable is set here, and nowhere else:
- InfluxDB syncs its log every 100 ms instead of at each request, as ours does; it writes its cache
  to files 3 s after the last write, so that sizes can be told; its own monitoring and its log of
  requests are off.
- VictoriaMetrics keeps data of any age. It acknowledges what is in memory only.
"""
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.parse

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "bench"))
import lib  # noqa: E402

HOME = lib.BUILD / "bench" / "series"
TICK = os.sysconf("SC_CLK_TCK")
DB = "bench"
PATIENCE_S = 120


def program(name):
    path = HOME / name
    if not path.exists():
        sys.exit(f"{name}: {path} is missing: make {os.path.relpath(path)}")
    return path


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def stat_of(pid):
    """Fields behind the name, or None when it is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def cpu_of(pid):
    """CPU seconds of a process and of its children that were waited for; its own to the nanosecond."""
    fields = stat_of(pid)
    if not fields:
        return 0
    try:
        own = time.clock_gettime(~pid << 3 | 2)  # CPUCLOCK_SCHED, as clock_getcpuclockid() makes it
    except OSError:
        return 0
    return own + (int(fields[13]) + int(fields[14])) / TICK


def tree(pid):
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            fields = stat_of(entry)
            if fields:
                parents.setdefault(int(fields[1]), []).append(int(entry))
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        found.append(one)
        todo += parents.get(one, [])
    return found


def record(name, row):
    """One more line of what was measured."""
    HOME.mkdir(parents=True, exist_ok=True)
    with open(HOME / f"{name}.jsonl", "a", encoding="utf-8") as out:
        out.write(json.dumps(row) + "\n")


class Server:
    name = ""
    file = ""

    def __init__(self, folder):
        self.folder = folder
        self.child = None
        self.connection = None
        self.port = free_port()
        self.udp_port = None

    # ---- its life ----

    def command(self):
        raise NotImplementedError

    def start(self, udp=False, as_anyone=False, before=()):
        """`as_anyone`: without root's right to buffers of any size. `before`: words that start it."""
        if as_anyone and os.geteuid() == 0:
            before = [*before, "setpriv", "--bounding-set", "-net_admin"]
        if udp:
            self.udp_port = free_port(socket.SOCK_DGRAM)
        with open(self.folder / "log", "ab") as log:
            self.child = subprocess.Popen([str(word) for word in [*before, *self.command()]],
                                          stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                          cwd=self.folder)
        end = time.monotonic() + PATIENCE_S
        while not self.answers():
            if self.child.poll() is not None or time.monotonic() > end:
                sys.exit(f"{self.name} does not start; see {self.folder / 'log'}")
            time.sleep(0.05)

    def answers(self):
        try:
            return self.get("/health")[0] in (200, 204)
        except OSError:
            return False

    def stop(self):
        """End it as its manual says. What it used in all, in CPU seconds."""
        if self.connection:
            self.connection.close()
            self.connection = None
        self.child.send_signal(signal.SIGTERM)
        _, status, used = os.wait4(self.child.pid, 0)
        self.child.returncode = os.waitstatus_to_exitcode(status)
        return used.ru_utime + used.ru_stime

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.child and self.child.returncode is None:
            self.child.kill()
            self.child.wait()

    # ---- talking to it ----

    def ask(self, method, path, body=None, headers=None):
        fresh = not self.connection
        if fresh:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            self.connection.request(method, path, body, headers or {})
            answer = self.connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as failure:
            self.connection.close()
            self.connection = None
            if method == "GET" and not fresh:  # servers close what is idle for long
                return self.ask(method, path, body, headers)
            raise OSError(str(failure)) from failure

    def get(self, path, **params):
        return self.ask("GET", path + ("?" + urllib.parse.urlencode(params) if params else ""))

    def post(self, body):
        return self.ask("POST", f"/write?db={DB}", body)[0]

    def settle(self):
        """Have what was sent on the disk in its final form, as far as one can ask for it."""

    def read_back(self, run):
        """{field: ([time in ms], [value])} of one run."""
        raise NotImplementedError

    def odd_points(self):
        """How many points a query finds in the measurement `odd`."""
        raise NotImplementedError

    # ---- what it uses ----

    def cpu(self):
        return sum(cpu_of(pid) for pid in tree(self.child.pid))

    def rss(self):
        pages = 0
        for pid in tree(self.child.pid):
            fields = stat_of(pid)
            pages += int(fields[21]) if fields else 0
        return pages * os.sysconf("SC_PAGESIZE")

    def wait_idle(self, quiet_s=2.0):
        """Until it uses next to nothing: less than 3 % of a core for `quiet_s`."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            before = self.cpu()
            time.sleep(quiet_s)
            if self.cpu() - before < 0.03 * quiet_s:
                return

    def disk(self, under="."):
        """Bytes of all its files, but for its words and its settings. Holes do not count: InfluxDB
        makes files of 4 MiB for names and fills them later."""
        total = 0
        for path in (self.folder / under).rglob("*"):
            if path.is_file() and path.name not in ("log", "conf"):
                status = path.stat()
                total += min(status.st_size, 512 * status.st_blocks)
        return total


def influx_rows(server, query, **params):
    status, text = server.get("/query", db=DB, q=query, epoch="ms", **params)
    answer = json.loads(text)["results"][0] if status == 200 else {"error": text[:200]}
    if "error" in answer:
        sys.exit(f"{server.name}: {query}: {answer['error']}")
    return answer.get("series", [])


def influx_run(server, run):
    series = influx_rows(server, f"SELECT * FROM ml WHERE run = '{run}'")[0]
    columns = dict(zip(series["columns"], zip(*series["values"])))
    times = columns.pop("time")
    columns.pop("run", None)
    return {name: (times, values) for name, values in columns.items()}


def influx_odd(server):
    return sum(len(series["values"]) for series in influx_rows(server, "SELECT value FROM odd"))


class Hone(Server):
    name, file = "hone serve", "hone"
    token = None

    def command(self):
        udp = ["--udp", self.udp_port] if self.udp_port else []
        return [lib.HONE, "serve", "--home", self.folder / "home", "--port", self.port, "--trust-local", *udp]

    def settle(self):
        """A clean end seals what is in memory."""
        self.stop()

    def read_back(self, run):
        return influx_run(self, run)

    def odd_points(self):
        return influx_odd(self)

    def ingest(self):
        return json.loads(self.get("/v1/ingest")[1])

    def curves(self, body):
        """POST /v1/series, with a token of its own."""
        if not self.token:
            out = subprocess.run([lib.HONE, "token", "add", "bench", "--role", "viewer", "--home", self.folder / "home"],
                                 stdout=subprocess.PIPE, check=True)
            self.token = out.stdout.decode().strip()
        return self.ask("POST", "/v1/series", json.dumps(body), {"Authorization": "Bearer " + self.token})


class Influx(Server):
    name, file = "InfluxDB 1.6.7", "influxdb"

    CONF = """
reporting-disabled = true
bind-address = "127.0.0.1:{backup}"
[meta]
  dir = "{folder}/meta"
[data]
  dir = "{folder}/data"
  wal-dir = "{folder}/wal"
  wal-fsync-delay = "100ms"
  cache-snapshot-write-cold-duration = "3s"
  compact-full-write-cold-duration = "4s"
  query-log-enabled = false
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:{port}"
  log-enabled = false
[[udp]]
  enabled = {udp}
  bind-address = "127.0.0.1:{udp_port}"
  database = "{db}"
  read-buffer = 4194304
"""

    def command(self):
        conf = self.folder / "conf"
        conf.write_text(self.CONF.format(
            backup=free_port(), folder=self.folder, port=self.port, db=DB,
            udp="true" if self.udp_port else "false", udp_port=self.udp_port or 0))
        return ["/usr/bin/influxd", "-config", conf]

    def answers(self):
        try:
            if self.get("/ping")[0] != 204:
                return False
            return self.ask("POST", "/query?" + urllib.parse.urlencode(
                {"q": f"CREATE DATABASE {DB}"}))[0] == 200
        except OSError:
            return False

    def settle(self):
        """Its cache goes to files, and these are compacted, in the background: done when nothing
        has changed for three looks."""
        end, sizes = time.monotonic() + PATIENCE_S, [0]
        while (self.wal() > 0 or len(sizes) < 4 or len(set(sizes[-3:])) > 1) and time.monotonic() < end:
            self.wait_idle(3.0)
            sizes.append(self.disk())

    def wal(self):
        return sum(path.stat().st_size for path in (self.folder / "wal").rglob("*.wal"))

    def read_back(self, run):
        return influx_run(self, run)

    def odd_points(self):
        return influx_odd(self)


class Victoria(Server):
    name, file = "VictoriaMetrics 1.79.5", "victoria"

    def command(self):
        return ["/usr/bin/victoria-metrics", f"-storageDataPath={self.folder}/data",
                f"-httpListenAddr=127.0.0.1:{self.port}", "-retentionPeriod=100y",
                "-loggerLevel=ERROR", "-search.latencyOffset=0s",
                "-search.maxUniqueTimeseries=1000000"]

    def settle(self):
        self.get("/internal/force_flush")
        self.get("/internal/force_merge")
        self.wait_idle()

    def read_back(self, run):
        text = self.get("/api/v1/export", **{"match[]": f'{{run="{run}"}}'})[1]
        found = {}
        for line in text.splitlines():
            one = json.loads(line)
            found[one["metric"]["__name__"].removeprefix("ml_")] = (one["timestamps"], one["values"])
        return found

    def odd_points(self):
        self.get("/internal/force_flush")
        text = self.get("/api/v1/export/csv", format="__value__", **{"match[]": '{__name__=~"odd.*"}'})[1]
        return len(text.split())


KINDS = [Hone, Influx, Victoria]
