# SPDX-License-Identifier: MIT
"""A `hone serve` for tests, with a token, and what its event stream says."""

import http.client
import json
import signal
import socket

from harness import wait_for


class Serving:
    """hone serve on a free port."""

    def __init__(self, place, role="admin"):
        self.place = place
        self.token = place.token(role, role)
        self.process = place.start("serve", "--port", "0", "--json")
        wait_for("its address", lambda: place.read("out").endswith("\n") or self.process.poll() is not None)
        assert self.process.poll() is None, place.read("err")
        host, port = json.loads(place.read("out"))["address"].rsplit(":", 1)
        self.host, self.port = host, int(port)

    def ask(self, path, body=None, method=None, headers=None):
        """Status, headers and bytes. The path goes out as it is."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        connection.putrequest(method or ("POST" if body is not None else "GET"), path)
        connection.putheader("Authorization", "Bearer " + self.token)
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        try:
            connection.endheaders(body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it was refused before all of it was sent
        answer = connection.getresponse()
        got = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return got

    def json(self, path, body=None):
        status, _, text = self.ask(path, None if body is None else json.dumps(body).encode())
        assert status == 200, (path, status, text)
        return json.loads(text)

    def write(self, lines, db="test"):
        assert self.ask(f"/write?db={db}", lines.encode())[0] == 204

    def run(self, *command, name="t"):
        """An experiment of one trial, run to its end."""
        self.place.hone("run", "--name", name, "--trials", "1", "--", *command)

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        assert self.process.wait(60) == (0 if how == signal.SIGTERM else -how), self.place.read("err")


class Viewer:
    """A reader of /v1/events."""

    def __init__(self, serving, experiments="", after=None, small=False, header=None):
        self.socket = socket.socket()
        if small:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.connect((serving.host, serving.port))
        path = f"/v1/events?experiments={experiments}" + (f"&after={after}" if after is not None else "")
        last = f"Last-Event-ID: {header}\r\n" if header else ""
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: {serving.host}:{serving.port}\r\n{last}"
                            f"Authorization: Bearer {serving.token}\r\n\r\n".encode())
        self.socket.settimeout(60)
        self.buffer, self.head, self.cursor, self.over = b"", None, None, False
        self.size = None  # of the chunk at hand

    def _bytes(self, n):
        while len(self.buffer) < n:
            some = self.socket.recv(65536)
            if not some:
                raise EOFError
            self.buffer += some
        got, self.buffer = self.buffer[:n], self.buffer[n:]
        return got

    def _line(self):
        while b"\r\n" not in self.buffer:
            self.buffer += self.socket.recv(65536) or self._end()
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line

    def _end(self):
        raise EOFError

    def _chunks(self):
        """Text as it comes."""
        if self.head is None:
            self.head = [self._line()]
            while self.head[-1]:
                self.head.append(self._line())
            assert b" 200 " in self.head[0], self.head[0]
        while True:
            n = int(self._line(), 16)
            if n == 0:
                self.over = True
                return
            yield self._bytes(n)
            self._bytes(2)

    def events(self):
        """(kind, data) one after the other; a comment is (None, text)."""
        rest = b""
        for chunk in self._chunks():
            rest += chunk
            while b"\n\n" in rest:
                text, rest = rest.split(b"\n\n", 1)
                kind, data = None, None
                for line in text.decode().split("\n"):
                    key, _, value = line.partition(": ")
                    if key == "id":
                        self.cursor = value
                    elif key == "event":
                        kind = value
                    elif key == "data":
                        data = json.loads(value)
                    elif key == "":
                        data = value
                yield kind, data

    def until(self, wanted):
        """All events up to the one that is wanted."""
        got = []
        for event in self.stream():
            got.append(event)
            if wanted(*event):
                return got
        raise AssertionError(f"the stream ended: {got[-3:]}")

    def stream(self):
        if not hasattr(self, "running"):
            self.running = self.events()
        return self.running

    def begin(self):
        """Wait for its first words: from here on it is told everything."""
        next(self.stream())
        return self

    def close(self):
        self.socket.close()
