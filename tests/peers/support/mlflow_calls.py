# SPDX-License-Identifier: MIT
"""The ordinary calls of an MLflow client, with MLFLOW_TRACKING_URI alone. Prints what they gave as JSON, without
what must differ from server to server (ids, times, addresses): two servers that are alike print the same."""
import json
import logging
import math
import os
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
import mlflow
from mlflow.entities import Metric, Param, RunTag, ViewType
from mlflow.exceptions import MlflowException
from mlflow.tracking import MlflowClient

told = []
ids = {}


def plain(x):
    """Ids become names in the order in which they came up."""
    if isinstance(x, dict):
        return {plain(k): plain(v) for k, v in sorted(x.items())}
    if isinstance(x, (list, tuple, set)):
        return [plain(y) for y in x]
    if isinstance(x, float) and not math.isfinite(x):
        return repr(x)
    if isinstance(x, str):
        for one, name in ids.items():
            x = x.replace(one, name)
    return x


def tell(what, x):
    told.append([what, plain(x)])


def fails(what, call, *words):
    try:
        call(*words)
    except MlflowException as error:
        tell(what, error.error_code)
    else:
        tell(what, "no error")


def of(run):
    own = {k: v for k, v in run.data.tags.items() if not k.startswith("mlflow.source")}
    return {"name": run.info.run_name, "status": run.info.status, "stage": run.info.lifecycle_stage, "user": run.info.user_id,
            "ended": run.info.end_time is not None, "metrics": run.data.metrics, "params": run.data.params, "tags": own}


def files(client, run, path=None):
    return [(f.path, f.is_dir, f.file_size or 0) for f in client.list_artifacts(run, path)]


def experiments(client):
    e = client.create_experiment("by client", tags={"k": "v", "n": "1"})
    got = client.get_experiment(e)
    tell("experiment", [got.name, got.lifecycle_stage, got.tags, got.creation_time == got.last_update_time])
    tell("by name", client.get_experiment_by_name("by client").name)
    tell("no name", client.get_experiment_by_name("no such experiment") is None)
    fails("twice", client.create_experiment, "by client")
    fails("no experiment", client.get_experiment, "987654")
    client.rename_experiment(e, "renamed")
    client.set_experiment_tag(e, "k", "w")
    tell("renamed", [client.get_experiment(e).name, client.get_experiment(e).tags])
    client.create_experiment("other")
    listed = lambda **more: [x.name for x in client.search_experiments(**more)]
    tell("listed", sorted(listed()))
    tell("filtered", [listed(filter_string="name LIKE 'ren%'"), listed(filter_string="name ILIKE 'REN%'"), listed(filter_string="tags.k = 'w'"),
                      listed(filter_string="tags.k != 'w'"), listed(filter_string="name = 'none'"), listed(order_by=["name DESC"]),
                      listed(max_results=1, order_by=["name ASC"]), listed(order_by=["last_update_time DESC", "name"])[:1]])
    client.delete_experiment(e)
    tell("deleted", [client.get_experiment(e).lifecycle_stage, sorted(listed()), listed(view_type=ViewType.DELETED_ONLY), sorted(listed(view_type=ViewType.ALL))])
    fails("run in a deleted one", client.create_run, e)
    client.restore_experiment(e)
    tell("restored", client.get_experiment(e).lifecycle_stage)
    fails("bad filter", lambda: client.search_experiments(filter_string="color = 'red'"))


def fluent():
    mlflow.set_experiment("fluent")
    with mlflow.start_run(run_name="first", tags={"a": "b"}, description="what it is") as run:
        ids[run.info.run_id] = "R1"
        mlflow.log_param("lr", 0.1)
        mlflow.log_params({"layers": 3, "name": "x y", "none": None, "flag": True})
        for i in range(20):
            mlflow.log_metric("loss", 1 / (i + 1), step=i)
        mlflow.log_metrics({"acc": 0.5, "deep/f1 score": 0.25, "nan": math.nan}, step=3)
        mlflow.set_tag("team", "vision")
        mlflow.set_tags({"x": 1, "ü": "größer"})
        with mlflow.start_run(run_name="child", nested=True) as child:
            ids[child.info.run_id] = "R2"
            mlflow.log_metric("loss", 5)
        with tempfile.TemporaryDirectory() as folder:
            for name, text in [("a.txt", "hello"), ("sub/b.txt", "b" * 100000), ("empty", "")]:
                os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
                with open(os.path.join(folder, name), "w") as f:
                    f.write(text)
            mlflow.log_artifact(os.path.join(folder, "a.txt"))
            mlflow.log_artifact(os.path.join(folder, "a.txt"), "in a folder")
            mlflow.log_artifacts(folder, "all")
        mlflow.log_text("some text", "notes/größe 1.txt")
        mlflow.log_dict({"k": [1, 2]}, "d.json")
    client = MlflowClient()
    tell("run", of(client.get_run(run.info.run_id)))
    tell("child", of(mlflow.get_run(child.info.run_id)))
    tell("files", [files(client, run.info.run_id, p) for p in (None, "all", "all/sub", "in a folder", "notes", "none")])
    tell("text", mlflow.artifacts.load_text(run.info.artifact_uri + "/notes/größe 1.txt"))
    tell("dict", mlflow.artifacts.load_dict(run.info.artifact_uri + "/d.json"))
    with tempfile.TemporaryDirectory() as folder:
        path = client.download_artifacts(run.info.run_id, "all", folder)
        tell("downloaded", sorted((os.path.relpath(os.path.join(d, f), path), os.path.getsize(os.path.join(d, f))) for d, _, fs in os.walk(path) for f in fs))
    try:
        with mlflow.start_run(run_name="failing"):
            raise ValueError
    except ValueError:
        pass
    tell("failed", mlflow.last_active_run().info.status)
    found = mlflow.search_runs(experiment_names=["fluent"], filter_string="metrics.loss < 1", output_format="list")
    tell("found", [r.info.run_name for r in found])
    with mlflow.start_run(run_id=run.info.run_id):
        mlflow.log_metric("loss", 0.01, step=30)
    tell("resumed", of(client.get_run(run.info.run_id))["metrics"]["loss"])


def runs(client):
    e = client.create_experiment("runs")
    made = []
    for i in range(12):
        run = client.create_run(e, start_time=1000 + i, run_name=f"run {i}", tags={"odd": str(i % 2)}).info.run_id
        ids[run] = f"S{i}"
        client.log_batch(run, metrics=[Metric("m", float(i % 4) if i != 5 else math.nan, 10, 0), Metric("only" if i < 3 else "not", 1.0, 10, 0)],
                         params=[Param("p", str(i)), Param("batch size", "32")], tags=[RunTag("t", f"a_{i}")])
        made.append(run)
    listed = lambda **more: [r.info.run_name[4:] for r in client.search_runs([e], **more)]
    filters = ["metrics.m > 1", "metrics.m >= 1 and metrics.m <= 2", "metrics.m != 1", "metrics.only = 1", "params.p = '3'", "params.p != '3'",
               "params.`batch size` = '32'", "params.\"batch size\" LIKE '3%'", "params.p LIKE '1_'", "tags.t ILIKE 'A%1'", "tags.odd = '0' AND metrics.m > 0",
               "attributes.start_time > 1005", "start_time = 1003", "run_name = 'run 7'", "attributes.run_name LIKE 'run 1%'", "attributes.`Run name` = 'run 2'",
               "status = 'RUNNING'", "attributes.status != 'RUNNING'", f"run_id IN ('{made[1]}', '{made[4]}')", f"attributes.run_id NOT IN ('{made[1]}')", "end_time > 0", ""]
    for text in filters:
        tell("filter " + plain(text), listed(filter_string=text))
    for order in [["metrics.m DESC"], ["metrics.m ASC", "start_time ASC"], ["params.p"], ["tags.odd DESC", "params.p DESC"], ["start_time"],
                  ["metrics.only", "start_time DESC"], ["run_name DESC"], ["metrics.none"], ["end_time", "start_time"]]:
        tell("order " + " ".join(order), listed(order_by=order))
    for text in ["m > 1", "metrics.m > 'a'", "params.p = 3", "metrics.m > 1 OR metrics.m < 1", "foo.bar = 'a'", "metrics.m LIKE 'a'", "params.p > '1'",
                 "metrics.m >", "attributes.color = 'red'", "params.p = 'a"]:
        fails("bad filter " + text, lambda: client.search_runs([e], filter_string=text))
    page = client.search_runs([e], max_results=5)
    pages = [[r.info.run_name for r in page]]
    while page.token:
        page = client.search_runs([e], max_results=5, page_token=page.token)
        pages.append([r.info.run_name for r in page])
    tell("pages", pages)
    by_id = [r.info.run_id for r in client.search_runs([e], order_by=["attributes.run_id DESC"])]
    tell("by id", by_id == sorted(by_id, reverse=True))
    client.delete_run(made[0])
    tell("after delete", [listed(), listed(run_view_type=ViewType.DELETED_ONLY), client.get_run(made[0]).info.lifecycle_stage])
    fails("log to a deleted one", client.log_metric, made[0], "m", 1)
    client.restore_run(made[0])
    client.set_terminated(made[0], "KILLED", 99999)
    client.update_run(made[1], status="SCHEDULED", name="renamed")
    tell("ended", [of(client.get_run(made[0])), of(client.get_run(made[1]))])
    client.set_tag(made[2], "gone", "1")
    client.delete_tag(made[2], "gone")
    fails("tag that is gone", client.delete_tag, made[2], "gone")
    fails("param that changes", client.log_param, made[2], "p", "other")
    client.log_param(made[2], "p", "2")
    fails("no run", client.get_run, "0" * 32)
    fails("bad metric", client.log_metric, made[2], "a\"b", 1)
    fails("bad param", client.log_param, made[2], "../x", 1)
    for value, time, step in [(1, 10, 5), (2, 20, 4), (3, 10, 5), (9, 5, 5)]:
        client.log_metric(made[2], "h", value, time, step)
    tell("latest", client.get_run(made[2]).data.metrics["h"])
    tell("history", [(h.value, h.timestamp, h.step) for h in client.get_metric_history(made[2], "h")])
    tell("no history", client.get_metric_history(made[2], "none"))
    client.log_batch(made[3], metrics=[Metric("long", i / 7, i, i) for i in range(1000)])
    tell("many", [h.value for h in client.get_metric_history(made[3], "long")] == [i / 7 for i in range(1000)])


def inputs():
    import mlflow.data.meta_dataset
    from mlflow.data.meta_dataset import MetaDataset
    from mlflow.data.http_dataset_source import HTTPDatasetSource
    data = MetaDataset(HTTPDatasetSource("https://example.com/x.csv"), name="x")
    mlflow.set_experiment("inputs")
    with mlflow.start_run() as run:
        mlflow.log_input(data, context="train")
    got = mlflow.get_run(run.info.run_id).inputs.dataset_inputs
    tell("datasets", [(d.dataset.name, d.dataset.source_type, [(t.key, t.value) for t in d.tags]) for d in got])
    found = lambda text: len(mlflow.search_runs(experiment_names=["inputs"], filter_string=text, output_format="list"))
    tell("by dataset", [found("dataset.name = 'x'"), found("dataset.context = 'train'"), found("dataset.name = 'y'")])


def models():
    """A model that scikit-learn made, with autolog: what most people do."""
    import numpy
    import sklearn.linear_model
    mlflow.set_experiment("models")
    mlflow.sklearn.autolog(log_datasets=False, log_models=False)
    with mlflow.start_run(run_name="auto") as run:
        sklearn.linear_model.LinearRegression().fit(numpy.arange(20).reshape(10, 2), numpy.arange(10))
    got = mlflow.get_run(run.info.run_id)
    tell("autolog", [got.info.status, sorted(got.data.params), sorted(got.data.metrics)])
    mlflow.sklearn.autolog(disable=True)
    with mlflow.start_run(run_name="by hand") as run:
        model = sklearn.linear_model.LinearRegression().fit(numpy.arange(20).reshape(10, 2), numpy.arange(10))
        info = mlflow.sklearn.log_model(model, name="net", pip_requirements=["scikit-learn"])  # finding them out takes long
    loaded = mlflow.sklearn.load_model(info.model_uri)
    tell("loaded", float(loaded.predict([[2, 3]])[0]).__round__(6))
    client = MlflowClient()
    if hasattr(client, "get_logged_model"):
        logged = client.get_logged_model(info.model_id)
        tell("logged model", [logged.name, str(logged.status), logged.source_run_id == run.info.run_id])
        client.set_logged_model_tags(info.model_id, {"stage": "good"})
        tell("model tags", client.get_logged_model(info.model_id).tags.get("stage"))
        found = mlflow.search_logged_models([run.info.experiment_id], filter_string="name = 'net'", output_format="list")
        tell("models found", [m.name for m in found])


client = MlflowClient()
experiments(client)
fluent()
runs(client)
if "all" in sys.argv:  # these need more than the bare client
    inputs()
    models()
print(json.dumps(told))
