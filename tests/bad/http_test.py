#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What is not good HTTP, or too much of it, against the real hone serve. Prints TAP."""

import json
import os
import resource
import select
import socket
import struct
import sys

sys.dont_write_bytecode = True
from harness import HONE, Place, main, wait_for

HOST = b"Host: localhost\r\n"
PING = b"GET /ping HTTP/1.1\r\n" + HOST + b"\r\n"


class Server:
    """hone serve on a free port, and a token for it."""

    def __init__(self, place):
        self.place = place
        self.process = place.start("serve", "--port", "0", "--json")
        wait_for("its address", lambda: place.read("out").endswith("\n") or self.process.poll() is not None)
        assert self.process.poll() is None, place.read("err")
        self.port = int(json.loads(place.read("out"))["address"].rsplit(":", 1)[1])

    def token(self):
        out, _ = self.place.hone("token", "add", "ann", "--role", "admin", "--json")
        return json.loads(out)["token"]

    def dial(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def hear(self, connection):
        """All until the server closes."""
        said = b""
        try:
            while piece := connection.recv(65536):
                said += piece
        except ConnectionResetError:
            pass  # it had closed while we still spoke
        connection.close()
        return said

    def ask(self, text):
        connection = self.dial()
        try:
            connection.sendall(text)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has heard enough
        return self.hear(connection)

    def lives(self):
        answer = self.ask(PING.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert answer.startswith(b"HTTP/1.1 204 "), answer

    def grew(self, before):
        """Bytes; a sanitizer keeps what was freed, and then it says nothing."""
        with open(HONE, "rb") as f:
            return 0 if b"AddressSanitizer" in f.read() else self.memory() - before

    def memory(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmRSS")) * 1024

    def files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def end(self):
        self.lives()
        self.process.terminate()
        assert self.process.wait(60) == 0, self.place.read("err")
        assert "Sanitizer" not in self.place.read("err"), self.place.read("err")


def status(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0


def read_answer(connection):
    """One answer with its body, on a connection that stays open."""
    stream = connection.makefile("rb")
    first = stream.readline()
    length = 0
    while (line := stream.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return status(first), stream.read(length)


def abort(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def those_who_trickle_keep_nobody_out(place: Place):
    server = Server(place)
    slow = []
    for i in range(300):
        connection = server.dial()
        connection.sendall([b"G", b"GET /ping HT", b"GET /ping HTTP/1.1\r\nX-A: b",
                            b"POST /v1/login HTTP/1.1\r\n" + HOST + b"Content-Length: 100\r\n\r\n{"][i % 4])
        slow.append(connection)
    for connection in slow:
        try:
            server.lives() if connection is slow[150] else connection.sendall(b"a")
        except (BrokenPipeError, ConnectionResetError):
            pass  # it was too slow, and is cut off
    server.lives()
    for connection in slow:
        connection.close()
    server.end()


def heads_that_are_huge_are_refused(place: Place):
    server = Server(place)
    before = server.memory()
    for text in (b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
                 b"GET /ping?" + b"a=b&" * 50000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
                 b"GET /ping HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 200000 + b"\r\n\r\n",
                 b"GET /ping HTTP/1.1\r\n" + HOST + b"X: a\r\n" * 20000 + b"\r\n",
                 b"G" * 200000):
        assert status(server.ask(text)) in (0, 400, 413, 414, 431), text[:40]
    long = b"GET /ping?" + b"a" * 15000 + b" HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
    assert status(server.ask(long)) == 204
    assert server.grew(before) < 20e6
    server.end()


def requests_in_a_row_are_answered_in_order(place: Place):
    server = Server(place)
    token = server.token().encode()
    asks = b"".join(b"GET /nowhere%d HTTP/1.1\r\n" % i + HOST + b"\r\n" + PING + b"GET /v1/me HTTP/1.1\r\n" + HOST
                    + b"Authorization: Bearer " + token + b"\r\n\r\n" for i in range(20))
    connection = server.dial()
    connection.sendall(PING * 3)
    said = [read_answer(connection)[0]]
    connection.close()
    assert said == [204], said
    last = PING.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    answer = server.ask(PING * 30 + last)
    assert answer.count(b"HTTP/1.1 204 ") == 31, answer[:2000]
    answer = server.ask(asks.replace(b"/nowhere", b"/ping?") + last)
    assert [status(b"HTTP/1.1 " + part) for part in answer.split(b"HTTP/1.1 ")[1:]] == [204, 204, 200] * 20 + [204]
    server.end()


def chunks_that_are_broken_are_refused(place: Place):
    server = Server(place)
    head = b"POST /v1/login HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    for body in (b"zz\r\n", b"-1\r\nabc", b"ffffffffffffffffff\r\nabc", b"3\r\nabcXX0\r\n\r\n", b"0x3\r\nabc\r\n0\r\n\r\n",
                 b"\r\n\r\n", b"3;" + b"e" * 100000 + b"\r\nabc\r\n0\r\n\r\n", b"\0\0\0\0\r\n\r\n"):
        assert status(server.ask(head + body)) in (0, 400, 413, 431, 500), body[:40]
    assert b"names neither" in server.ask(head + b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n")
    server.end()


def bodies_beyond_the_cap_are_refused_however_they_come(place: Place):
    server = Server(place)
    token = b"Authorization: Bearer " + server.token().encode() + b"\r\n"
    before = server.memory()
    head = b"POST %s HTTP/1.1\r\n" + HOST + token + b"Connection: close\r\n"
    for path in (b"/v1/login", b"/v1/experiments", b"/v1/changes"):
        said = server.ask(head % path + b"Content-Length: 10000000\r\n\r\n" + b" " * 100000)
        assert status(said) == 413 and b'"too_large"' in said, (path, said[:300])
        chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
        said = server.ask(head % path + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 160 + b"0\r\n\r\n")
        assert status(said) in (0, 413), (path, said[:300])
    assert server.grew(before) < 30e6
    server.end()


def a_reader_that_never_reads_holds_up_nobody(place: Place):
    server = Server(place)
    before = server.memory()
    deaf = []
    for _ in range(20):
        connection = server.dial()
        connection.setblocking(False)
        try:
            for _ in range(200):
                connection.send(PING * 200)
        except BlockingIOError:
            pass
        deaf.append(connection)
    server.lives()
    assert server.grew(before) < 20e6
    for connection in deaf:
        abort(connection)
    server.end()


def more_than_a_thousand_come_at_once(place: Place):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    many = min(1100, hard - 100)
    server = Server(place)
    idle = server.files()
    connections = [server.dial() for _ in range(many)]
    for connection in connections:
        connection.sendall(PING)
    for connection in connections:
        assert read_answer(connection) == (204, b"")
    assert server.files() >= many
    for connection in connections:
        connection.close()
    wait_for("them to be gone", lambda: server.files() <= idle + 1)
    server.end()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def one_that_goes_in_the_middle_of_anything_harms_nothing(place: Place):
    server = Server(place)
    token = b"Authorization: Bearer " + server.token().encode() + b"\r\n"
    idle = server.files()
    whole = (b"POST /v1/changes HTTP/1.1\r\n" + HOST + token + b"Content-Length: 20\r\n\r\n" + b'{"do":"nothing","a":',
             b"PUT /v1/objects/" + b"0" * 64 + b" HTTP/1.1\r\n" + HOST + token + b"Content-Length: 9\r\n\r\n" + b"abcdefgh",
             b"GET /v1/events HTTP/1.1\r\n" + HOST + token + b"\r\n",
             b"GET /v1/ingest HTTP/1.1\r\n" + HOST + token + b"\r\n")
    for text in whole:
        for cut in range(1, len(text) + 1, 7):
            connection = server.dial()
            connection.sendall(text[:cut])
            abort(connection) if cut % 2 else connection.close()
        connection = server.dial()
        connection.sendall(text)
        abort(connection)
    server.lives()
    wait_for("them to be gone", lambda: server.files() <= idle + 10)
    server.end()


def odd_methods_and_forms_get_an_answer(place: Place):
    server = Server(place)
    for first, wanted in ((b"GET http://localhost:%d/ping HTTP/1.1" % server.port, 204),
                          (b"GET http://evil.example/ping HTTP/1.1", 403),
                          (b"GET https://localhost/ping HTTP/1.1", 204),
                          (b"GET /ping HTTP/1.0", 204),
                          (b"HEAD /ping HTTP/1.1", 204),
                          (b"OPTIONS * HTTP/1.1", 404),
                          (b"TRACE /ping HTTP/1.1", 405),
                          (b"BREW /ping HTTP/1.1", 405),
                          (b"get /ping HTTP/1.1", 405),
                          (b"CONNECT localhost:80 HTTP/1.1", 404),
                          (b"GET ping HTTP/1.1", 404),
                          (b"GET //ping HTTP/1.1", 404),
                          (b"GET /ping/../ping HTTP/1.1", 404),
                          (b"GET /%70ing HTTP/1.1", 404),
                          (b"PRI * HTTP/2.0", 505),
                          (b"GET /ping HTTP/3.7", 505),
                          (b"GET /ping FTP/1.1", 505),
                          (b"GET /ping", 400),
                          (b" ", 0)):
        said = server.ask(first + b"\r\n" + HOST + b"Connection: close\r\n\r\n")
        assert status(said) in (wanted, 400 if wanted == 505 else wanted), (first, said[:200])
    server.end()


def a_head_that_leaves_a_doubt_is_refused(place: Place):
    server = Server(place)
    smuggled = b"0\r\n\r\nGET /v1/smuggled HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
    for head in (b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", b"Content-Length: 0\r\nContent-Length: 9\r\n",
                 b"Content-Length: +0\r\n", b"Content-Length : 5\r\n", b"Transfer-Encoding: x, chunked\r\n",
                 b"Host: evil.example\r\n", b"Content-Length: 0x5\r\n", b"X: a\0b\r\n"):
        said = server.ask(b"POST /v1/login HTTP/1.1\r\n" + HOST + head + b"\r\n" + smuggled)
        assert status(said) == 400 and b"no such page" not in said, (head, said[:400])
    server.end()


def bytes_of_chance_harm_nothing(place: Place):
    server = Server(place)
    seed = 12345
    for i in range(200):
        text = bytearray(PING + b"POST /v1/login HTTP/1.1\r\n" + HOST + b"Content-Length: 2\r\n\r\n{}")
        for _ in range(1 + i % 8):
            seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
            text[(seed >> 33) % len(text)] = (seed >> 20) & 255
        connection = server.dial()
        connection.sendall(text)
        select.select([connection], [], [], 0.01)
        abort(connection)
    server.end()


if __name__ == "__main__":
    main(those_who_trickle_keep_nobody_out, heads_that_are_huge_are_refused,
         requests_in_a_row_are_answered_in_order, chunks_that_are_broken_are_refused,
         bodies_beyond_the_cap_are_refused_however_they_come, a_reader_that_never_reads_holds_up_nobody,
         more_than_a_thousand_come_at_once, one_that_goes_in_the_middle_of_anything_harms_nothing,
         odd_methods_and_forms_get_an_answer, a_head_that_leaves_a_doubt_is_refused, bytes_of_chance_harm_nothing)
