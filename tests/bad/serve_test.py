#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""hone serve as programs that know InfluxDB see it, and as bad ones treat it. Prints TAP."""

import gzip
import http.client
import json
import os
import signal
import socket
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
from harness import Place, main, wait_for


class Server:
    """hone serve on a free port; words as on its command line."""

    def __init__(self, place, *words):
        self.place = place
        self.process = place.start("serve", "--port", "0", "--json", "--trust-local", *words)
        wait_for("its address", lambda: place.read("out").endswith("\n") or self.process.poll() is not None)
        assert self.process.poll() is None, place.read("err")
        self.says = json.loads(place.read("out"))
        self.url = "http://" + self.says["address"]

    def ask(self, path, body=None, headers=None, **params):
        """Status and text."""
        url = self.url + path + ("?" + urllib.parse.urlencode(params) if params else "")
        request = urllib.request.Request(url, data=body, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def write(self, lines, **params):
        return self.ask("/write", lines.encode() if isinstance(lines, str) else lines, **params)

    def query(self, text, db="test"):
        """The tables of the first statement."""
        status, answer = self.ask("/query", b"", q=text, db=db, epoch="ns")
        assert status == 200, answer
        result = json.loads(answer)["results"][0]
        assert "error" not in result, result
        return result.get("series", [])

    def values(self, text, db="test"):
        tables = self.query(text, db)
        return tables[0]["values"] if tables else []

    def counts(self):
        return json.loads(self.ask("/v1/ingest")[1])

    def rss_mb(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        assert self.process.wait(60) == (0 if how == signal.SIGTERM else -how), self.place.read("err")


def what_is_written_is_found_again(place: Place):
    server = Server(place)
    assert server.write("cpu,run=a,host=h busy=1.5,idle=2i 1000\ncpu,run=b busy=3 2000\nloss value=0.25 3000",
                        db="test") == (204, "")
    assert server.values("SELECT busy, idle FROM cpu WHERE run = 'a'") == [[1000, 1.5, 2]]
    assert server.values("SELECT value FROM loss") == [[3000, 0.25]]
    assert server.values("SHOW TAG VALUES FROM cpu WITH KEY = run") == [["run", "a"], ["run", "b"]]
    assert ["test"] in server.values("SHOW DATABASES")
    server.end()
    again = Server(place)
    assert again.values("SELECT busy FROM cpu") == [[1000, 1.5], [2000, 3]]
    assert again.write("cpu,run=a busy=9 4000", db="test")[0] == 204
    assert again.values("SELECT busy FROM cpu WHERE run='a'") == [[1000, 1.5], [4000, 9]]
    again.end()
    trials = place.trials("test")
    assert len(trials) == 3, trials


def a_set_of_tags_is_an_observed_trial(place: Place):
    server = Server(place)
    server.write("m,lr=0.1,host=a loss=1,step=1i 1000\nm,lr=0.1,host=b loss=2,step=2i 2000\nm,lr=0.2 loss=3 1500",
                 db="runs")
    server.end()
    trials = {t["number"] if "number" in t else t["trial"]: t for t in place.trials("runs")}
    assert len(trials) == 2, trials
    shown = json.dumps(place.show("runs.1"))
    assert '"lr"' in shown and '"0.1"' in shown and "m.loss" in shown, shown


def the_last_value_is_the_last_in_time_however_lines_came(place: Place):
    server = Server(place)
    server.write("o v=1 1000\no v=9 9000\no v=5 5000", db="late")
    assert server.values("SELECT last(v) FROM o", db="late") == [[9000, 9]]
    wait_for("its summary", lambda: '"last": 9' in json.dumps(place.show("late.1")))
    for where, n in (("last(o.v) = 9", 1), ("last(o.v) = 5", 0), ("first(o.v) = 1", 1)):
        assert len(json.loads(place.hone("ls", "late", "--where", where, "--json")[0])) == n, where
    server.write("o v=8 9000\no v=2 2000", db="late")  # of equals the last to come
    wait_for("its summary", lambda: '"last": 8' in json.dumps(place.show("late.1")))
    server.end()
    assert '"last": 8' in json.dumps(place.show("late.1"))


def good_lines_of_a_body_are_kept_and_bad_ones_told(place: Place):
    server = Server(place)
    status, text = server.write("good v=1 1\nbad\ngood v=2 2", db="test")
    assert status == 400 and "partial write: unable to parse 'bad'" in text, text
    assert server.values("SELECT v FROM good") == [[1, 1], [2, 2]]
    status, text = server.write("bad", db="test")
    assert status == 400 and json.loads(text)["error"].startswith("unable to parse 'bad'"), text
    assert server.write("", db="test")[0] == 204
    assert server.counts()["bad_lines"] == 2
    server.end()


def nan_infinity_and_a_missing_database_are_accepted(place: Place):
    server = Server(place)
    assert server.write("m a=nan,b=-inf,c=1 5")[0] == 204
    assert server.values("SELECT a, b, c FROM m", db="outside") == [[5, None, None, 1]]
    server.end()


def bodies_may_be_packed_and_have_a_precision(place: Place):
    server = Server(place)
    packed = gzip.compress(b"m v=1 7")
    assert server.ask("/write", packed, {"Content-Encoding": "gzip"}, db="test", precision="s")[0] == 204
    assert server.ask("/write", b"junk", {"Content-Encoding": "gzip"}, db="test")[0] == 400
    assert server.ask("/api/v2/write", b"m v=2 8", bucket="test/autogen", precision="ms")[0] == 204
    assert server.values("SELECT v FROM m") == [[8 * 10**6, 2], [7 * 10**9, 1]]
    server.end()


def what_is_too_large_or_not_for_us_is_refused(place: Place):
    server = Server(place)
    assert server.ask("/write", gzip.compress(b"#" * (26 << 20)), {"Content-Encoding": "gzip"})[0] == 413
    port = int(server.url.rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.sendall(b"POST /write HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n")
        assert b" 413 " in s.recv(1000)
    assert server.ask("/write", b"m v=1", {"Host": "evil.example"})[0] == 403
    assert server.ask("/write", b"m v=1", {"Origin": "http://evil.example"})[0] == 403
    assert server.ask("/nothing")[0] == 404
    assert server.ask("/write")[0] == 405
    assert server.ask("/query", q="DROP DATABASE test")[0] == 405
    assert server.ask("/query")[0] == 400
    status, text = server.ask("/query", q="SELECT", db="test")
    assert status == 400 and text.startswith('{"error":"error parsing query: found EOF'), text
    assert server.counts()["lines"] == 0
    server.end()


def it_answers_as_influxdb_does(place: Place):
    server = Server(place)
    connection = http.client.HTTPConnection(server.says["address"])
    for method, path, status in (("GET", "/ping", 204), ("HEAD", "/ping", 204), ("HEAD", "/status", 204),
                                 ("GET", "/ping?verbose=true", 200), ("GET", "/health", 200)):
        connection.request(method, path)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == status, (method, path, answer.status)
        assert answer.headers["X-Influxdb-Version"] and answer.headers["X-Influxdb-Build"] == "OSS"
        assert answer.headers["Request-Id"] == answer.headers["X-Request-Id"]
    connection.close()
    status, text = server.ask("/query", b"", {"Accept": "application/csv"}, q="SHOW DATABASES")
    assert (status, text) == (200, ""), text
    status, text = server.ask("/query", q="CREATE DATABASE \"by get\"")
    assert (status, json.loads(text)["results"][0]["messages"][0]["level"]) == (200, "warning"), text
    assert "'CREATE DATABASE \\\"by get\\\"' in a read only context" in text, text
    assert server.values("SHOW DATABASES") == [["by get"]]  # not by the name of its experiment, too
    form = urllib.parse.urlencode({"q": "SHOW RETENTION POLICIES ON nothing"}).encode()
    status, text = server.ask("/query", form, {"Content-Type": "application/x-www-form-urlencoded"})
    assert "database not found: nothing" in text, text
    server.end()


def errors_of_write_are_those_of_influxdb(place: Place):
    server = Server(place)
    connection = http.client.HTTPConnection(server.says["address"])

    def ask(method, path, body=None):
        connection.request(method, path, body)
        answer = connection.getresponse()
        text = answer.read().decode()
        return answer.status, json.loads(text)["error"] if text else "", answer.headers["X-Influxdb-Error"]

    assert ask("POST", "/write?db=test&precision=s", b"c f=1,g=1i 1") == (204, "", None)
    first = 'partial write: field type conflict: input field "f" on measurement "c" is type integer, already exists as type float dropped=3'
    assert ask("POST", "/write?db=test", b"c f=1i 2\nc g=1.5 3\nc f=true 3") == (400, first, first)
    said = ask("POST", "/write?db=test", b"bad\0line here\nc f=\xc3\xa4")
    assert said[1].startswith("unable to parse 'bad\0line here': invalid field format\nunable to parse 'c f="), said
    assert said[2].startswith("unable to parse 'bad line here': invalid field format unable to parse"), said
    long = ask("POST", "/write?db=test", b"x" * 5000)
    assert len(long[1]) > 5000 and len(long[2]) == 1024 and long[1].startswith(long[2])
    for level, status in (("foo", 400), ("any", 204), ("ALL", 204), ("", 204)):
        assert ask("POST", f"/write?db=test&precision=s&consistency={level}", b"c f=1 1")[0] == status, level
    assert ask("POST", "/write?db=test&consistency=foo", b"c f=1 1")[1:] == ("invalid consistency level",) * 2
    assert ask("GET", "/query?q=SELECT")[2].startswith("error parsing query: found EOF")
    assert ask("OPTIONS", "/write?db=test") == ask("OPTIONS", "/query") == (200, "", None)
    connection.close()
    server.end()


def databases_are_made_and_dropped(place: Place):
    server = Server(place)
    server.query("CREATE DATABASE new")
    assert server.values("SHOW DATABASES") == [["new"]]
    server.write("m v=1 1", db="new")
    server.query("DROP DATABASE new")
    assert server.values("SHOW DATABASES") == []
    server.write("m v=2 2", db="new")
    assert server.values("SELECT v FROM m", db="new") == [[2, 2]]
    server.end()


def what_comes_after_a_removal_is_kept(place: Place):
    server = Server(place)
    assert server.write("m,t=a v=1 1\nm,t=b v=1 1", db="test")[0] == 204
    place.hone("rm", "test.1", "--yes")
    assert server.write("m,t=a v=2 2", db="test")[0] == 204
    assert server.values("SELECT v FROM m WHERE t = 'a'") == [[2, 2]]
    place.hone("rm", "test", "--yes")
    assert server.write("m,t=a v=3 3", db="test")[0] == 204
    server.end()
    assert len(place.trials("test")) == 1
    again = Server(place)
    assert again.values("SELECT v FROM m") == [[3, 3]]
    again.end()


def datagrams_are_lines_too(place: Place):
    server = Server(place, "--udp", "0")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for n in range(500):
            s.sendto(b"m,k=%d v=%d %d" % (n % 3, n, n + 1), ("127.0.0.1", server.says["udp"]))
    wait_for("datagrams", lambda: server.counts()["udp"]["datagrams"] + server.counts()["udp"]["dropped"] >= 500)
    wait_for("lines", lambda: server.counts()["lines"] + server.counts()["udp"]["dropped"] >= 500)
    if server.counts()["udp"]["dropped"] == 0:
        assert server.values("SELECT count(v) FROM m", db="outside")[0][1] == 500
    dropped = server.counts()["udp"]["dropped"]
    server.end()
    assert f'"datagrams":{500 - dropped}' in place.read("out").replace(" ", ""), place.read("out")


def prometheus_finds_how_things_stand(place: Place):
    server = Server(place)
    assert server.write("m,run=a v=1,w=2")[0] == 204
    assert server.write("bad")[0] == 400
    place.write("spec.yaml", """
name: seen
command: [sh, -c, 'echo "loss: 0.5"; while [ ! -e end ]; do sleep 0.05; done']
params: {x: [1]}
objective: loss
search: {algorithm: grid}
code: none
""")
    run = place.start("run", "spec.yaml")
    wait_for("its last value", lambda: 'metric="loss"} 0.5' in server.ask("/metrics")[1])
    page = server.ask("/metrics")[1]
    assert "hone_ingest_values_total 2\n" in page and "hone_ingest_rejected_lines_total 1\n" in page, page
    assert any(line.startswith("hone_experiment") and 'experiment="seen"' in line for line in page.splitlines()), page
    wait_for("a figure of the machine", lambda: 'figure="memory_bytes"' in server.ask("/metrics")[1])
    place.write("end", "")
    assert run.wait(60) == 0, place.read("err")
    server.end()


def a_flood_of_tags_is_refused_and_memory_stays_flat(place: Place):
    """Of 100,000 tag sets each is a trial; of a million others none is, and the server does not grow."""
    server = Server(place)
    body = lambda first: b"\n".join(b"m,run=r%d v=1" % i for i in range(first, first + 20_000))  # noqa: E731
    assert [server.write(body(20_000 * i))[0] for i in range(5)] == [204] * 5
    status, text = server.write(body(100_000))
    assert status == 400 and "max-series-per-database limit exceeded: (100000) dropped=20000" in text, text[:200]
    before = server.rss_mb()
    for i in range(6, 56):
        assert server.write(body(20_000 * i))[0] == 400
    kept = 400 if "address" in os.environ.get("HONE_BUILD", "") else 30  # by a sanitizer, which frees late
    assert server.rss_mb() < before + kept, (before, server.rss_mb())
    assert server.write("m,run=r7 v=2")[0] == 204, "what is known goes on"
    server.end()


def what_was_acknowledged_survives_any_death(place: Place):
    acknowledged, n = [], 0
    rounds = int(os.environ.get("SERVE_ROUNDS", 20))
    answers = 50 if rounds < 100 else 20
    for _ in range(rounds):
        server = Server(place)
        stop = threading.Event()

        def writer(first, url=server.url, stop=stop):
            k = first
            while not stop.is_set():
                body = b"m,w=%d v=%d %d" % (first % 4, k, k + 1)
                try:
                    urllib.request.urlopen(urllib.request.Request(url + "/write?db=test", data=body), timeout=60).close()
                except OSError:
                    return
                acknowledged.append(k)
                k += 4

        threads = [threading.Thread(target=writer, args=(n + i,)) for i in range(4)]
        before = len(acknowledged)
        for t in threads:
            t.start()
        wait_for("answers", lambda: len(acknowledged) >= before + answers)
        server.end(signal.SIGKILL)
        stop.set()
        for t in threads:
            t.join()
        n = (max(acknowledged) + 8) // 4 * 4
    server = Server(place)
    found = {v for _, v in server.values("SELECT v FROM m")}
    assert found >= set(acknowledged), sorted(set(acknowledged) - found)[:10]
    assert len(server.values("SHOW TAG VALUES FROM m WITH KEY = w")) == 4
    wait_for("summaries of all of it",
             lambda: sum(m["count"] for i in range(1, 5) for m in place.show(f"test.{i}")["metrics"]) >= len(found))
    server.end()
    assert len(place.trials("test")) == 4


def a_taken_port_and_a_taken_home_are_told(place: Place):
    server = Server(place)
    with open(os.path.join(place.home, "address"), encoding="utf-8") as f:
        assert f.read().strip() == server.says["address"]
    _, err = place.hone("serve", code=1)
    assert f"pid {server.process.pid}" in err, err
    other = Place()
    port = server.says["address"].rsplit(":", 1)[1]
    second = other.start("serve", "--port", port)
    wait_for("an address", lambda: "http://" in other.read("out") or second.poll() is not None)
    assert f"port {port} is taken" in other.read("out"), other.read("out") + other.read("err")
    second.terminate()
    assert second.wait(60) == 0
    other.close()
    _, err = place.hone("serve", "--address", "0.0.0.0", code=1)
    server.end()
    assert not os.path.exists(os.path.join(place.home, "address"))
    _, err = place.hone("serve", "--address", "0.0.0.0", code=1)
    assert "this machine alone" in err, err


main(what_is_written_is_found_again, a_set_of_tags_is_an_observed_trial,
     the_last_value_is_the_last_in_time_however_lines_came, good_lines_of_a_body_are_kept_and_bad_ones_told,
     nan_infinity_and_a_missing_database_are_accepted, bodies_may_be_packed_and_have_a_precision,
     what_is_too_large_or_not_for_us_is_refused, it_answers_as_influxdb_does, errors_of_write_are_those_of_influxdb,
     databases_are_made_and_dropped, what_comes_after_a_removal_is_kept, datagrams_are_lines_too, prometheus_finds_how_things_stand,
     what_was_acknowledged_survives_any_death, a_taken_port_and_a_taken_home_are_told)
