#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The rows and tables of the API against a real server: what fits, wrong questions, odd names, and
rows that come and go between two pages. Prints TAP."""

import json
import re
import struct
import sys
import urllib.parse

sys.dont_write_bytecode = True
from harness import Place, main, wait_for
from serving import Serving

ODD = "<script>alert(1)</script>"
TRAIN = """for s in 0 1 2; do
    echo "train loss=$1,acc=0.$s,step=${s}i" >> "$HONE_METRICS"
done
"""


class Api(Serving):
    """A server, and questions to it."""

    def bytes(self, path, headers=None, **params):
        query = "?" + urllib.parse.urlencode(params) if params else ""
        return self.ask(path + query, headers=headers)

    def get(self, path, **params):
        status, _, body = self.bytes(path, **params)
        assert status == 200, (path, params, status, body[:300])
        return json.loads(body)

    def refused(self, status, path, **params):
        """The sentence."""
        got, _, body = self.bytes(path, **params)
        assert got == status, (path, params, got, body[:300])
        answer = json.loads(body)
        assert answer["error"] and "\n" not in answer["error"] and answer["code"], answer
        return answer["error"]

    def table(self, experiment=1, **params):
        """Rows as dictionaries, and what came with them."""
        page = self.get(f"/v1/experiments/{experiment}/trials", **params)
        names = [column["name"] for column in page["columns"]]
        return [dict(zip(names, row, strict=True)) for row in page["rows"]], page


def experiment(place, name, n):
    place.write("train.sh", TRAIN)
    place.hone("run", "--name", name, "--trials", str(n), "--minimize", "loss", "--param", "x=1..99:int", "--param",
               "opt=adam,sgd", "--param", "batch=32,64", "--set", "search.seed=1", "--", "sh", place.path("train.sh"), "{x}")


def the_table_tells_what_the_commands_tell(place: Place):
    experiment(place, "one", 12)
    api = Api(place)
    rows, page = api.table()
    assert page["total"] == page["matched"] == 12
    for row, told in zip(rows, sorted(place.trials("one"), key=lambda t: int(t["trial"].split(".")[1])), strict=True):
        assert f"1.{row['number']}" == told["trial"] and row["value"] == told["value"], (row, told)
        assert {k: row["params." + k] for k in told["params"]} == told["params"], (row, told)
        assert row["started"] == told["started"] and row["metrics.loss.last"] == told["value"], (row, told)
        one = api.get("/v1/trials/" + told["trial"])
        assert {k: one[k] for k in told} == told
        shown = place.show(told["trial"])
        assert one["metrics"] == shown["metrics"] and one["runs"] == shown["runs"]
    whole, shown = api.get("/v1/experiments/one"), place.show("one")
    assert {k: whole[k] for k in shown} == shown
    listed = api.get("/v1/experiments")["experiments"][0]
    assert listed["spark"] == sorted(listed["spark"], reverse=True) and listed["spark"][-1] == whole["value"]
    assert listed["objective"] == {"metric": "loss", "goal": "minimize"} and listed["budget"] == 12


def secrets_of_a_spec_are_not_told(place: Place):
    place.write("spec.yaml", "command: 'true'\nenv: {WANDB_API_KEY: hunter2, MODE: fast}\nsearch: {trials: 1}\n")
    place.hone("run", place.path("spec.yaml"))
    api = Api(place, "viewer")
    status, _, text = api.bytes("/v1/experiments/1")
    assert status == 200 and b"hunter2" not in text
    assert json.loads(text)["spec"]["env"] == {"WANDB_API_KEY": "•••", "MODE": "fast"}


def a_filter_finds_what_the_command_line_finds(place: Place):
    experiment(place, "one", 12)
    api = Api(place)
    for where in ("x > 40", "opt = 'adam' and batch = 64", "loss < 30 or number = 1", "min(acc) < 0.1 and max(acc) > 0.1",
                  "mean(acc, step > 0) > 0.1", "count(acc) = 3", "x in (1, 2, 3) or state = 'failed'", "started > now - 1h"):
        told = json.loads(place.hone("ls", "one", "--all", "--json", "--where", where, "--sort", "loss")[0])
        rows, page = api.table(where=where, sort="metrics.loss.last")
        assert [f"1.{row['number']}" for row in rows] == [t["trial"] for t in told], where
        assert page["matched"] == len(told)
    for sort in ("params.x", "opt", "mean(acc)", "0 - x", "last(metric.loss)", "trial.duration"):
        up = [row["number"] for row in api.table(sort=sort, columns="number")[0]]
        assert sorted(up) == list(range(1, 13)), sort
    by_x = [row["params.x"] for row in api.table(sort="params.x", desc=1, columns="params.x")[0]]
    assert by_x == sorted(by_x, reverse=True)


def pages_put_together_are_the_whole(place: Place):
    experiment(place, "one", 11)
    api = Api(place)
    whole = api.table(sort="params.opt", columns="number")[0]
    parts = [row for offset in range(0, 15, 3) for row in api.table(sort="params.opt", columns="number", offset=offset, limit=3)[0]]
    assert parts == whole and len(whole) == 11
    assert api.table(offset=10**15)[0] == []
    status, _, body = api.bytes("/v1/experiments/1/columns", names="value,params.opt,metrics.loss.last,metrics.none.min", where="x > 20")
    assert status == 200
    n, columns = struct.unpack_from("<II", body)
    assert columns == 4 and len(body) == 8 + 8 * n * 5
    numbers = struct.unpack_from(f"<{n}d", body, 8)
    rows, page = api.table(where="x > 20", columns="number,value,params.opt")
    assert [row["number"] for row in rows] == list(numbers)
    assert [row["value"] for row in rows] == list(struct.unpack_from(f"<{n}d", body, 8 + 8 * n))
    choices = page["columns"][2]["choices"]
    assert [row["params.opt"] for row in rows] == [choices[int(i)] for i in struct.unpack_from(f"<{n}d", body, 8 + 16 * n)]
    assert all(x != x for x in struct.unpack_from(f"<{n}d", body, 8 + 32 * n))


def a_wrong_question_gets_one_sentence(place: Place):
    experiment(place, "one", 3)
    api = Api(place)
    table = "/v1/experiments/1/trials"
    for params in ({"where": "nope > 1"}, {"where": "x >"}, {"where": "x = 'a"}, {"where": "x"}, {"where": "(" * 500}, {"where": "x > 1 " * 5000},
                   {"sort": "nope"}, {"sort": "params.nope"}, {"columns": "nope"}, {"columns": ","}, {"columns": "params.x,"},
                   {"columns": "metrics.loss.median"}, {"columns": "number," * 9999 + "state"}, {"columns": "x'; DROP TABLE trial;--"},
                   {"offset": -1}, {"offset": "x"}, {"offset": 10**30}, {"limit": 0}, {"limit": 1001}, {"limit": "1e9"}, {"desc": 2}):
        sentence = api.refused(400, table, **params) if len(str(params)) < 15000 else None
        assert sentence is None or len(sentence) < 400, sentence
    assert api.refused(400, table, where="losss < 1") == "where: no column is called 'losss': did you mean 'loss'?"
    assert "--where: no column is called 'losss'" in place.hone("ls", "one", "--where", "losss < 1", code=2)[1]
    for path in ("/v1/experiments/9", "/v1/experiments/nope/trials", "/v1/experiments/9/columns?names=value", "/v1/experiments/-1/metrics",
                 "/v1/experiments/9/events", "/v1/experiments/9/timeline", "/v1/trials/1.99", "/v1/trials/9.1", "/v1/trials/1.4294967296",
                 "/v1/experiments/" + "9" * 40, "/v1/experiments/%00", "/v1/experiments/%ff", "/v1/experiments/" + urllib.parse.quote(ODD, safe="")):
        status = api.bytes(path)[0]
        assert status in (400, 404), (path, status)
    for path in ("/v1/trials/one", "/v1/trials/1.", "/v1/trials/1.x"):
        assert api.bytes(path)[0] in (400, 404), path
    for cursor in ("x", "1", "-1-1", "1-", "1-x", "99999999999999999999-1", "1-1-1", ODD):
        assert "cursor" in api.refused(400, "/v1/experiments", cursor=cursor)
        assert "cursor" in api.refused(400, table, cursor=cursor)
    api.refused(400, table, cursor="1-1", offset=2)
    for params in ({"where": "loss < 1"}, {"sort": "nope"}, {"limit": 0}, {"limit": 1001}):
        api.refused(400, "/v1/experiments", **params)
    for params in ({"after": -1}, {"limit": 0}, {"trial": -1}, {"after": 2**70}, {"before": -1}):
        api.refused(400, "/v1/experiments/1/events", **params)
    assert api.get("/v1/experiments/1/events", after=2**40, trial=2**40) == {"events": [], "next": None}
    api.refused(400, "/v1/experiments/1/columns")
    api.refused(400, "/v1/experiments/1/columns", names="nope")
    assert api.table()[1]["total"] == 3


def names_and_notes_of_any_kind_come_back_as_they_are(place: Place):
    experiment(place, "one", 2)
    api = Api(place)
    note = ODD + "\n\"quoted\" 'single' \\ \t日本 end"
    place.hone("note", "1.1", note)
    place.hone("tag", "1.1", "it's<b>")
    place.hone("star", "1.2")
    rows = api.table(columns="number,tags,note,starred")[0]
    assert rows[0] == {"number": 1, "tags": ["it's<b>"], "note": note, "starred": False}, rows
    assert rows[1] == {"number": 2, "tags": [], "note": None, "starred": True}
    assert api.table(where="'it''s<b>' in tags", columns="number")[0] == [{"number": 1}]
    assert api.table(where="note ~ 'quoted'", columns="number")[0] == [{"number": 1}]
    status, headers, body = api.bytes("/v1/trials/1.1")
    assert json.loads(body)["note"] == note and headers["Content-Type"].startswith("application/json")
    assert headers["X-Content-Type-Options"] == "nosniff"


def what_others_told_is_a_table_too(place: Place):
    api = Api(place)
    api.write(f"train,lr=0.1,model={ODD.replace(' ', '')} loss=3 1000000000\ntrain,lr=0.3,model=b loss=2 1000000000\n", db="web")
    rows = api.table("web", columns="number,params.lr,params.model,metrics.train.loss.last")[0]
    assert sorted(row["params.model"] for row in rows) == [ODD, "b"], rows
    rows = api.table("web", where="model = 'b'", columns="params.lr")[0]
    assert len(rows) == 1 and float(rows[0]["params.lr"]) == 0.3, rows


def what_is_known_already_is_not_sent_again(place: Place):
    experiment(place, "one", 2)
    api = Api(place)
    for path in ("/v1/trials/1.1", "/v1/experiments/1", "/v1/experiments", "/v1/experiments/1/trials?columns=number,starred"):
        status, headers, body = api.bytes(path)
        assert status == 200 and headers["ETag"], path
        again = api.bytes(path, headers={"If-None-Match": headers["ETag"]})
        assert again[0] == 304 and again[2] == b"" and again[1]["ETag"] == headers["ETag"], (path, again)
        place.hone("star", "1.1")
        place.hone("tag", "1", path.strip("/").replace("/", "-").partition("?")[0])
        assert api.bytes(path, headers={"If-None-Match": headers["ETag"]})[0] == 200, path
        place.hone("star", "1.1", "--off")
    for path in ("/v1/experiments/1/columns?names=value", "/v1/queue", "/v1/machines"):
        same = lambda: api.bytes(path, headers={"If-None-Match": api.bytes(path)[1]["ETag"]})
        wait_for("the same twice", lambda: same()[0] == 304)  # of the machine: between two looks
        assert api.bytes(path, headers={"If-None-Match": '"else"'})[0] == 200, path


def parts_of_the_pages_are_asked_for_once(place: Place):
    api = Api(place)
    kept = lambda path: api.bytes(path)[1]["Cache-Control"]
    status, headers, page = api.bytes("/")
    assert status == 200 and headers["Cache-Control"] == "no-cache", headers
    parts = re.findall(r'"(/assets/[^"]+)"', page.decode())
    assert len(parts) == 3, parts
    for part in parts:
        name, _, tag = part.partition("?v=")
        assert tag and "immutable" in kept(part), part
        assert kept(name) == kept(name + "?v=" + tag[::-1]) == "no-cache", part


def an_answer_that_is_kept_follows_the_name_of_its_experiment(place: Place):
    api = Api(place)
    mlflow = lambda what, body: api.json("/api/2.0/mlflow/" + what, body)
    e = mlflow("experiments/create", {"name": "before"})["experiment_id"]
    mlflow("runs/create", {"experiment_id": e, "start_time": 1000})
    (number,) = (row["number"] for row in api.table("before", columns="number")[0])
    paths = [f"/v1/trials/{name}.{number}" for name in ("before", "last", api.get("/v1/experiments/before")["experiment"])]
    read = api.get(paths[0])
    assert read["name"] == "before" and all(api.get(path) == read for path in paths), read
    mlflow("experiments/update", {"experiment_id": e, "new_name": "behind"})
    for path in paths[1:]:
        assert api.get(path) == {**read, "name": "behind"}, path
    api.refused(404, paths[0])


def a_list_stays_right_while_experiments_come_and_go(place: Place):
    for i in range(5):
        experiment(place, f"e{i}", 1)
    api = Api(place)
    first = api.get("/v1/experiments", limit=2)
    assert [e["experiment"] for e in first["experiments"]] == [5, 4] and first["total"] == 5
    experiment(place, "new", 1)
    place.hone("rm", "4", "--yes")
    second = api.get("/v1/experiments", limit=2, cursor=first["next"])
    assert [e["experiment"] for e in second["experiments"]] == [3, 2], second
    place.hone("rm", "2", "--yes")
    third = api.get("/v1/experiments", limit=2, cursor=second["next"])
    assert [e["experiment"] for e in third["experiments"]] == [1] and third["next"] is None
    by_name = api.get("/v1/experiments", limit=2, sort="name", desc=1)
    assert [e["name"] for e in by_name["experiments"]] == ["new", "e4"]
    place.hone("rm", "e4", "--yes")
    rest = api.get("/v1/experiments", limit=9, sort="name", desc=1, cursor=by_name["next"])
    assert [e["name"] for e in rest["experiments"]] == ["e2", "e0"], rest
    assert [e["name"] for e in api.get("/v1/experiments", where="name ~ '^e' and trials = 1")["experiments"]] == ["e2", "e0"]


def an_experiment_that_goes_between_two_pages_is_told(place: Place):
    experiment(place, "one", 6)
    api = Api(place)
    assert len(api.table(limit=3)[0]) == 3
    place.hone("rm", "1.2", "--yes")
    assert [row["number"] for row in api.table(columns="number")[0]] == [1, 3, 4, 5, 6]
    assert api.refused(404, "/v1/trials/1.2") == "experiment 1 has no trial 2"
    place.hone("rm", "1", "--yes")
    for path in ("/trials", "/metrics", "/events", "/timeline", "/columns?names=value", ""):
        assert api.bytes("/v1/experiments/1" + path)[0] == 404, path
    assert api.get("/v1/experiments") == {"experiments": [], "next": None, "total": 0}


def a_table_stays_right_while_trials_go(place: Place):
    experiment(place, "one", 9)
    api = Api(place)

    def pages(between=lambda: None, **params):
        """The numbers of all pages of three, one after the other by their cursors."""
        told, cursor = [], None
        while True:
            page = api.get("/v1/experiments/1/trials", limit=3, columns="number", **({"cursor": cursor} if cursor else {}), **params)
            told.append([row[0] for row in page["rows"]])
            cursor = page["next"]
            if cursor is None:
                return told
            between()

    assert pages() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert pages(desc=1) == [[9, 8, 7], [6, 5, 4], [3, 2, 1]]
    assert pages(where="number > 4") == [[5, 6, 7], [8, 9]]
    by_x = [row["number"] for row in api.table(columns="number", sort="-x")[0]]
    assert sum(pages(sort="-x"), []) == by_x
    gone = iter(("1.2", "1.6"))
    assert pages(lambda: place.hone("rm", next(gone, "1.8"), "--yes", code=None)) == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert pages() == [[1, 3, 4], [5, 7, 8], [9]]
    assert pages(lambda: place.hone("rm", "1.4", "--yes", code=None)) == [[1, 3, 4], [5, 7, 8], [9]]  # the last of a page goes
    assert sum(pages(sort="-x"), []) == [n for n in by_x if n not in (2, 4, 6)]


def events_and_attempts_tell_the_whole_story(place: Place):
    experiment(place, "one", 4)
    api = Api(place)
    events, after = [], 0
    while after is not None:
        page = api.get("/v1/experiments/1/events", after=after, limit=3)
        events += page["events"]
        after = page["next"]
    assert events == api.get("/v1/experiments/1/events")["events"]
    back, before = [], 0
    while before is not None:
        page = api.get("/v1/experiments/1/events", before=before, limit=3)
        back += page["events"]
        before = page["next"]
    assert back == events[::-1]
    assert api.get("/v1/experiments/1/events", before=events[5]["id"], after=events[1]["id"])["events"] == events[2:5][::-1]
    assert [e["event"] for e in events].count("trial_ended") == 4
    assert {e["trial"] for e in api.get("/v1/experiments/1/events", trial=2)["events"]} == {2}
    timeline = api.get("/v1/experiments/1/timeline")
    assert timeline["total"] == 4 and [a["trial"] for a in timeline["attempts"]] == [1, 2, 3, 4]
    for one in timeline["attempts"]:
        assert one["state"] == "completed" and one["started"] <= one["ended"]
        assert one["cpus"] == 1 and one["held"] == [] and one["gpus"] is None and one["host"], one
        for other in timeline["attempts"]:
            apart = one["ended"] <= other["started"] or other["ended"] <= one["started"]
            assert one is other or one["slot"] != other["slot"] or apart, (one, other)
    metrics = {m["name"]: m for m in api.get("/v1/experiments/1/metrics")["metrics"]}
    assert metrics["loss"] == {"name": "loss", "trials": 4, "system": False}


def what_runs_is_told_with_how_it_runs(place: Place):
    api = Api(place)
    place.write("train.sh", 'echo "train loss=$1,step=0i" >> "$HONE_METRICS"\nwhile ! test -e ' + place.path("go") + "; do :; done\n")
    place.start("run", "--name", "one", "--trials", "2", "--parallel", "1", "--minimize", "loss", "--param", "x=1..9:int", "--",
                "sh", place.path("train.sh"), "{x}")
    wait_for("its first value", lambda: api.bytes("/v1/trials/1.1")[0] == 200 and api.get("/v1/trials/1.1")["metrics"])
    run = lambda: api.get("/v1/trials/1.1")["runs"][0]
    wait_for("what it has used so far", lambda: run()["cpu_seconds"] > 0 and run()["max_rss_bytes"] > 0 and run()["seconds"] > 0)
    assert run()["state"] == "running"
    live = api.get("/v1/experiments/1")["live"]
    assert live["experiment"] == 1 and live["active"][0]["trial"] == "1.1", live
    assert api.table(columns="state,metrics.loss.count")[0][0] == {"state": "running", "metrics.loss.count": 1}
    assert api.get("/v1/experiments")["experiments"][0]["trials"]["running"] == 1
    assert api.get("/v1/experiments/1/timeline")["attempts"][0]["ended"] is None
    place.write("go", "")
    wait_for("its end", lambda: api.get("/v1/experiments/1")["state"] == "finished")
    assert [row["state"] for row in api.table(columns="state")[0]] == ["completed", "completed"]
    assert api.get("/v1/trials/1.1")["state"] == "completed"


def a_pause_is_told_with_its_attempt(place: Place):
    api = Api(place)
    place.write("train.sh", 'echo "train loss=$1,step=0i" >> "$HONE_METRICS"\nwhile ! test -e ' + place.path("go") + "; do sleep 0.05; done\n")
    place.start("run", "--name", "one", "--trials", "1", "--minimize", "loss", "--param", "x=1..9:int", "--", "sh", place.path("train.sh"), "{x}")
    wait_for("its first value", lambda: api.bytes("/v1/trials/1.1")[0] == 200 and api.get("/v1/trials/1.1")["metrics"])
    attempt = lambda: api.get("/v1/experiments/1/timeline")["attempts"][0]
    assert attempt()["paused"] == [] and attempt()["state"] == "running"
    place.hone("pause", "1", "--freeze")
    wait_for("the pause", lambda: attempt()["paused"])
    one, = attempt()["paused"]
    assert one["to"] is None and one["from"] >= attempt()["started"] and attempt()["state"] == "paused", attempt()
    place.hone("resume", "1")
    wait_for("its end", lambda: attempt()["paused"][0]["to"])
    assert attempt()["paused"][0]["from"] == one["from"] < attempt()["paused"][0]["to"] and attempt()["state"] == "running", attempt()
    place.hone("pause", "1", "--freeze")
    wait_for("another pause", lambda: len(attempt()["paused"]) == 2)
    place.hone("stop", "1")
    wait_for("the end", lambda: attempt()["ended"])
    assert len(attempt()["paused"]) == 2 and attempt()["paused"][1]["to"] is None, attempt()


if __name__ == "__main__":
    main(the_table_tells_what_the_commands_tell, secrets_of_a_spec_are_not_told, a_filter_finds_what_the_command_line_finds, pages_put_together_are_the_whole,
         a_wrong_question_gets_one_sentence, names_and_notes_of_any_kind_come_back_as_they_are, what_others_told_is_a_table_too,
         what_is_known_already_is_not_sent_again, parts_of_the_pages_are_asked_for_once, an_answer_that_is_kept_follows_the_name_of_its_experiment, a_list_stays_right_while_experiments_come_and_go,
         an_experiment_that_goes_between_two_pages_is_told, a_table_stays_right_while_trials_go, events_and_attempts_tell_the_whole_story,
         what_runs_is_told_with_how_it_runs, a_pause_is_told_with_its_attempt)
