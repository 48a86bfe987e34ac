#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The event stream: every change once and in order, whoever comes, goes, reads slowly or not at all; and
curves that hold what it told. Prints TAP."""

import json
import math
import signal
import socket
import sqlite3
import struct
import sys

sys.dont_write_bytecode = True
from harness import HONE, Place, main, wait_for
from serving import Serving, Viewer


def changes(events):
    """Those that are recorded; that rows were updated is told, too."""
    return [data for kind, data in events if kind == "change" and data["event"] not in ("updated", "removed")]


def is_end(kind, data):
    return kind == "change" and data["event"] == "finished"


def recorded(place, experiment=1):
    """(event, trial) of an experiment as the database has them."""
    with sqlite3.connect(f"file:{place.home}/hone.db?mode=ro", uri=True) as db:
        rows = db.execute("select json, trial from event where id >> 32 = ? order by id", (experiment,)).fetchall()
    return [(json.loads(text)["event"], trial or None) for text, trial in rows]


def seen(events):
    return [(data["event"], data["trial"]) for data in changes(events)]


def every_change_comes_once_and_in_order(place: Place):
    server = Serving(place)
    viewer = Viewer(server).begin()
    place.hone("run", "--name", "t", "--trials", "20", "--param", "x=0..1", "--", "/bin/true")
    events = viewer.until(is_end)
    assert seen(events) == recorded(place), (seen(events), recorded(place))
    assert len(recorded(place)) >= 42
    assert all(data["experiment"] == 1 and data["time"].endswith("Z") for data in changes(events))
    assert all(kind == "change" for kind, _ in events), "live and points were not asked for"
    server.end()


def who_comes_back_with_a_cursor_misses_nothing(place: Place):
    server = Serving(place)
    viewer = Viewer(server).begin()
    server.run("/bin/true")
    first = viewer.until(is_end)
    cursor = viewer.cursor
    viewer.close()
    place.hone("run", "--name", "u", "--trials", "3", "--param", "x=0..1", "--", "/bin/true")
    for again in (Viewer(server, after=cursor), Viewer(server, after="nonsense", header=cursor)):
        missed = again.until(is_end)
        assert seen(missed) == recorded(place, 2), missed
        again.close()
    assert seen(first) == recorded(place, 1)
    fresh = Viewer(server, after=viewer.cursor).begin()
    server.run("/bin/true", name="v")
    assert [data["experiment"] for data in changes(fresh.until(lambda k, d: is_end(k, d) and d["experiment"] == 3))
            ].count(3) == len(recorded(place, 3))
    server.end()


def a_cursor_of_another_time_means_reset(place: Place):
    server = Serving(place)
    viewer = Viewer(server).begin()
    server.run("/bin/true")
    viewer.until(is_end)
    server.end()
    again = Serving(place)
    for cursor in (viewer.cursor, "nonsense", "0-0", "-", "%20", "1" * 2000):
        back = Viewer(again, after=cursor)
        back.until(lambda kind, data: kind == "reset")
        new = back.cursor
        back.close()
    silent = Viewer(again, after=new).begin()
    again.run("/bin/true", name="u")
    assert seen(silent.until(is_end)) == recorded(place, 2)
    again.end()


def only_what_is_asked_for_comes_live(place: Place):
    server = Serving(place)
    server.write("m,run=a v=0 1000", db="one")
    server.write("m,run=a v=0 1000", db="two")
    numbers = {row["name"]: row["experiment"] if "experiment" in row else row["id"] for row in place.experiments()}
    viewer = Viewer(server, experiments=f"{numbers['two']},77").begin()
    server.write("m,run=a v=1,step=1i 2000000000", db="one")
    server.write("m,run=a v=2,step=2i 2000000000\nm,run=a v=nan,step=3i 3500000000", db="two")
    points = []
    for kind, data in viewer.stream():
        if kind == "change" and data["event"] == "updated":
            continue
        assert kind == "points" and data["experiment"] == numbers["two"], (kind, data)
        points += [data] if data["metric"] == "m.v" else []
        if sum(len(p["value"]) for p in points) == 2:
            break
    assert sum((p["value"] for p in points), []) == [2, "NaN"], points
    assert sum((p["step"] for p in points), []) == [2, 3]
    assert sum((p["time"] for p in points), []) == [2, 3.5]
    server.end()


def what_no_event_tells_of_is_told_as_updated(place: Place):
    server = Serving(place)
    viewer = Viewer(server).begin()
    server.write("m,run=a v=0 1000", db="one")
    viewer.until(lambda kind, data: kind == "change" and data["event"] == "updated" and data["experiment"] == 1)
    place.hone("tag", "1", "good")
    viewer.until(lambda kind, data: kind == "change" and data["event"] == "updated" and data["experiment"] == 1)
    place.hone("tag", "1.1", "good")
    told = viewer.until(lambda kind, data: kind == "change" and data["event"] == "updated" and data["trial"])
    assert told[-1][1]["trial"] == 1, told
    place.hone("rm", "1", "--yes")
    told = viewer.until(lambda kind, data: kind == "change" and data["event"] == "removed" and data["experiment"] == 1)
    assert told[-1][1]["trial"] is None, told
    server.end()


def an_answer_says_from_where_on_nothing_is_missed(place: Place):
    server = Serving(place)
    server.write("m,run=a v=0 1000", db="one")
    _, headers, _ = server.ask("/v1/experiments")
    place.hone("tag", "1", "good")  # nobody listens, and no event tells of it
    server.run("/bin/true", name="two")
    viewer = Viewer(server, after=headers["X-Hone-Cursor"])
    events = viewer.until(lambda kind, data: kind == "change" and data["event"] == "updated" and data["experiment"] == 1)
    assert seen(events) == recorded(place, 2), events
    viewer.close()
    _, headers, _ = server.ask("/v1/experiments")
    viewer = Viewer(server, after=headers["X-Hone-Cursor"]).begin()
    server.run("/bin/true", name="three")
    events = viewer.until(is_end)
    assert seen(events) == recorded(place, 3), events
    for wrong in ("x", "-1", "9" * 30, ""):
        Viewer(server, after=headers["X-Hone-Cursor"].split(".")[0] + "." + wrong).begin().close()
    server.end()


def a_running_trial_tells_points_and_how_it_stands(place: Place):
    server = Serving(place)
    viewer = Viewer(server, experiments="1").begin()
    place.write("train.py", """
import hone, os, time
for step in range(50):
    hone.log(step=step, loss=50 - step)
while not os.path.exists("go"): time.sleep(0.01)
hone.log(step=50, loss=0)
""")
    run = place.start("run", "--name", "t", "--trials", "1", "--", "/usr/bin/python3", "train.py")
    told, live = [], 0
    for kind, data in viewer.stream():
        live += kind == "live" and data["experiment"] == 1 and len(data["active"]) == 1
        told += data["value"] if kind == "points" and data["metric"] == "loss" else []
        if len(told) == 50 and live:
            break
    assert told == [50 - step for step in range(50)], told
    body = {"lines": [{"trial": "1.1", "metric": "loss"}], "width": 100}
    wait_for("the curve of what runs", lambda: curves(server, body)["lines"][0]["count"] == 50)
    place.write("go", "")
    viewer.until(is_end)
    assert run.wait(60) == 0
    assert curves(server, body)["lines"][0]["count"] == 51
    server.end()


def a_viewer_that_does_not_read_is_told_to_load_anew(place: Place):
    server = Serving(place)
    long = "n" * 900
    server.write("first,run=a v=0 1", db="wide")
    lazy = Viewer(server, experiments="1", small=True).begin()
    brisk = Viewer(server, experiments="1").begin()
    for k in range(9):  # 14 MB, more than the kernel keeps for one who does not read
        server.write("\n".join(f"{long}{i},run=a v={k} {k + 1}" for i in range(1500)), db="wide")
        brisk.until(lambda kind, data: kind == "reset" or (kind == "points" and data["metric"] == long + "1499.v"))
    lazy.until(lambda kind, data: kind == "reset")
    server.run("/bin/true")
    ended = lazy.until(is_end)
    assert seen(ended) == recorded(place, 2), seen(ended)
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as f:
        peak = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
    assert peak < 400 << 10 or is_sanitized(), peak
    server.end()


def is_sanitized():
    """A build that checks itself takes more memory."""
    with open(HONE, "rb") as f:
        return b"__asan_init" in f.read()


def two_hundred_viewers_hear_the_same(place: Place):
    server = Serving(place)
    viewers = [Viewer(server) for _ in range(200)]
    for viewer in viewers:
        viewer.begin()
    place.hone("run", "--name", "t", "--trials", "5", "--param", "x=0..1", "--", "/bin/true")
    wanted = recorded(place)
    for viewer in viewers:
        assert seen(viewer.until(is_end)) == wanted
    server.end()


def viewers_that_are_killed_leave_the_others_alone(place: Place):
    server = Serving(place)
    stays = Viewer(server, experiments="1").begin()
    doomed = [Viewer(server, experiments="1") for _ in range(40)]
    for viewer in doomed[::2]:
        viewer.begin()
    for k, viewer in enumerate(doomed):
        if k % 2:
            viewer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        viewer.close()
        if k == 20:
            server.run("/bin/true")
    server.run("/bin/true", name="u")
    events = stays.until(lambda kind, data: is_end(kind, data) and data["experiment"] == 2)
    assert [e for e in seen(events)] == recorded(place, 1) + recorded(place, 2)
    server.end()


def a_stream_ends_with_its_server(place: Place):
    server = Serving(place)
    viewers = [Viewer(server, experiments="1").begin() for _ in range(5)]
    server.end()
    for viewer in viewers:
        try:
            assert not [kind for kind, _ in viewer.stream() if kind]
        except (EOFError, ConnectionError):
            pass


def who_may_not_ask_any_more_hears_no_more(place: Place):
    server = Serving(place)
    ours, server.token = server.token, place.token("viewer", "eve")
    eve = Viewer(server).begin()
    server.token = ours
    viewer = Viewer(server).begin()
    place.hone("token", "rm", "eve")
    server.run("/bin/true")
    viewer.until(is_end)
    assert changes(eve.stream()) == [] and eve.over
    server.end()


def a_killed_server_loses_no_event(place: Place):
    server = Serving(place)
    viewer = Viewer(server).begin()
    server.run("/bin/true")
    events = viewer.until(is_end)
    server.end(signal.SIGKILL)
    assert seen(events) == recorded(place)


def wrong_questions_get_a_sentence(place: Place):
    server = Serving(place)
    for query in ("experiments=x", "experiments=1,,2", "experiments=-1", "experiments=0", "experiments=1;2",
                  "experiments=" + ",".join(map(str, range(1, 200))), "experiments=99999999999999999999"):
        status, _, body = server.ask("/v1/events?" + query)
        assert status == 400 and json.loads(body)["error"], (query, status, body)
    assert server.ask("/v1/events", method="POST", body=b"")[0] == 405
    for body in (b"", b"{}", b"[]", b"{", b'{"lines":7}', b'{"lines":[{"trial":"1","metric":"m"}]}', b"\xff" * 100,
                 b'{"lines":[],"width":-1}', b'{"lines":[{"trial":"../1.1","metric":"m"}]}'):
        status, _, text = server.ask("/v1/series", body)
        assert status in (400, 404) and json.loads(text)["error"], (body, status, text)
    assert server.ask("/v1/series", b" " * ((1 << 20) + 1))[0] == 413
    server.end()


def curves(server, body):
    """The answer to POST /v1/series."""
    status, _, got = server.ask("/v1/series", json.dumps(body).encode())
    assert status == 200, got
    magic, kind, n, zero, x0, x1 = struct.unpack_from("<4sIIIdd", got)
    assert magic == b"HSR2" and zero == 0 and len(got) % 8 == 0
    at, parts = 32, []
    for _ in range(n):
        points, more = struct.unpack_from("<II", got, at)
        at += 8
        part = {"points": points}
        if kind == 0:
            part["count"], part["nans"], first, per, y_bytes = struct.unpack_from("<QQddQ", got, at)
            at += 40
        keys = (("x", points), ("y", points), ("marks", more)) if kind == 0 else (
            ("x", points), ("middle", points), ("low", points), ("high", points))
        for key, length in keys:
            half = {"x": "I" if per else "", "y": "f" if y_bytes == 4 else ""}.get(key) if kind == 0 else ""
            part[key] = list(struct.unpack_from(f"<{length}{half or 'd'}", got, at))
            if half == "I":
                part[key] = [first + k / per for k in part[key]]
            at += (4 * length + 7) // 8 * 8 if half else 8 * length
        if kind == 1:
            part["trials"] = more
        parts.append(part)
    assert at == len(got)
    return {"x0": x0, "x1": x1, "lines": parts}


def curves_hold_what_was_told(place: Place):
    server = Serving(place)
    server.write("\n".join(f"m,run={run} v={step * (run == 'a') + 1},step={step}i {10**9 * (step + 1)}"
                           for run in "ab" for step in range(10)), db="c")
    server.write(f"m,run=a v=nan,step=10i {11 * 10**9}\nm,run=a v=5,step=11i {12 * 10**9}", db="c")
    lines = [{"trial": "c.1", "metric": "m.v"}, {"trial": "c.2", "metric": "m.v"}, {"trial": "c.9", "metric": "m.v"},
             {"trial": "nobody.1", "metric": "m.v"}, {"trial": "c.1", "metric": "none"}]
    got = curves(server, {"lines": lines, "width": 1000})
    a, b, *none = got["lines"]
    assert (got["x0"], got["x1"]) == (0, 11)
    assert a["x"][:10] == list(range(10)) and a["y"][:10] == list(range(1, 11)), a
    assert math.isnan(a["y"][10]) and a["x"][-1] == 11 and a["y"][-1] == 5 and a["marks"] == [10], a
    assert (a["count"], a["nans"], b["count"]) == (12, 1, 10)
    assert all(part["points"] == 0 for part in none)
    got = curves(server, {"lines": lines[:2], "x": "relative", "width": 10})
    assert (got["x0"], got["x1"]) == (0, 11)
    got = curves(server, {"lines": lines[:2], "x": "time", "from": 3, "to": 5, "width": 10})
    assert (got["x0"], got["x1"]) == (3, 5) and got["lines"][0]["count"] == 3
    got = curves(server, {"lines": lines[:2], "groups": [[0, 1]], "width": 1000})
    band = got["lines"][0]
    assert band["trials"] == 2 and band["middle"][9] == 5.5 and (band["low"][9], band["high"][9]) == (1, 10), band
    server.write(f"m,run=a v=6,step=12i {13 * 10**9}", db="c")
    assert curves(server, {"lines": lines[:1]})["lines"][0]["count"] == 13
    server.end()


main(every_change_comes_once_and_in_order, who_comes_back_with_a_cursor_misses_nothing,
     a_cursor_of_another_time_means_reset, only_what_is_asked_for_comes_live, what_no_event_tells_of_is_told_as_updated,
     an_answer_says_from_where_on_nothing_is_missed,
     a_running_trial_tells_points_and_how_it_stands, a_viewer_that_does_not_read_is_told_to_load_anew,
     two_hundred_viewers_hear_the_same, viewers_that_are_killed_leave_the_others_alone, a_stream_ends_with_its_server,
     who_may_not_ask_any_more_hears_no_more, a_killed_server_loses_no_event, wrong_questions_get_a_sentence, curves_hold_what_was_told)
