#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Stock clients of MLflow against `hone serve` by MLFLOW_TRACKING_URI alone: every ordinary call gives what it gives with
MLflow's own server; and folders that clients wrote are imported. Prints TAP.

The newest mlflow and the newest of 2.x live in virtual environments in build/peers that this makes. What cannot be
installed is skipped, with the reason.
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("HONE_BUILD", TOP / "build")).resolve()
CALLS = TOP / "tests" / "peers" / "support" / "mlflow_calls.py"
sys.path.insert(0, str(TOP / "tests" / "bad"))
from harness import Place, Skip, main, wait_for

PATIENCE = 600  # seconds: imports of a client take long on a busy machine


def venv(name, *packages):
    """Its folder of programs."""
    folder = BUILD / "peers" / name
    if not (folder / "ready").exists():
        try:
            subprocess.run(["/usr/bin/python3", "-m", "venv", folder], check=True, capture_output=True)
            subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "-q", *packages], check=True,
                           capture_output=True, timeout=1200)
        except (OSError, subprocess.SubprocessError) as error:
            raise Skip(f"no {' '.join(packages)} from PyPI: {error}")
        (folder / "ready").touch()
    return folder / "bin"


def newest():
    return venv("mlflow", "mlflow")


def older():
    return venv("mlflow2", "mlflow-skinny<3")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def run_client(place, programs, uri, *words, script=CALLS, **more):
    env = {**place.env, "MLFLOW_TRACKING_URI": uri, "MLFLOW_DISABLE_TELEMETRY": "true", "GIT_PYTHON_REFRESH": "quiet", "PATH": "/usr/bin:/bin", **more}
    env.pop("PYTHONPATH", None)
    done = subprocess.run([programs / "python", script, *words], env=env, cwd=place.folder, capture_output=True, timeout=PATIENCE, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def told(place, programs, uri, *words, **more):
    return json.loads(run_client(place, programs, uri, *words, **more).splitlines()[-1])


def serve(place, *words):
    process = place.start("serve", "--port", "0", "--json", *words)
    wait_for("its address", lambda: place.read("out").endswith("\n") or process.poll() is not None)
    assert process.poll() is None, place.read("err")
    return process, "http://" + json.loads(place.read("out"))["address"]


def answers(url):
    try:
        return urllib.request.urlopen(url, timeout=5).status == 200
    except (OSError, urllib.error.URLError):
        return False


def own_server(place, programs):
    """MLflow's, over SQLite."""
    port = free_port()
    log = open(place.path("own.log"), "wb")
    process = subprocess.Popen([programs / "mlflow", "server", "--backend-store-uri", f"sqlite:///{place.path('own.db')}",
                                "--artifacts-destination", place.path("own-files"), "--host", "127.0.0.1", "--port", str(port), "--workers", "1"],
                               env={**place.env, "MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}, cwd=place.folder, stdout=log, stderr=log)
    log.close()
    place.started.append(process)
    url = f"http://127.0.0.1:{port}"
    for _ in range(5):  # it takes its time on a busy machine
        try:
            wait_for("MLflow's own server", lambda: answers(url + "/health") or process.poll() is not None)
            break
        except AssertionError:
            continue
    else:
        raise Skip("MLflow's own server does not start here")
    if process.poll() is not None:
        raise Skip("MLflow's own server does not start here: " + place.read("own.log")[-200:])
    return url


def same(ours, theirs):
    assert [name for name, _ in ours] == [name for name, _ in theirs]
    different = [f"{name}: ours {json.dumps(a)}, theirs {json.dumps(b)}" for (name, a), (_, b) in zip(ours, theirs) if a != b]
    assert not different, "\n".join(different)


def the_newest_client_gets_what_its_own_server_gives(place: Place):
    programs = newest()
    theirs = told(place, programs, own_server(place, programs), "all")
    process, url = serve(place, "--trust-local")
    ours = told(place, programs, url, "all")
    same(ours, theirs)
    assert len(ours) > 70, len(ours)
    names = {e["name"] for e in place.experiments()}
    assert {"fluent", "runs", "models", "renamed"} <= names, names
    process.terminate()
    assert process.wait(60) == 0, place.read("err")


def a_client_of_2_x_gets_it_too(place: Place):
    programs, own = older(), newest()
    theirs = told(place, programs, own_server(place, own))
    process, url = serve(place, "--trust-local")
    same(told(place, programs, url), theirs)
    process.terminate()
    assert process.wait(60) == 0


def a_token_goes_where_clients_put_it(place: Place):
    programs = older()
    script = place.write("with_token.py", "import mlflow\nwith mlflow.start_run() as run:\n    mlflow.log_metric('m', 1)\n"
                         "    mlflow.log_text('x', 'a.txt')\nprint(mlflow.get_run(run.info.run_id).data.metrics)\n")
    process, url = serve(place)
    token = place.token("user")
    for how in ({"MLFLOW_TRACKING_TOKEN": token}, {"MLFLOW_TRACKING_USERNAME": "ann", "MLFLOW_TRACKING_PASSWORD": token}):
        assert "{'m': 1.0}" in run_client(place, programs, url, script=script, **how)
    if os.getuid() == 0:  # who is root is asked for a token also on this machine
        try:
            run_client(place, programs, url, script=script)
        except AssertionError as refused:
            assert "401" in str(refused) or "nauthorized" in str(refused) or "token" in str(refused), refused
        else:
            raise AssertionError("root was let in without a token")
    process.terminate()
    assert process.wait(60) == 0


FOLDER = """
import math, mlflow, os
mlflow.set_experiment("from files")
for i in range(3):
    with mlflow.start_run(run_name=f"run {i}"):
        mlflow.log_params({"lr": 0.1 * (i + 1), "name": "größe, \\"x\\"", "deep/nested": "a"})
        mlflow.log_metrics({"acc": i, "val/loss": 1 / (i + 1)}, step=0)
        for step in range(50):
            mlflow.log_metric("loss", (i + 1) / (step + 1), step=step)
        mlflow.log_metric("odd", math.nan, step=1)
        mlflow.set_tag("team", "vision")
        mlflow.log_text("hello", "a/b.txt")
client = mlflow.MlflowClient()
e = client.get_experiment_by_name("from files").experiment_id
run = client.create_run(e, run_name="failed").info.run_id
client.log_metric(run, "loss", 7)
client.set_terminated(run, "FAILED")
gone = client.create_run(e, run_name="gone").info.run_id
client.delete_run(gone)
"""


def folders_that_a_client_wrote_are_imported(place: Place):
    programs = older()
    folder = place.path("mlruns")
    run_client(place, programs, f"file://{folder}", script=place.write("folder.py", FOLDER))
    place.hone("import", folder)
    trials = place.trials("last")
    text = json.dumps(trials, ensure_ascii=False)
    assert len(trials) == 4, text  # what was deleted stays away
    assert sorted(t["state"] for t in trials) == ["completed"] * 3 + ["failed"], text
    shown = [place.show(f"last.{n}") for n in (1, 2, 3, 4)]
    for i, one in enumerate(s for s in shown if s["state"] == "completed"):
        names = json.dumps(one, ensure_ascii=False)
        for wanted in ("deep_nested", "größe", "val/loss", f"run {i}"):
            assert wanted in names, (wanted, names)
        metrics = {m["name" if "name" in m else "metric"]: m for m in one["metrics"]}
        assert metrics["loss"]["count"] == 50 and metrics["loss"]["last"] == (i + 1) / 50, metrics
        assert metrics["acc"]["last"] == i, metrics


main(the_newest_client_gets_what_its_own_server_gives, a_client_of_2_x_gets_it_too, a_token_goes_where_clients_put_it,
     folders_that_a_client_wrote_are_imported)
