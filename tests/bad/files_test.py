#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Logs, files and code over HTTP: what is there is served, and nothing else, however it is asked for.
Prints TAP."""

import hashlib
import json
import os
import socket
import sys
import urllib.parse

sys.dont_write_bytecode = True
from harness import Place, main, wait_for
from serving import Serving

PROGRAM = """
import os, sys
print("hello out"); print("hello err", file=sys.stderr)
os.makedirs(os.environ["HONE_CHECKPOINT_DIR"] + "/deep/er", exist_ok=True)
open(os.environ["HONE_CHECKPOINT_DIR"] + "/deep/er/a.pt", "wb").write(bytes(range(256)) * 10)
"""


def with_trial(place, program=PROGRAM):
    """A server whose trial 1.1 has ended, and the trial's folder."""
    place.write("train.py", program)
    server = Serving(place)
    server.run("/usr/bin/python3", "train.py")
    return server, os.path.join(place.home, "experiments", "1", "1.1")


def paths(server, trial="1.1"):
    return [file["path"] for file in server.json(f"/v1/trials/{trial}/files")["files"]]


def a_log_is_read_by_offset_from_both_ends(place: Place):
    server, _ = with_trial(place)
    status, head, body = server.ask("/v1/trials/1.1/logs")
    assert (status, body) == (200, b"hello out\n")
    assert (head["X-Hone-Size"], head["X-Hone-From"], head["X-Hone-Attempt"]) == ("10", "0", "1")
    assert head["Content-Type"].startswith("text/plain") and head["X-Content-Type-Options"] == "nosniff"
    assert server.ask("/v1/trials/t.1/logs?stream=stderr")[2] == b"hello err\n"
    assert server.ask("/v1/trials/1.1/logs?from=6&limit=3")[2] == b"out"
    _, head, body = server.ask("/v1/trials/last.1/logs?from=-4")
    assert (head["X-Hone-From"], body) == ("6", b"out\n")
    _, head, body = server.ask("/v1/trials/1.1/logs?from=-400")
    assert (head["X-Hone-From"], body) == ("0", b"hello out\n")
    _, head, body = server.ask("/v1/trials/1.1/logs?from=400")
    assert (head["X-Hone-From"], head["X-Hone-Size"], body) == ("10", "10", b"")
    server.end()


def a_log_with_a_hole_goes_on_behind_it(place: Place):
    server, folder = with_trial(place)
    with open(os.path.join(folder, "stdout"), "wb") as f:
        f.write(b"head")
        f.seek(1 << 20)
        f.write(b"tail")
    _, head, body = server.ask("/v1/trials/1.1/logs?limit=1000000")
    assert head["X-Hone-From"] == "0" and body.rstrip(b"\0") == b"head" and len(body) < 1 << 20, len(body)
    _, head, body = server.ask(f"/v1/trials/1.1/logs?from={len(body)}")
    assert int(head["X-Hone-From"]) + len(body) == (1 << 20) + 4 and body.lstrip(b"\0") == b"tail"
    server.end()


def wrong_questions_for_logs_get_a_sentence(place: Place):
    server, _ = with_trial(place)
    for query, status in (("stream=stdin", 400), ("stream=../state", 400), ("from=x", 400), ("limit=0", 400),
                          ("limit=99999999", 400), ("attempt=2", 404), ("attempt=0", 400),
                          ("from=99999999999999999999", 400)):
        got, _, body = server.ask("/v1/trials/1.1/logs?" + query)
        assert got == status and json.loads(body)["error"], (query, got, body)
    for trial, status in (("1.9", 404), ("9.1", 404), ("1", 400), ("nobody.1", 404), ("1.x", 400)):
        got, _, body = server.ask(f"/v1/trials/{trial}/logs")
        assert got in (status, 404) and json.loads(body)["error"], (trial, got, body)
    server.write("m,run=a v=1 1000", db="seen")
    got, _, body = server.ask("/v1/trials/seen.1/logs")
    assert got == 404 and "attempt" in json.loads(body)["error"], body
    server.end()


def a_log_grows_while_its_program_runs(place: Place):
    server = Serving(place)
    place.write("slow.py", """
import os, time
print("first", flush=True)
while not os.path.exists("go"): time.sleep(0.01)
print("second", flush=True)
""")
    run = place.start("run", "--name", "slow", "--trials", "1", "--", "/usr/bin/python3", "slow.py")
    wait_for("its trial", lambda: server.ask("/v1/trials/slow.1/logs")[0] == 200)
    wait_for("its first words", lambda: server.ask("/v1/trials/slow.1/logs")[2] == b"first\n")
    assert server.ask("/v1/trials/slow.1/logs?from=6")[2] == b""
    place.write("go", "")
    wait_for("its last words", lambda: server.ask("/v1/trials/slow.1/logs?from=6")[2] == b"second\n")
    assert run.wait(60) == 0
    server.end()


def files_of_attempts_and_checkpoints_are_listed_and_served(place: Place):
    server, _ = with_trial(place)
    listed = paths(server)
    assert "1/stdout" in listed and "checkpoints/deep/er/a.pt" in listed, listed
    assert "1/state" not in listed
    content = bytes(range(256)) * 10
    status, head, body = server.ask("/v1/trials/1.1/files/checkpoints/deep/er/a.pt")
    assert status == 200 and body == content
    assert head["Content-Type"] == "application/octet-stream", head
    assert head["Content-Disposition"].startswith('attachment; filename="a.pt"'), head
    assert head["X-Content-Type-Options"] == "nosniff"
    status, _, body = server.ask("/v1/trials/1.1/files/checkpoints/deep/er/a.pt", headers={"Range": "bytes=5-9"})
    assert (status, body) == (206, content[5:10])
    status, _, body = server.ask("/v1/trials/1.1/files/checkpoints/deep/er/a.pt", headers={"Range": "bytes=9999-"})
    assert status == 416
    server.end()


def names_with_anything_in_them_come_back_as_they_are(place: Place):
    server, folder = with_trial(place)
    names = ["a\nb", 'quote"s', "sp ace", "per%cent", "ünïcode", "<script>", "semi;colon", "#hash", "?mark", "+plus"]
    for name in names:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(name)
    listed = paths(server)
    for name in names:
        assert "1/" + name in listed, (name, listed)
        status, head, body = server.ask("/v1/trials/1.1/files/1/" + urllib.parse.quote(name, safe=""))
        assert (status, body.decode()) == (200, name), (name, status, body)
        assert "\n" not in head["Content-Disposition"] and "<" not in head["Content-Disposition"]
    server.end()


def nothing_outside_of_a_trial_s_folders_is_reached(place: Place):
    server, folder = with_trial(place)
    secret = place.write("secret", "the secret")
    server.run("/bin/true", name="other")
    os.symlink(secret, os.path.join(folder, "link"))
    os.symlink(place.folder, os.path.join(folder, "out"))
    os.symlink("/proc/self", os.path.join(folder, "magic"))
    os.symlink("stdout", os.path.join(folder, "inside"))
    up = os.path.relpath(secret, folder)
    shapes = ["../1.1/stdout", up, up.replace("/", "%2f"), up.replace(".", "%2e"), up.replace("..", "%2e%2e/"),
              up.replace("..", "%252e%252e"), up.replace("..", ".%2e"), up.replace("/", "%255c"), up.replace("/", "\\"),
              up.replace("/", "%5c"), up.replace("..", "..;"), up.replace("..", "....//"), up.replace("..", "%c0%ae%c0%ae"),
              up.replace("..", "%e0%80%ae%e0%80%ae"), up.replace("..", "..%00"), "/" + secret.lstrip("/"), "//" + secret,
              "%2f" + secret.lstrip("/"), "./stdout", "%2e/stdout", "stdout/", "stdout/..", "stdout%00.txt", "", ".", "..",
              "link", "out/secret", "magic/cwd/secret", "magic/root" + secret, "inside", "state", "%73tate", "./state",
              "x" * 300, "a/" * 200 + "b", "file:///etc/passwd", "~/secret", "$HOME/secret"]
    for first in ("1/", "1%2f", "checkpoints/", "checkpoints%2f", "", "01/", "0/", "-1/", "+1/", "1.1/", "%31/../1/", "2/"):
        for shape in shapes:
            status, _, body = server.ask("/v1/trials/1.1/files/" + first + shape.replace("\n", ""))
            assert b"the secret" not in body and b"root:" not in body, (first, shape, body)
            assert status in (400, 404), (first, shape, status, body)
    listed = paths(server)
    assert not {"1/link", "1/inside"} & set(listed) and not any(p.startswith(("1/out", "1/magic")) for p in listed), listed
    server.end()


def what_is_no_regular_file_is_neither_listed_nor_opened(place: Place):
    server, folder = with_trial(place)
    os.mkfifo(os.path.join(folder, "fifo"))
    bound = socket.socket(socket.AF_UNIX)
    os.chdir(folder)
    bound.bind("sock")
    os.chdir("/")
    os.mkdir(os.path.join(folder, "dir"))
    for name in ("fifo", "sock", "dir", "state"):
        assert server.ask("/v1/trials/1.1/files/1/" + name)[0] == 404, name
        assert "1/" + name not in paths(server)
    bound.close()
    server.end()


def a_folder_that_became_a_link_is_not_followed(place: Place):
    server, folder = with_trial(place)
    place.write("stdout", "the secret")
    os.rename(folder, folder + ".away")
    os.symlink(place.folder, folder)
    assert server.ask("/v1/trials/1.1/files/1/stdout")[0] == 404
    assert server.ask("/v1/trials/1.1/logs")[2] == b""
    assert not [p for p in paths(server) if p.startswith("1/")]
    server.end()


def recorded_code_is_listed_and_shown(place: Place):
    server, _ = with_trial(place)
    code = place.show("1")["code"]
    code = code["sha256"] if isinstance(code, dict) else code
    files = server.json("/v1/code/" + code)["files"]
    assert {"path": "train.py", "size": len(PROGRAM)} in files, files
    status, head, body = server.ask(f"/v1/code/{code}/train.py")
    assert (status, body.decode()) == (200, PROGRAM) and head["X-Content-Type-Options"] == "nosniff"
    for path, status in (("nothing.py", (404,)), ("../train.py", (400, 404)), ("%2e%2e/train.py", (400, 404)),
                         ("train.py/x", (404,)), ("./train.py", (400, 404))):
        assert server.ask(f"/v1/code/{code}/{path}")[0] in status, path
    for name in ("0" * 64, "f" * 63, "F" * 64, "..%2f..%2fetc", "x"):
        status, _, body = server.ask("/v1/code/" + name)
        assert status in (400, 404) and json.loads(body)["error"], (name, status)
    junk = b"no archive"
    sha = hashlib.sha256(junk).hexdigest()
    os.makedirs(os.path.join(place.home, "objects", sha[:2]), exist_ok=True)
    with open(os.path.join(place.home, "objects", sha[:2], sha[2:]), "wb") as f:
        f.write(junk)
    assert server.ask("/v1/code/" + sha)[0] == 404
    server.end()


def a_text_that_is_too_large_is_not_shown(place: Place):
    place.write("large.txt", "x" * ((1 << 20) + 1))
    place.write("just.txt", "x" * (1 << 20))
    server, _ = with_trial(place)
    code = place.show("1")["code"]
    code = code["sha256"] if isinstance(code, dict) else code
    assert server.ask(f"/v1/code/{code}/large.txt")[0] == 413
    assert len(server.ask(f"/v1/code/{code}/just.txt")[2]) == 1 << 20
    server.end()


main(a_log_is_read_by_offset_from_both_ends, a_log_with_a_hole_goes_on_behind_it,
     wrong_questions_for_logs_get_a_sentence, a_log_grows_while_its_program_runs,
     files_of_attempts_and_checkpoints_are_listed_and_served, names_with_anything_in_them_come_back_as_they_are,
     nothing_outside_of_a_trial_s_folders_is_reached, what_is_no_regular_file_is_neither_listed_nor_opened,
     a_folder_that_became_a_link_is_not_followed, recorded_code_is_listed_and_shown,
     a_text_that_is_too_large_is_not_shown)
