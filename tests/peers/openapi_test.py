#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""docs/openapi.yaml against the running server: schemathesis (PyPI) makes requests from the document,
right and wrong ones, and looks at every answer. It finds nothing. Prints TAP.

It lives in a virtual environment in build/peers/openapi that this makes. Without a way to PyPI it says
so and is skipped.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("HONE_BUILD", TOP / "build"))
HONE = os.environ.get("HONE_BIN", str(BUILD / "hone"))
VENV = BUILD / "peers" / "openapi"
EXAMPLES = int(os.environ.get("OPENAPI_EXAMPLES", "25"))
ENDLESS = "events"  # its answer does not end: tests/bad/stream_test.py
LAST = ("change", "token_rm")  # they take away what the others ask for


def skip(why):
    print(f"1..0 # SKIP {why}")
    sys.exit(0)


def make_venv():
    if (VENV / "ready").exists():
        return
    try:
        subprocess.run(["/usr/bin/python3", "-m", "venv", VENV], check=True, capture_output=True)
        subprocess.run([VENV / "bin" / "pip", "install", "-q", "schemathesis>=4,<5"], check=True,
                       capture_output=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        skip(f"no schemathesis from PyPI: {error}")
    (VENV / "ready").touch()


def hone(env, *words):
    return subprocess.run([HONE, *words], env=env, check=True, capture_output=True, text=True).stdout


def fill(env):
    """An experiment with code, trials, curves, tags, some of them failed. What its code is called."""
    work = pathlib.Path(env["HOME"]) / "work"
    work.mkdir()
    (work / "train.py").write_text("import sys\nfor i in range(5): print('step', i, 'loss', 1 / (i + 1))\nsys.exit(int(sys.argv[1]) > 2)\n")
    subprocess.run([HONE, "run", "--param", "b=1,2,3,4", "--minimize", "loss", "--name", "filled", "--",
                    "/usr/bin/python3", "train.py", "{b}"], env=env, check=True, capture_output=True, cwd=work)
    hone(env, "tag", "1.1", "good")
    return json.loads(hone(env, "show", "1", "--json"))["code"]


def wait_for(path):
    for _ in range(600):
        if path.exists():
            return path.read_text().strip()
        time.sleep(0.1)
    raise SystemExit("1..1\nnot ok 1 - the server did not come up")


def ask(env, address, *which):
    """Whether schemathesis finds nothing in these operations. Each time with a token of its own: the last one is
    new, and not among the first that are taken away."""
    token = hone(env, "token", "add", "tester", "--role", "admin").split()[-1]
    words = [VENV / "bin" / "schemathesis", "run", TOP / "docs" / "openapi.yaml", "--url", f"http://{address}", "--header", f"Authorization: Bearer {token}",
             "--max-examples", str(EXAMPLES), "--seed", "1", "--no-color", "--request-timeout", "60", *which]
    done = subprocess.run(words, env=env, capture_output=True, text=True, cwd=env["HOME"], timeout=900)
    if done.returncode != 0:
        sys.stderr.write("\n".join("# " + line for line in (done.stdout + done.stderr).splitlines()[-400:]) + "\n")
    return done.returncode == 0


def options(kind, names):
    return [word for name in names for word in (f"--{kind}-operation-id", name)]


def main():
    make_venv()
    with tempfile.TemporaryDirectory(prefix="hone-openapi-", ignore_cleanup_errors=True) as folder:
        home = pathlib.Path(folder) / "home"
        env = {k: v for k, v in os.environ.items() if not k.startswith("HONE_")}
        env.update(HONE_HOME=str(home), HOME=folder, HONE_PORT="off")
        options_text = (TOP / "tests" / "peers" / "schemathesis.toml").read_text()
        (pathlib.Path(folder) / "schemathesis.toml").write_text(options_text.replace("CODE", fill(env)))
        server = subprocess.Popen([HONE, "serve", "--port", "0"], env=env, stdout=subprocess.DEVNULL)
        try:
            address = wait_for(home / "address")
            hone(env, "submit", "--param", "b=1..1000:int", "--trials", "1000", "--parallel", "1", "--minimize", "loss",
                 "--name", "busy", "--", "/bin/sleep", "2")
            results = [
                (ask(env, address, *options("exclude", [ENDLESS, *LAST])), "schemathesis finds nothing"),
                (ask(env, address, *options("include", LAST[:1])), "nor where experiments are taken away"),
                (ask(env, address, *options("include", LAST[1:])), "nor where tokens are"),
            ]
            alive = server.poll() is None
        finally:
            server.terminate()
            server.wait(60)
    results.append((alive and server.returncode == 0, "the server lives through it and ends well"))
    print(f"1..{len(results)}")
    for i, (good, sentence) in enumerate(results):
        print(("ok" if good else "not ok") + f" {i + 1} - {sentence}")
    sys.exit(not all(good for good, _ in results))


main()
