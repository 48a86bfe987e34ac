# SPDX-License-Identifier: MIT
"""RabbitMQ and a Celery worker, started for a bench on loopback and ended with it.

Both live in a folder of the bench and on ports that nobody else has, so a broker that the machine
runs already is not touched.
"""
import os
import pathlib
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
RABBITMQ = "/usr/lib/rabbitmq/bin/rabbitmq-server"
TICKS = os.sysconf("SC_CLK_TCK")


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_for_port(port, process, seconds=90):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("bench: RabbitMQ did not start")


def stat_fields(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return text.rpartition(")")[2].split()


def tree_cpu(roots):
    """Seconds used by these processes, their descendants, and those they have waited for."""
    parents = {}
    for entry in os.listdir("/proc"):
        fields = stat_fields(entry) if entry.isdigit() else None
        if fields:
            parents[int(entry)] = (int(fields[1]), sum(int(x) for x in fields[11:15]) / TICKS)
    total, wanted = 0.0, set(roots)
    for pid, (_, used) in parents.items():
        above = pid
        while above in parents and above not in wanted:
            above = parents[above][0]
        total += used if above in wanted else 0.0
    return total


class Broker:
    def __init__(self, folder, side):
        amqp, names, dist = free_ports(3)
        self.env = dict(
            os.environ, HOME=str(folder), PYTHONPATH=str(HERE), PYTHONDONTWRITEBYTECODE="1",
            ERL_EPMD_PORT=str(names), ERL_EPMD_ADDRESS="127.0.0.1",
            RABBITMQ_NODENAME=f"hone-bench-{os.getpid()}@localhost",
            RABBITMQ_NODE_PORT=str(amqp), RABBITMQ_NODE_IP_ADDRESS="127.0.0.1",
            RABBITMQ_DIST_PORT=str(dist), RABBITMQ_MNESIA_BASE=str(folder / "data"),
            RABBITMQ_LOG_BASE=str(folder / "log"), RABBITMQ_LOGS="-",
            RABBITMQ_PLUGINS_EXPAND_DIR=str(folder / "plugins"),
            RABBITMQ_PID_FILE=str(folder / "pid"), RABBITMQ_ENABLED_PLUGINS_FILE="/dev/null",
            RABBITMQ_CONFIG_FILE=str(folder / "none"), RABBITMQ_CONF_ENV_FILE=str(folder / "none"),
            BENCH_BROKER=f"amqp://guest:guest@127.0.0.1:{amqp}//")
        self.log = open(folder / "broker.log", "wb")
        self.processes = []
        try:
            self.start(["epmd", "-port", str(names), "-address", "127.0.0.1"])
            server = self.start([RABBITMQ])
            wait_for_port(amqp, server)
            self.start([sys.executable, "-m", "celery", "-A", "celery_app", "worker",
                        f"--concurrency={side}", "--loglevel=ERROR", "--without-gossip",
                        "--without-mingle"])
        except BaseException:
            self.close()
            raise

    def start(self, argv):
        process = subprocess.Popen(argv, env=self.env, cwd=HERE, stdin=subprocess.DEVNULL,
                                   stdout=self.log, stderr=self.log)
        self.processes.append(process)
        return process

    def cpu(self):
        return tree_cpu([process.pid for process in self.processes])

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = []
        self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
