#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""MLflow's tracking REST by plain requests: every endpoint, wrong types, limits, kill -9. What the stock
clients make of it is in tests/peers. Prints TAP."""

import hashlib
import http.client
import json
import os
import re
import signal
import sys
import urllib.parse

sys.dont_write_bytecode = True
from harness import Place, main, wait_for

API = "/api/2.0/mlflow/"
FILES = "/api/2.0/mlflow-artifacts/artifacts"


class Server:
    def __init__(self, place):
        self.place = place
        self.process = place.start("serve", "--port", "0", "--json", "--trust-local")
        wait_for("its address", lambda: place.read("out").endswith("\n") or self.process.poll() is not None)
        assert self.process.poll() is None, place.read("err")
        self.address = json.loads(place.read("out"))["address"]
        self.connect()

    def connect(self):
        self.connection = http.client.HTTPConnection(self.address, timeout=60)

    def raw(self, method, path, body=None, headers=None):
        self.connection.request(method, path, body=body, headers=headers or {})
        answer = self.connection.getresponse()
        return answer.status, answer.read(), dict(answer.getheaders())

    def ask(self, path, /, body=None, status=200, base=API, **params):
        """The JSON answer; of a failure the code of the error."""
        method = "GET" if body is None else "POST"
        query = "?" + urllib.parse.urlencode(params, doseq=True) if params else ""
        data = None if body is None else (body if isinstance(body, (str, bytes)) else json.dumps(body))
        got, text, _ = self.raw(method, base + path + query, data)
        answer = json.loads(text)
        assert got == status, (path, body, got, text)
        return answer if status == 200 else answer["error_code"]

    def bad(self, path, body, code="INVALID_PARAMETER_VALUE"):
        status = 404 if code in ("RESOURCE_DOES_NOT_EXIST", "ENDPOINT_NOT_FOUND") else 400
        assert self.ask(path, body, status) == code, (path, body)

    def experiment(self, name="e", **more):
        return self.ask("experiments/create", {"name": name, **more})["experiment_id"]

    def run(self, experiment="0", **more):
        return self.ask("runs/create", {"experiment_id": experiment, "start_time": 1000, **more})["run"]["info"]["run_id"]

    def get(self, run):
        return self.ask("runs/get", run_id=run)["run"]

    def search(self, experiments, **more):
        found = self.ask("runs/search", {"experiment_ids": experiments, **more})
        return [r["info"]["run_id"] for r in found["runs"]]

    def end(self, how=signal.SIGTERM):
        self.connection.close()
        self.process.send_signal(how)
        assert self.process.wait(60) == (0 if how == signal.SIGTERM else -how), self.place.read("err")


def data_of(run, kind):
    return {d["key"]: d["value"] for d in run["data"].get(kind, [])}


def experiments_are_made_found_renamed_tagged_hidden_and_shown_again(place: Place):
    s = Server(place)
    e = s.experiment("a name / with ünï", artifact_location="s3://b/x", tags=[{"key": "k", "value": "v"}])
    got = s.ask("experiments/get", experiment_id=e)["experiment"]
    assert got["name"] == "a name / with ünï" and got["lifecycle_stage"] == "active", got
    assert got["artifact_location"] == "s3://b/x" and got["tags"] == [{"key": "k", "value": "v"}]
    assert s.ask("experiments/get-by-name", experiment_name="a name / with ünï")["experiment"] == got
    s.bad("experiments/create", {"name": "a name / with ünï"}, "RESOURCE_ALREADY_EXISTS")
    s.ask("experiments/update", {"experiment_id": e, "new_name": "b"})
    s.ask("experiments/set-experiment-tag", {"experiment_id": e, "key": "x", "value": "1"})
    s.ask("experiments/delete-experiment-tag", {"experiment_id": e, "key": "k"})
    got = s.ask("experiments/get", experiment_id=e)["experiment"]
    assert got["name"] == "b" and got["tags"] == [{"key": "x", "value": "1"}], got
    run = s.run(e)
    s.ask("experiments/delete", {"experiment_id": e})
    assert s.ask("experiments/get", experiment_id=e)["experiment"]["lifecycle_stage"] == "deleted"
    assert s.get(run)["info"]["lifecycle_stage"] == "deleted"
    s.bad("runs/create", {"experiment_id": e})
    s.bad("experiments/delete", {"experiment_id": e})
    names = lambda **more: [x["name"] for x in s.ask("experiments/search", {"max_results": 100, **more})["experiments"]]
    assert names() == ["Default"] and names(view_type="DELETED_ONLY") == ["b"], names()
    assert sorted(names(view_type="ALL")) == ["Default", "b"]
    s.ask("experiments/restore", {"experiment_id": e})
    assert s.get(run)["info"]["lifecycle_stage"] == "active"
    assert names(filter="tags.x = '1'") == ["b"] and names(filter="name LIKE 'D%'") == ["Default"]
    assert names(order_by=["name DESC"]) == ["b", "Default"]
    first = s.ask("experiments/search", {"max_results": 1, "order_by": ["name"]})
    second = s.ask("experiments/search", {"max_results": 1, "order_by": ["name"], "page_token": first["next_page_token"]})
    assert [first["experiments"][0]["name"], second["experiments"][0]["name"]] == ["Default", "b"]
    assert "next_page_token" not in second
    s.end()
    s = Server(place)
    assert s.ask("experiments/get", experiment_id=e)["experiment"]["name"] == "b"
    s.end()


def a_run_is_a_trial_of_ours(place: Place):
    s = Server(place)
    e = s.experiment("vision")
    run = s.run(e, run_name="fox", user_id="ann", tags=[{"key": "team", "value": "x"}])
    s.ask("runs/log-parameter", {"run_id": run, "key": "lr", "value": "0.10"})
    s.ask("runs/log-metric", {"run_id": run, "key": "loss", "value": 0.5, "timestamp": 2000, "step": "3"})
    info = s.ask("runs/update", {"run_id": run, "status": "FINISHED", "end_time": "5000"})["run_info"]
    assert info["status"] == "FINISHED" and info["end_time"] == 5000 and info["user_id"] == "ann", info
    other = s.run(e)
    s.ask("runs/update", {"run_uuid": other, "status": "KILLED", "end_time": 6000})
    s.ask("runs/update", {"run_id": s.run(e), "status": "FAILED"})
    s.run(e)
    s.end()
    states = [t["state"] for t in sorted(place.trials("vision"), key=lambda t: t["number"] if "number" in t else t["trial"])]
    assert states == ["completed", "stopped", "failed", "running"], states
    shown = place.show("vision.1")
    assert "0.1" in json.dumps(shown) and "name=fox" in json.dumps(shown) and "team=x" in json.dumps(shown), shown
    assert '"loss"' in json.dumps(shown), shown
    s = Server(place)
    got = s.get(run)
    assert data_of(got, "params") == {"lr": "0.10"}, got
    assert got["data"]["metrics"] == [{"key": "loss", "value": 0.5, "timestamp": 2000, "step": 3}], got
    assert got["info"]["run_name"] == "fox" and got["info"]["start_time"] == 1000
    s.end()


def the_latest_value_has_the_highest_step_then_time_then_value(place: Place):
    s = Server(place)
    run = s.run()
    for value, time, step in [(1, 10, 5), (2, 20, 4), (3, 10, 5), (0.5, 10, 5), (9, 5, 5)]:
        s.ask("runs/log-metric", {"run_id": run, "key": "m", "value": value, "timestamp": time, "step": step})
    s.ask("runs/log-metric", {"run_id": run, "key": "n", "value": "NaN", "timestamp": 1})
    s.ask("runs/log-metric", {"run_id": run, "key": "i", "value": "-Infinity", "timestamp": "1"})
    s.ask("runs/log-metric", {"run_id": run, "key": "j", "value": "Infinity", "timestamp": 1, "step": "-4"})
    for again in range(2):
        assert data_of(s.get(run), "metrics") == {"m": 3, "n": "NaN", "i": "-Infinity", "j": "Infinity"}, s.get(run)
        history = [(m["timestamp"], m["step"], m["value"])
                   for m in s.ask("metrics/get-history", run_id=run, metric_key="m")["metrics"]]
        assert history == [(5, 5, 9), (10, 5, 0.5), (10, 5, 1), (10, 5, 3), (20, 4, 2)], history
        page = s.ask("metrics/get-history", run_id=run, metric_key="m", max_results=2)
        assert len(page["metrics"]) == 2
        rest = s.ask("metrics/get-history", run_id=run, metric_key="m", max_results=25000, page_token=page["next_page_token"])
        assert [m["value"] for m in rest["metrics"]] == [1, 3, 2] and "next_page_token" not in rest
        assert s.ask("metrics/get-history", run_id=run, metric_key="none")["metrics"] == []
        s.end(signal.SIGKILL)  # right behind the answer
        s = Server(place)
    s.end()


def a_batch_is_taken_whole_or_not_at_all(place: Place):
    s = Server(place)
    run = s.run()
    metric = lambda i: {"key": f"m{i % 3}", "value": i, "timestamp": i, "step": i // 3}
    s.ask("runs/log-batch", {"run_id": run, "metrics": [metric(i) for i in range(999)],
                             "params": [{"key": "p", "value": "1"}], "tags": []})
    s.ask("runs/log-batch", {"run_id": run, "params": [{"key": "p", "value": "1"}, {"key": "q", "value": ""}],
                             "tags": [{"key": "t", "value": "ü"}]})
    s.bad("runs/log-batch", {"run_id": run, "metrics": [metric(i) for i in range(1001)]})
    s.bad("runs/log-batch", {"run_id": run, "params": [{"key": f"x{i}", "value": "1"} for i in range(101)]})
    s.bad("runs/log-batch", {"run_id": run, "tags": [{"key": f"x{i}", "value": "1"} for i in range(101)]})
    s.bad("runs/log-batch", {"run_id": run, "metrics": [metric(0)] * 950, "params": [{"key": f"x{i}", "value": "1"} for i in range(51)]})
    s.bad("runs/log-batch", {"run_id": run, "metrics": [metric(7)], "params": [{"key": "p", "value": "2"}]})
    s.bad("runs/log-batch", {"run_id": run, "params": [{"key": "d", "value": "2"}, {"key": "d", "value": "2"}]})
    s.bad("runs/log-batch", {"run_id": run, "metrics": [{"key": "m", "value": 1, "timestamp": 1}, {"key": "m", "value": "x", "timestamp": 1}]})
    s.bad("runs/log-batch", {"run_id": run, "metrics": {"key": "m"}})
    got = s.get(run)
    assert data_of(got, "params") == {"p": "1", "q": ""} and data_of(got, "tags")["t"] == "ü", got
    assert data_of(got, "metrics") == {"m0": 996, "m1": 997, "m2": 998}, got
    assert len(s.ask("metrics/get-history", run_id=run, metric_key="m1")["metrics"]) == 333
    try:
        assert s.raw("POST", API + "runs/log-batch", b"[" + b" " * 2200000 + b"]")[0] == 413
    except OSError:  # it was told before all was sent
        pass
    s.connect()
    assert data_of(s.get(run), "params") == {"p": "1", "q": ""}
    s.end()


def parameters_stay_and_tags_change(place: Place):
    s = Server(place)
    run = s.run()
    for _ in range(2):
        s.ask("runs/log-parameter", {"run_id": run, "key": "a/b", "value": "x"})
    s.bad("runs/log-parameter", {"run_id": run, "key": "a/b", "value": "y"})
    s.ask("runs/log-parameter", {"run_id": run, "key": "long", "value": "ü" * 7000})
    assert data_of(s.get(run), "params")["long"] == "ü" * 6000
    s.ask("runs/set-tag", {"run_id": run, "key": "t", "value": "1"})
    s.ask("runs/set-tag", {"run_id": run, "key": "t", "value": "2"})
    s.ask("runs/set-tag", {"run_id": run, "key": "mlflow.runName", "value": "renamed"})
    s.ask("runs/set-tag", {"run_id": run, "key": "mlflow.note.content", "value": "a note"})
    s.ask("runs/set-tag", {"run_id": run, "key": "gone", "value": "1"})
    s.ask("runs/delete-tag", {"run_id": run, "key": "gone"})
    s.bad("runs/delete-tag", {"run_id": run, "key": "gone"}, "RESOURCE_DOES_NOT_EXIST")
    got = s.get(run)
    assert data_of(got, "tags")["t"] == "2" and got["info"]["run_name"] == "renamed", got
    s.end()
    shown = json.dumps(place.show("Default.1"))
    assert "t=2" in shown and "t=1" not in shown and "gone" not in shown and "a note" in shown, shown


def an_experiment_runs_while_one_of_its_runs_does(place: Place):
    s = Server(place)
    e = s.experiment("busy")
    token = {"Authorization": "Bearer " + place.token("viewer", "vic")}

    def is_running(yes):
        listed = json.loads(s.raw("GET", "/v1/experiments?where=state+%3D+%27running%27", headers=token)[1])["experiments"]
        whole = json.loads(s.raw("GET", f"/v1/experiments/{e}", headers=token)[1])
        state = "running" if yes else "finished"
        assert [row["experiment"] for row in listed] == ([int(e)] if yes else []), listed
        assert whole["state"] == state and (whole["ended"] is None) == yes, whole
        assert place.show(e)["state"] == state, place.show(e)
        return bool(re.search(rf"\bbusy +{state}\b", place.hone("ls")[0]))

    assert is_running(False)
    first, second = s.run(e), s.run(e)
    assert is_running(True)
    s.ask("runs/update", {"run_id": first, "status": "FINISHED", "end_time": 2000})
    assert is_running(True)
    s.end()
    s = Server(place)  # the client goes on after a restart
    assert is_running(True)
    s.ask("runs/update", {"run_id": second, "status": "FAILED", "end_time": 3000})
    assert is_running(False)
    s.ask("runs/update", {"run_id": second, "status": "RUNNING"})
    assert is_running(True)
    place.hone("rm", e, "--yes")  # a client that died without a word does not hold it
    s.end()


def hidden_runs_are_not_written_to(place: Place):
    s = Server(place)
    run, other = s.run(), s.run()
    s.ask("runs/delete", {"run_id": run})
    for path, body in [("runs/log-metric", {"key": "m", "value": 1, "timestamp": 1}), ("runs/update", {"status": "FAILED"}),
                       ("runs/log-parameter", {"key": "m", "value": "1"}), ("runs/set-tag", {"key": "m", "value": "1"}),
                       ("runs/log-batch", {"metrics": []})]:
        s.bad(path, {"run_id": run, **body})
    assert s.search(["0"]) == [other]
    assert s.search(["0"], run_view_type="DELETED_ONLY") == [run]
    assert len(s.search(["0"], run_view_type="ALL")) == 2
    s.ask("runs/restore", {"run_id": run})
    assert len(s.search(["0"])) == 2
    s.end()


def search_chooses_and_sorts_as_mlflow_does(place: Place):
    s = Server(place)
    e, f = s.experiment("a"), s.experiment("b")
    runs = []
    for i in range(10):
        run = s.run(e if i < 8 else f, run_name=f"run-{i}", start_time=1000 + i, tags=[{"key": "odd", "value": str(i % 2)}])
        s.ask("runs/log-parameter", {"run_id": run, "key": "batch size", "value": str(i)})
        if i != 3:
            s.ask("runs/log-metric", {"run_id": run, "key": "loss", "value": "NaN" if i == 5 else i / 10, "timestamp": 1})
        runs.append(run)
    names = lambda ids, **more: [r["info"]["run_name"][4:] for r in s.ask("runs/search", {"experiment_ids": ids, **more})["runs"]]
    assert names([e]) == list("76543210"), names([e])
    assert names([e, f], order_by=["metrics.loss ASC"]) == list("0124678953"), names([e, f], order_by=["metrics.loss ASC"])
    assert names([e], order_by=["metrics.loss DESC"]) == list("76421053"), names([e], order_by=["metrics.loss DESC"])
    assert names([e], filter="metrics.loss > 0.15 and tags.odd = '0'") == list("642")
    assert names([e], filter="params.`batch size` = '3'") == ["3"]
    assert names([e], filter="params.\"batch size\" LIKE '_' AND run_name ILIKE 'RUN-%'", order_by=["start_time ASC"]) == list("01234567")
    assert names([e], filter=f"run_id IN ('{runs[1]}', '{runs[9]}')") == ["1"]
    assert names([e], filter="attributes.start_time >= 1006") == ["7", "6"]
    assert names([e], filter="tags.none IS NULL and status = 'RUNNING'", max_results=2) == ["7", "6"]
    assert names([], filter="") == []
    assert names(["4711"]) == []
    got, token = [], ""
    while token is not None:
        page = s.ask("runs/search", {"experiment_ids": [e], "max_results": 3, "page_token": token})
        got += [r["info"]["run_name"][4:] for r in page["runs"]]
        token = page.get("next_page_token")
    assert got == list("76543210"), got
    for body in [{"filter": "loss > 1"}, {"filter": "metrics.loss > 'a'"}, {"filter": "metrics.loss > 1 OR 1"}, {"order_by": ["x y z"]},
                 {"order_by": ["metrics.a", "metrics.a DESC"]}, {"max_results": 0}, {"max_results": 50001}, {"page_token": "x"},
                 {"run_view_type": "SOME"}, {"filter": 7}, {"order_by": [1]}, {"experiment_ids": ["x"]}, {"experiment_ids": "0"}]:
        s.bad("runs/search", {"experiment_ids": [e], **body})
    s.end()


def wrong_requests_get_the_codes_that_clients_know(place: Place):
    s = Server(place)
    run = s.run()
    none = "0" * 32
    for path, body, code in [
            ("runs/get", None, "INVALID_PARAMETER_VALUE"), ("experiments/get", None, "INVALID_PARAMETER_VALUE"),
            ("experiments/create", {}, "INVALID_PARAMETER_VALUE"), ("experiments/create", {"name": 7}, "INVALID_PARAMETER_VALUE"),
            ("experiments/create", {"name": "x" * 3000}, "INVALID_PARAMETER_VALUE"),
            ("experiments/create", {"name": "x", "tags": [{"key": "../x", "value": "1"}]}, "INVALID_PARAMETER_VALUE"),
            ("experiments/update", {"experiment_id": "99", "new_name": "x"}, "RESOURCE_DOES_NOT_EXIST"),
            ("experiments/delete", {"experiment_id": "x"}, "RESOURCE_DOES_NOT_EXIST"),
            ("runs/create", {"experiment_id": "99"}, "RESOURCE_DOES_NOT_EXIST"),
            ("runs/create", {"tags": "x"}, "INVALID_PARAMETER_VALUE"), ("runs/create", {"start_time": -1}, "INVALID_PARAMETER_VALUE"),
            ("runs/create", {"run_name": "a", "tags": [{"key": "mlflow.runName", "value": "b"}]}, "INVALID_PARAMETER_VALUE"),
            ("runs/update", {"run_id": run, "status": "DONE"}, "INVALID_PARAMETER_VALUE"),
            ("runs/update", {"run_id": none, "status": "FAILED"}, "RESOURCE_DOES_NOT_EXIST"),
            ("runs/log-metric", {"run_id": none, "key": "a", "value": 1, "timestamp": 1}, "RESOURCE_DOES_NOT_EXIST"),
            ("runs/log-metric", {"run_id": run, "value": 1, "timestamp": 1}, "INVALID_PARAMETER_VALUE"),
            ("runs/log-metric", {"run_id": run, "key": "a", "timestamp": 1}, "INVALID_PARAMETER_VALUE"),
            ("runs/log-metric", {"run_id": run, "key": "a", "value": 1}, "INVALID_PARAMETER_VALUE"),
            ("runs/log-metric", {"run_id": run, "key": "a", "value": [], "timestamp": 1}, "INVALID_PARAMETER_VALUE"),
            ("runs/log-metric", {"run_id": run, "key": "a", "value": True, "timestamp": 1}, "INVALID_PARAMETER_VALUE"),
            ("runs/log-metric", {"run_id": run, "key": "a", "value": 1, "timestamp": 1.5}, "INVALID_PARAMETER_VALUE"),
            ("runs/log-metric", {"run_id": run, "key": "a", "value": 1, "timestamp": 2 ** 62}, "INVALID_PARAMETER_VALUE"),
            ("runs/log-metric", {"run_id": run, "key": "a", "value": 1, "timestamp": 1, "step": "x"}, "INVALID_PARAMETER_VALUE"),
            ("runs/log-metric", {"run_id": run, "key": "a\"b", "value": 1, "timestamp": 1}, "INVALID_PARAMETER_VALUE"),
            ("runs/log-metric", {"run_id": run, "key": "a//b", "value": 1, "timestamp": 1}, "INVALID_PARAMETER_VALUE"),
            ("runs/log-metric", {"run_id": run, "key": "x" * 251, "value": 1, "timestamp": 1}, "INVALID_PARAMETER_VALUE"),
            ("runs/log-parameter", {"run_id": run, "key": "<script>", "value": "1"}, "INVALID_PARAMETER_VALUE"),
            ("runs/set-tag", {"run_id": 7, "key": "a", "value": "1"}, "INVALID_PARAMETER_VALUE"),
            ("metrics/get-history", None, "INVALID_PARAMETER_VALUE"),
            ("registered-models/create", {"name": "x"}, "ENDPOINT_NOT_FOUND"), ("traces", {}, "ENDPOINT_NOT_FOUND"),
            ("runs/log-metric", "[1]", "INVALID_PARAMETER_VALUE"), ("runs/log-metric", "{", "INVALID_PARAMETER_VALUE"),
            ("runs/log-metric", b'{"run_id":"\xff"}', "INVALID_PARAMETER_VALUE"),
            ("runs/log-metric", '{"run_id":"a\\u0000b"}', "INVALID_PARAMETER_VALUE"),
            ("runs/log-metric", "[" * 5000, "INVALID_PARAMETER_VALUE")]:
        s.bad(path, body, code)
    assert s.ask("server-info", status=404, base="/api/3.0/mlflow/") == "ENDPOINT_NOT_FOUND"
    assert s.raw("GET", "/version")[0] == 200
    assert s.ask("experiments/get", base="/ajax-api/2.0/mlflow/", experiment_id="0")["experiment"]["name"] == "Default"
    s.end()


def names_are_shown_as_text(place: Place):
    s = Server(place)
    odd = "<script>alert(1)</script>\n\"';--"
    e = s.experiment(odd)
    run = s.run(e, run_name=odd, user_id=odd)
    s.ask("runs/set-tag", {"run_id": run, "key": "t", "value": odd})
    s.ask("runs/log-parameter", {"run_id": run, "key": "p", "value": odd})
    got = s.get(run)
    assert got["info"]["run_name"] == odd and data_of(got, "params")["p"] == odd and data_of(got, "tags")["t"] == odd
    assert s.ask("experiments/get-by-name", experiment_name=odd)["experiment"]["experiment_id"] == e
    s.end()
    assert "<script>" not in place.experiments()[0]["name"]


def datasets_and_models_are_kept(place: Place):
    s = Server(place)
    run = s.run()
    dataset = {"dataset": {"name": "mnist", "digest": "abc", "source_type": "x", "source": "{}"},
               "tags": [{"key": "mlflow.data.context", "value": "train"}]}
    for _ in range(2):
        s.ask("runs/log-inputs", {"run_id": run, "datasets": [dataset], "models": [{"model_id": "m-1"}]})
    s.ask("runs/outputs", {"run_id": run, "models": [{"model_id": "m-2", "step": 4}]})
    s.ask("runs/log-model", {"run_id": run, "model_json": json.dumps({"flavors": {"x": 1}})})
    assert s.search(["0"], filter="dataset.name = 'mnist' AND datasets.context = 'train'") == [run]
    assert s.search(["0"], filter="dataset.digest = 'x'") == []
    model = s.ask("logged-models", {"experiment_id": "0", "name": "net", "source_run_id": run,
                                    "params": [{"key": "a", "value": "1"}], "tags": [{"key": "t", "value": "1"}]})["model"]
    path = "logged-models/" + model["info"]["model_id"]
    assert model["info"]["status"] == "LOGGED_MODEL_PENDING", model
    for method, more, body in [("PATCH", "", {"status": "LOGGED_MODEL_READY"}), ("PATCH", "/tags", {"tags": [{"key": "t", "value": "2"}]}),
                               ("POST", "/params", {"params": [{"key": "b", "value": "2"}]})]:
        status, text, _ = s.raw(method, API + path + more, json.dumps(body))
        assert status == 200, text
    s.end(signal.SIGKILL)
    s = Server(place)
    inputs = s.get(run)["inputs"]
    assert inputs["dataset_inputs"] == [dataset] and inputs["model_inputs"] == [{"model_id": "m-1"}], inputs
    assert s.get(run)["outputs"]["model_outputs"] == [{"model_id": "m-2", "step": 4}]
    got = s.ask(path)["model"]
    assert got["info"]["status"] == "LOGGED_MODEL_READY" and got["info"]["tags"] == [{"key": "t", "value": "2"}], got
    assert [p["key"] for p in got["data"]["params"]] == ["a", "b"]
    found = s.ask("logged-models/search", {"experiment_ids": ["0"], "filter": "name = 'net' AND params.a = '1'"})["models"]
    assert [m["info"]["model_id"] for m in found] == [model["info"]["model_id"]]
    uri = model["info"]["artifact_uri"].replace("mlflow-artifacts:", "")
    assert s.raw("PUT", FILES + uri + "/MLmodel", b"flavors")[0] == 200
    assert s.raw("GET", FILES + uri + "/MLmodel")[1] == b"flavors"
    assert json.loads(s.raw("GET", FILES + "?path=" + uri[1:])[1])["files"] == [{"path": "MLmodel", "is_dir": False, "file_size": 7}]
    assert s.raw("DELETE", API + path)[0] == 200
    s.bad(path, None, "RESOURCE_DOES_NOT_EXIST")
    s.end()


def artifacts_come_and_go_by_their_hash(place: Place):
    s = Server(place)
    run = s.run()
    top = f"{FILES}/0/{run}/artifacts"
    big = os.urandom(3 << 20)
    assert s.raw("PUT", f"{top}/model/weights.bin", big)[0] == 200
    assert s.raw("PUT", f"{top}/a%20b.txt", b"hello world")[0] == 200
    assert s.raw("PUT", f"{top}/empty", b"")[0] == 200
    status, body, headers = s.raw("GET", f"{top}/model/weights.bin")
    assert status == 200 and body == big
    assert headers["Content-Disposition"].startswith("attachment") and headers["X-Content-Type-Options"] == "nosniff", headers
    status, body, headers = s.raw("GET", f"{top}/a%20b.txt", headers={"Range": "bytes=6-8"})
    assert (status, body) == (206, b"wor") and headers["Content-Range"] == "bytes 6-8/11", (status, body, headers)
    assert s.raw("GET", f"{top}/a%20b.txt", headers={"Range": "bytes=99-"})[0] == 416
    digest = hashlib.sha256(big).hexdigest()
    assert os.path.getsize(os.path.join(place.home, "objects", digest[:2], digest[2:])) == len(big)
    files = s.ask("artifacts/list", run_id=run)["files"]
    assert files == [{"path": "a b.txt", "is_dir": False, "file_size": 11}, {"path": "empty", "is_dir": False, "file_size": 0},
                     {"path": "model", "is_dir": True}], files
    assert s.ask("artifacts/list", run_id=run, path="model")["files"] == [
        {"path": "model/weights.bin", "is_dir": False, "file_size": len(big)}]
    listed = json.loads(s.raw("GET", f"{FILES}?path=0/{run}/artifacts/model")[1])["files"]
    assert listed == [{"path": "weights.bin", "is_dir": False, "file_size": len(big)}], listed
    assert s.raw("PUT", f"{top}/a%20b.txt", b"again")[0] == 200
    s.end(signal.SIGKILL)
    s = Server(place)
    assert s.raw("GET", f"{top}/a%20b.txt")[1] == b"again"
    assert s.raw("DELETE", f"{top}/model")[0] == 200
    assert s.raw("GET", f"{top}/model/weights.bin")[0] == 404
    assert [f["path"] for f in s.ask("artifacts/list", run_id=run)["files"]] == ["a b.txt", "empty"]
    s.end()


def what_is_anothers_is_neither_changed_nor_hidden_nor_renamed(place: Place):
    ann, bob, root = ({"Authorization": "Bearer " + place.token(role, name)}
                      for role, name in (("user", "ann"), ("user", "bob"), ("admin", "root")))
    s = Server(place)
    tell = lambda who, path, body, method="POST": s.raw(method, API + path, json.dumps(body), who)
    e = json.loads(tell(ann, "experiments/create", {"name": "anns"})[1])["experiment_id"]
    begin = lambda who, e: json.loads(tell(who, "runs/create", {"experiment_id": e})[1])["run"]["info"]["run_id"]
    run, bobs, common = begin(ann, e), begin(bob, e), begin(ann, "0")  # everybody may begin one
    model = s.ask("logged-models", {"experiment_id": e, "name": "m"})["model"]["info"]["model_id"]
    s.end()
    s = Server(place)  # whose it is is known to the next one, too
    file = f"{FILES}/{e}/{run}/artifacts/a"
    assert s.raw("PUT", file, b"a", ann)[0] == 200
    metric = {"key": "m", "value": 1, "timestamp": 1}
    log = [("runs/log-metric", metric), ("runs/log-batch", {"metrics": [metric]}), ("runs/log-parameter", {"key": "p", "value": "1"}),
           ("runs/set-tag", {"key": "t", "value": "1"}), ("runs/delete-tag", {"key": "t"}), ("runs/update", {"status": "FAILED"}),
           ("runs/log-inputs", {"datasets": []}), ("runs/outputs", {"models": []}), ("runs/log-model", {"model_json": "{}"}),
           ("runs/delete", {}), ("runs/restore", {})]
    wrong = [("POST", API + "experiments/update", {"experiment_id": e, "new_name": "bobs"}),
             ("POST", API + "experiments/set-experiment-tag", {"experiment_id": e, "key": "k", "value": "v"}),
             ("DELETE", API + "logged-models/" + model, {}), ("PUT", file, {}), ("DELETE", file, {}),
             ("POST", API + "experiments/delete", {"experiment_id": e})]
    wrong[:0] = [("POST", API + path, {"run_id": r, **body}) for r in (run, common) for path, body in log]
    before = s.get(run), s.get(common)
    for method, path, body in wrong:
        status, text, _ = s.raw(method, path, json.dumps(body), bob)
        assert status == 403 and json.loads(text)["error_code"] == "PERMISSION_DENIED", (path, body, status, text)
    assert (s.get(run), s.get(common)) == before and s.raw("GET", file)[1] == b"a"
    for who, theirs in ((bob, bobs), (root, bobs), (root, run)):
        for path, body in log:
            status, text, _ = tell(who, path, {"run_id": theirs, **body})
            assert status == 200, (path, text)
    assert tell(ann, "runs/log-metric", {"run_id": bobs, **metric})[0] == 403  # the experiment is hers, the run is not
    numbers = [f"{int(r[16:24], 16)}.{int(r[24:], 16)}" for r in (run, bobs, common)]
    owners = [json.loads(s.raw("GET", "/v1/trials/" + number, headers=bob)[1])["owner"] for number in numbers]
    assert owners == ["ann", "bob", "ann"] and place.show(numbers[1])["owner"] == "bob", owners
    note = lambda who, run: s.raw("POST", "/v1/changes", json.dumps({"do": "note", "experiment": int(run[16:24], 16), "trial": int(run[24:], 16), "text": "x"}), who)[0]
    assert [note(who, r) for who in (ann, bob, root) for r in (run, bobs, common)] == [200, 403, 200, 403, 200, 403, 200, 200, 200]
    for method, path, body in wrong:
        status, text, _ = s.raw(method, path, json.dumps(body), ann)
        assert status == 200, (path, body, text)
    assert tell(bob, "experiments/restore", {"experiment_id": e})[0] == 403
    assert tell(root, "experiments/restore", {"experiment_id": e})[0] == 200
    s.end()


def search_tells_of_every_change(place: Place):
    s = Server(place)
    e = s.experiment("e")
    run, other = s.run(e, run_name="fox"), s.run(e)
    dataset = {"dataset": {"name": "mnist", "digest": "abc", "source_type": "x", "source": "{}"}, "tags": []}
    changes = [("runs/log-metric", {"key": "m", "value": 1, "timestamp": 1}), ("runs/log-metric", {"key": "m", "value": 2, "timestamp": 2}),
               ("runs/log-batch", {"metrics": [{"key": "n", "value": "NaN", "timestamp": 1}], "params": [{"key": "p", "value": "1"}],
                                   "tags": [{"key": "t", "value": "1"}]}),
               ("runs/log-parameter", {"key": "q", "value": "x"}), ("runs/set-tag", {"key": "t", "value": "2"}), ("runs/delete-tag", {"key": "t"}),
               ("runs/log-inputs", {"datasets": [dataset]}), ("runs/outputs", {"models": [{"model_id": "m-1", "step": 1}]}),
               ("runs/log-model", {"model_json": "{}"}), ("runs/update", {"status": "FINISHED", "end_time": 7000, "run_name": "hare"}),
               ("runs/delete", {}), ("runs/restore", {})]
    told = lambda: {r["info"]["run_id"]: r for r in s.ask("runs/search", {"experiment_ids": [e], "run_view_type": "ALL"})["runs"]}
    last = told()
    for path, body in changes:
        s.ask(path, {"run_id": run, **body})
        for _ in range(2):  # what is kept says the same
            now = told()
            assert now[run] == s.get(run) and now[other] == last[other], path
        assert now[run] != last[run], path
        last = now
    s.ask("experiments/delete", {"experiment_id": e})
    assert {r["info"]["lifecycle_stage"] for r in told().values()} == {"deleted"}
    s.end()
    place.hone("rm", "--yes", "e.1")
    s = Server(place)
    assert list(told()) == [other]
    s.end()


def paths_of_artifacts_are_names_and_nothing_else(place: Place):
    s = Server(place)
    run = s.run()
    secret = place.write("secret", "secret")
    top = f"{FILES}/0/{run}/artifacts"
    shapes = ["..", ".", "a/../b", "../../../x", "%2e%2e/x", "a/%2e%2e/b", "a//b", "a%5cb", "..%5cx", "a%00b", "%2fetc/passwd",
              "/" + secret, "a/", "%zz", "%", "a%0ab", "%252e%252e/x" + "/" * 2, "x" * 3000]
    for shape in shapes:
        for method, body in [("PUT", b"x"), ("GET", None), ("DELETE", None)]:
            try:
                status, text, _ = s.raw(method, f"{top}/{shape}", body)
            except (http.client.HTTPException, OSError):
                s.connect()
                continue
            assert status in (400, 404, 414, 431) or (method == "DELETE" and status == 200 and shape == "a/"), (method, shape, status, text)
            assert b"secret" not in text
    for other in [f"0/{'0' * 32}/artifacts/a", f"0/{run}/other/a", "x", f"0/{run}", "0/models/none/artifacts/a", f"1/{run}x/artifacts/a"]:
        assert s.raw("PUT", f"{FILES}/{other}", b"x")[0] == 404, other
    assert s.ask("artifacts/list", run_id=run)["files"] == []
    assert s.ask("artifacts/list", run_id=run, path="../x", status=400) == "INVALID_PARAMETER_VALUE"
    s.end()


def what_was_answered_survives_a_kill(place: Place):
    s = Server(place)
    e = s.experiment("kept")
    run = s.run(e)
    for i in range(300):
        s.ask("runs/log-metric", {"run_id": run, "key": "m", "value": i, "timestamp": i, "step": i})
    s.ask("runs/log-batch", {"run_id": run, "metrics": [{"key": "b", "value": 1, "timestamp": 1}]})
    s.ask("runs/log-parameter", {"run_id": run, "key": "p", "value": "1"})
    s.ask("runs/set-tag", {"run_id": run, "key": "t", "value": "1"})
    s.end(signal.SIGKILL)
    s = Server(place)
    got = s.get(run)
    assert data_of(got, "metrics") == {"m": 299, "b": 1} and data_of(got, "params") == {"p": "1"}, got
    assert data_of(got, "tags")["t"] == "1"
    values = [m["value"] for m in s.ask("metrics/get-history", run_id=run, metric_key="m")["metrics"]]
    assert values == list(range(300))
    s.ask("runs/log-metric", {"run_id": run, "key": "m", "value": 299, "timestamp": 299, "step": 299})  # a client that sends it again
    assert len(s.ask("metrics/get-history", run_id=run, metric_key="m")["metrics"]) == 300
    wait_for("its summary", lambda: any(m["name" if "name" in m else "metric"] == "m" and m["count"] == 300
                                        for m in place.show("kept.1")["metrics"]))
    s.end()


def what_commands_remove_is_gone(place: Place):
    s = Server(place)
    e = s.experiment("doomed")
    run, other = s.run(e), s.run(e)
    s.ask("runs/log-metric", {"run_id": run, "key": "m", "value": 1, "timestamp": 1})
    place.hone("rm", f"{e}.1", "--yes")
    s.bad("runs/log-metric", {"run_id": run, "key": "m", "value": 1, "timestamp": 1}, "RESOURCE_DOES_NOT_EXIST")
    assert s.search([e]) == [other]
    place.hone("rm", e, "--yes")
    assert s.ask("experiments/get", status=404, experiment_id=e) == "RESOURCE_DOES_NOT_EXIST"
    assert s.experiment("doomed") != e
    s.end()


main(experiments_are_made_found_renamed_tagged_hidden_and_shown_again, a_run_is_a_trial_of_ours,
     the_latest_value_has_the_highest_step_then_time_then_value, a_batch_is_taken_whole_or_not_at_all,
     parameters_stay_and_tags_change, an_experiment_runs_while_one_of_its_runs_does, hidden_runs_are_not_written_to, search_chooses_and_sorts_as_mlflow_does,
     wrong_requests_get_the_codes_that_clients_know, names_are_shown_as_text, datasets_and_models_are_kept,
     artifacts_come_and_go_by_their_hash, what_is_anothers_is_neither_changed_nor_hidden_nor_renamed, search_tells_of_every_change, paths_of_artifacts_are_names_and_nothing_else,
     what_was_answered_survives_a_kill, what_commands_remove_is_gone)
