#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Who may ask `hone serve`, and who may not: every route, every kind of caller. Prints TAP."""

import base64
import http.client
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import urllib.parse

sys.dont_write_bytecode = True
from harness import Place, Skip, main, wait_for

WRONG = "hone_" + "A" * 43
STRANGER = {} if os.geteuid() == 0 else {"Via": "elsewhere"}  # an ordinary user's own programs need no token
NOBODY = 65534
ROLES = ["viewer", "user", "admin"]


class Server:
    """hone serve on a free port; words as on its command line."""

    def __init__(self, place, *words):
        self.place = place
        self.process = place.start("serve", "--port", "0", "--json", *words)
        wait_for("its address", lambda: place.read("out").endswith("\n") or self.process.poll() is not None)
        assert self.process.poll() is None, place.read("err")
        self.says = json.loads(place.read("out"))
        host, self.port = self.says["address"].rsplit(":", 1)
        self.host = host.strip("[]")
        self.link = urllib.parse.urlsplit(self.says["link"]).path
        self.guesses = 0

    def connect(self, source=None):
        return http.client.HTTPConnection(self.host, int(self.port), timeout=60,
                                          source_address=(source, 0) if source else None)

    def send(self, method, path, body=None, headers=None, source=None):
        """Status, headers and text. An event stream is left after its head."""
        connection = self.connect(source)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            stream = "event-stream" in answer.headers.get("Content-Type", "")
            return answer.status, answer.headers, "" if stream else answer.read().decode(errors="replace")
        finally:
            connection.close()

    def ask(self, path, token=None, method="GET", body=None, **headers):
        """The status."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            headers["Authorization"] = "Bearer " + token
        return self.send(method, path, body, headers)[0]

    def guess(self, method, path, token, body=None):
        """With a wrong token, each time from another address: guesses are counted by address."""
        self.guesses += 1
        source = f"127.9.{self.guesses // 250}.{self.guesses % 250 + 1}"
        return self.send(method, path, body, {"Authorization": "Bearer " + token}, source)[0]

    def enter(self, path=None):
        """Follow a link: the cookie, as a browser would send it, and the whole of Set-Cookie."""
        status, headers, text = self.send("GET", path or self.link)
        assert status == 200, (status, text)
        return headers["Set-Cookie"].split(";")[0], headers["Set-Cookie"]

    @property
    def origin(self):
        return f"http://{self.host}:{self.port}"

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0, self.place.read("err")


def check(got, wanted, what):
    assert got == wanted, f"{what}: {got}, not {wanted}"


def routes_of(server, token):
    status, _, text = server.send("GET", "/v1/routes", headers={"Authorization": "Bearer " + token})
    assert status == 200, text
    for route in json.loads(text)["routes"]:
        path = route["path"].replace("**", "a/b").replace("*", "999")
        for method in route["methods"].split():
            yield method, path, route


def every_route_asks_for_its_role(place: Place):
    tokens = {role: place.token(role, "a-" + role) for role in ROLES}
    revoked = place.token("admin", "gone")
    server = Server(place)
    place.hone("token", "rm", "gone")
    count = 0
    for method, path, route in routes_of(server, tokens["viewer"]):
        what, role = f"{method} {path}", route["role"]
        body = b"{}" if method in ("POST", "PUT", "PATCH") else None
        if role == "none":
            continue
        check(server.ask(path, None, method, body, **STRANGER), 401, what + " without a token")
        check(server.guess(method, path, WRONG, body), 401, what + " with a wrong token")
        check(server.guess(method, path, revoked, body), 401, what + " with a token that was removed")
        for weak in ROLES[:ROLES.index(role)]:
            check(server.ask(path, tokens[weak], method, body), 403, f"{what} as {weak}")
        status = server.ask(path, tokens[role], method, body)
        assert status not in (401, 403, 429), f"{what} as {role}: {status}"
        count += 1
    assert count > 20, count
    server.end()


def all_of_v1_and_of_the_stock_clients_needs_a_role(place: Place):
    """What is open to everybody is a short list, known by name."""
    server = Server(place)
    known = {"/", "/assets/a/b", "/ping", "/status", "/health", "/version", "/open/999", "/v1/login"}
    for method, path, route in routes_of(server, place.token("viewer")):
        assert route["role"] != "none" or path in known, f"{method} {path} is open to everybody"
    server.end()


def a_token_comes_in_the_forms_of_stock_clients(place: Place):
    token = place.token("user", "ann")
    server = Server(place)
    basic = base64.b64encode(f"anybody:{token}".encode()).decode()
    for text in (f"Bearer {token}", f"Token {token}", f"Token anybody:{token}", f"Basic {basic}"):
        check(server.ask("/v1/me", Authorization=text), 200, text[:8])
    line = b"m v=1"
    check(server.send("POST", f"/write?db=x&u=any&p={token}", line)[0], 204, "p= of /write")
    check(server.send("GET", f"/query?db=x&q=SHOW+DATABASES&u=any&p={token}")[0], 200, "p= of /query")
    check(server.send("GET", f"/v1/me?u=any&p={token}")[0], 401, "p= elsewhere")
    status, headers, _ = server.send("POST", "/write", line, STRANGER)
    check((status, headers["WWW-Authenticate"]), (401, 'Basic realm="InfluxDB"'), "the challenge")
    check(server.send("GET", "/v1/me")[1]["WWW-Authenticate"], "Bearer", "the challenge")
    server.end()


def who_only_reads_changes_nothing(place: Place):
    """Routes that take several words look at the words, too."""
    viewer, user = place.token("viewer", "vera"), place.token("user", "uwe")
    server = Server(place)
    check(server.ask("/write?db=mine", user, "POST", b"m v=1"), 204, "a database")
    for words in ("CREATE DATABASE x", "DROP DATABASE mine", "SHOW DATABASES; DROP DATABASE mine"):
        q = urllib.parse.urlencode({"q": words})
        check(server.ask("/query?" + q, viewer, "POST"), 403, words)
        check(server.ask("/query?" + q, viewer), 403 if words.startswith("CREATE") else 405, words + " by GET")
    status, _, text = server.send("GET", "/query?q=SHOW+DATABASES", headers={"Authorization": "Bearer " + viewer})
    assert status == 200 and "mine" in text and '"x"' not in text, text
    drop = "/query?" + urllib.parse.urlencode({"q": "DROP DATABASE mine"})
    for token, word in ((user, "admin"), (place.token("admin", "ada"), '{"statement_id":0}')):
        status, _, text = server.send("POST", drop, headers={"Authorization": "Bearer " + token})
        assert status == 200 and word in text, text
    for what in ({"do": "token_add", "user": "eve", "role": "admin", "sha256": "a" * 64}, {"do": "token_rm", "id": 1},
                 {"do": "gc_objects", "sha256": []}, {"do": "submit"}, {"do": "knowledge"}):
        check(server.ask("/v1/changes", user, "POST", json.dumps(what)), 400, what["do"])
    for name in ("token", "open", "serve", "run", "gc"):
        status = server.ask("/v1/commands/" + name, user, "POST", b'{"args":[]}')
        assert status in (403, 404), f"{name}: {status}"
    server.end()


def a_token_ends_when_it_is_removed_or_over(place: Place):
    server = Server(place)
    token, soon = place.token("user", "ann"), place.hone("token", "add", "bob", "--expires", "2s")[0].strip()
    check(server.ask("/v1/me", token), 200, "a new one, at once")
    place.hone("token", "rm", "ann")
    check(server.ask("/v1/me", token), 401, "a removed one, at once")
    wait_for("its end", lambda: server.ask("/v1/me", soon) in (401, 429))
    server.end()


def tokens_are_managed_over_http_by_admins(place: Place):
    admin = place.token("admin")
    server = Server(place)
    auth = {"Authorization": "Bearer " + admin}
    status, _, text = server.send("POST", "/v1/tokens", json.dumps({"user": "eve", "role": "viewer"}), auth)
    check(status, 201, text)
    token = json.loads(text)["token"]
    check(server.ask("/v1/me", token), 200, "the new one")
    rows = json.loads(server.send("GET", "/v1/tokens", headers=auth)[2])["tokens"]
    assert token not in json.dumps(rows) and not any("sha256" in row for row in rows), rows
    eve = next(row["id"] for row in rows if row["user"] == "eve")
    check(server.send("DELETE", f"/v1/tokens/{eve}", headers=auth)[0], 200, "its removal")
    check(server.ask("/v1/me", token), 401, "removed")
    check(server.send("DELETE", f"/v1/tokens/{eve}", headers=auth)[0], 404, "once more")
    for body in ('{"user":"a b"}', '{"user":"x","role":"root"}', '{"user":"x","expires_s":-1}', '[]', '{', '{}'):
        check(server.send("POST", "/v1/tokens", body, auth)[0], 400, body)
    own = next(row["id"] for row in rows if row["role"] == "admin" and row["kind"] == "token")
    check(server.send("DELETE", f"/v1/tokens/{own}", headers=auth)[0], 200, "the own one, which is the last")
    check(server.ask("/v1/me", admin), 401, "out")
    check(server.ask("/v1/tokens", place.token("admin")), 200, "who is at the machine makes another")
    server.end()


def a_link_opens_one_session_once(place: Place):
    server = Server(place)
    check(server.send("HEAD", server.link)[0], 200, "a look at it")
    status, headers, text = server.send("GET", server.link + "?experiment=3")
    check(status, 200, text)
    assert "url=/#/e/3" in text and "<script" not in text, text
    assert headers["Content-Security-Policy"].startswith("default-src 'none'"), headers
    assert headers["Cache-Control"] == "no-store" and headers["Referrer-Policy"] == "no-referrer", headers
    cookie = headers["Set-Cookie"]
    assert re.fullmatch(r"hone-\w{8}=hone_[\w-]{43}; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000", cookie), cookie
    check(server.ask("/v1/me", Cookie=cookie.split(";")[0]), 200, "the session")
    status, headers, text = server.send("GET", server.link)
    check((status, headers["Set-Cookie"]), (401, None), "the link once more")
    assert "a link works once" in text, text
    check(server.ask("/open/" + WRONG), 401, "a link that never was")
    check(server.ask("/open/%3Cscript%3E"), 401, "a link that never could be")
    check(server.ask(server.link + "?experiment=x"), 400, "not a number")
    server.end()


def hone_open_prints_another_link(place: Place):
    _, err = place.hone("open", code=1)
    assert "nothing serves" in err, err
    server = Server(place)
    link = place.hone("open", "--print")[0].strip()
    assert link.startswith(server.origin + "/open/hone_"), link
    cookie, _ = server.enter(urllib.parse.urlsplit(link).path)
    me = json.loads(server.send("GET", "/v1/me", headers={"Cookie": cookie})[2])
    check(me["role"], "admin", "the owner of the home")
    _, err = place.hone("open", "nothing", code=1)
    assert "no experiment" in err, err
    server.end()


def sessions_survive_a_restart_and_end_on_demand(place: Place):
    server = Server(place)
    cookie, _ = server.enter()
    used = server.link
    server.end()
    server = Server(place)
    check(server.ask("/v1/me", Cookie=cookie), 200, "after a restart")
    check(server.ask(used), 401, "a used link after a restart")
    rows = json.loads(place.hone("token", "ls", "--json")[0])
    assert [row["kind"] for row in rows].count("session") == 1, rows
    other, _ = server.enter()
    check(server.ask("/v1/logout", None, "POST", Cookie=other, Origin=server.origin), 200, "logout")
    check(server.ask("/v1/me", Cookie=other), 401, "after it")
    check(server.ask("/v1/me", Cookie=cookie), 200, "another session")
    place.hone("token", "rm", str(next(row["id"] for row in rows if row["kind"] == "session")))
    check(server.ask("/v1/me", Cookie=cookie), 401, "a session that was removed")
    server.end()


def a_login_with_a_token_goes_with_the_token(place: Place):
    token = place.token("viewer", "vera")
    server = Server(place)
    status, headers, text = server.send("POST", "/v1/login", json.dumps({"token": token}))
    check((status, json.loads(text)), (200, {"user": "vera", "role": "viewer"}), "login")
    cookie = headers["Set-Cookie"].split(";")[0]
    assert token not in cookie, "the cookie is another secret"
    check(server.ask("/v1/me", Cookie=cookie), 200, "the session")
    check(server.ask("/v1/tokens", Cookie=cookie), 403, "no more than the token may")
    place.hone("token", "rm", "vera")
    check(server.ask("/v1/me", Cookie=cookie), 401, "without the token")
    for body in ("", "{}", "[]", "nonsense", '{"token":7}'):
        check(server.send("POST", "/v1/login", body)[0], 400, body)
    check(server.send("POST", "/v1/login", json.dumps({"link": WRONG}))[0], 401, "a wrong link")
    check(server.send("POST", "/v1/login", json.dumps({"link": "x" * 5000}))[0], 413, "a long one")
    server.end()


def pages_of_others_may_not_use_the_cookie(place: Place):
    server = Server(place)
    cookie, _ = server.enter()
    mine, body = {"Cookie": cookie}, b'{"paused":true}'

    def post(**headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return server.send("POST", "/v1/queue", body, mine | headers)[0]

    check(post(), 403, "no word of where it comes from")
    check(post(Origin="http://evil.example"), 403, "another site")
    check(post(Origin="null"), 403, "no site")
    check(post(Origin=f"http://{server.host}:1"), 403, "another port of this machine")
    check(post(Sec_Fetch_Site="cross-site"), 403, "another site, by its browser")
    check(post(Sec_Fetch_Site="same-site"), 403, "another port, by its browser")
    check(post(Origin=server.origin, Sec_Fetch_Site="cross-site"), 403, "contradictions")
    check(post(Origin=server.origin), 200, "our page")
    check(post(Sec_Fetch_Site="same-origin"), 200, "our page, by its browser")
    check(server.send("GET", "/v1/me", headers=mine | {"Sec-Fetch-Site": "cross-site"})[0], 403, "a picture there")
    server.end()


def names_that_were_made_to_point_here_are_refused(place: Place):
    token = place.token("admin")
    server = Server(place)
    for host in ("evil.example", "evil.example:" + server.port, "127.0.0.1.evil.example", "localhost.evil.example",
                 "10.1.2.3", "127.0.0.1@evil.example", "[::2]"):
        check(server.ask("/v1/me", token, Host=host), 403, host)
        check(server.ask(server.link, None, Host=host), 403, host)
    for host in (f"127.0.0.1:{server.port}", f"localhost:{server.port}", "[::1]:7470"):
        check(server.ask("/v1/me", token, Host=host), 200, host)
    server.enter()  # the link was not used up
    server.end()


def who_guesses_has_to_wait(place: Place):
    token = place.token("viewer")
    server = Server(place)
    wrong = {"Authorization": "Bearer " + WRONG}
    answers = [server.send("GET", "/v1/me", headers=wrong) for _ in range(10)]
    while answers[-1][0] == 401 and len(answers) < 100:  # one more is allowed now and then
        answers.append(server.send("GET", "/v1/me", headers=wrong))
    assert [answer[0] for answer in answers[:10]] == [401] * 10, [answer[0] for answer in answers]
    late = [answer for answer in answers if answer[0] == 429]
    assert late and 1 <= int(late[0][1]["Retry-After"]) <= 60, [answer[0] for answer in answers]
    assert json.loads(late[0][2])["code"] == "rate_limited", late[0][2]
    check(server.ask("/v1/me", token), 200, "a right one meanwhile")
    cookie, _ = server.enter()
    check(server.ask("/v1/me", Cookie=cookie), 200, "and a link and its session")
    name = cookie.split("=")[0]
    assert server.ask("/v1/me", Cookie=f"{name}={WRONG}") in (401, 429)
    server.end()


# ---- stock clients on this machine ----

CLIENT = """
import http.client, sys
connection = http.client.HTTPConnection(sys.argv[1], int(sys.argv[2]), timeout=60)
connection.request("POST", "/write?db=x", b"m v=1")
print(connection.getresponse().status)
"""


def write_as(server, user, host=None):
    """The status that a program of this user gets, without a token."""
    done = subprocess.run([sys.executable, "-c", CLIENT, host or server.host, server.port], user=user, cwd="/",
                          stdout=subprocess.PIPE, timeout=60, check=True)
    return int(done.stdout)


def need_root():
    if os.geteuid() != 0:
        raise Skip("only root can run programs of other users")


def root_needs_a_token_unless_it_is_trusted(place: Place):
    need_root()
    server = Server(place)
    status, _, text = server.send("POST", "/write?db=x", b"m v=1")
    check(status, 401, "root")
    assert "--trust-local" in json.loads(text)["error"], text
    server.end()
    server = Server(place, "--trust-local")
    check(write_as(server, None), 204, "root, trusted")
    check(server.ask("/v1/me"), 401, "but only as a stock client")
    server.end()


def programs_of_other_users_need_a_token(place: Place):
    need_root()
    server = Server(place, "--trust-local")
    check(write_as(server, None), 204, "our own")
    check(write_as(server, NOBODY), 401, "nobody's")
    server.end()


def a_server_of_an_ordinary_user_knows_its_own_programs(place: Place):
    need_root()
    os.chmod(place.folder, 0o777)
    user = 12345
    process = place.start("serve", "--port", "0", "--json", user=user, group=user, extra_groups=[])
    place.started.append(process)
    wait_for("its address", lambda: place.read("out").endswith("\n") or process.poll() is not None)
    if process.poll() is not None:
        raise Skip("another user cannot run it here")
    address = json.loads(place.read("out"))["address"]
    server = type("Peer", (), {"host": address.split(":")[0], "port": address.split(":")[1]})
    check(write_as(server, user), 204, "its own")
    check(write_as(server, None), 401, "root's")
    check(write_as(server, NOBODY), 401, "nobody's")
    process.terminate()
    assert process.wait(60) == 0


def the_kernel_knows_ipv6_too(place: Place):
    if not os.path.exists("/proc/net/if_inet6") or "00000000000000000000000000000001" not in open("/proc/net/if_inet6").read():
        raise Skip("no IPv6 here")
    server = Server(place, "--address", "::1", "--trust-local")
    check(write_as(server, None), 204, "::1")
    server.end()


def what_was_forwarded_needs_a_token(place: Place):
    server = Server(place, "--trust-local")
    check(server.ask("/v1/ingest"), 200, "our own")
    for name in ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via", "x-forwarded-proto"):
        check(server.send("GET", "/v1/ingest", headers={name: "1"})[0], 401, name)
    check(server.send("GET", "/v1/ingest", headers={"Origin": server.origin})[0], 401, "a page")
    check(server.send("GET", "/v1/ingest", headers={"Sec-Fetch-Site": "none"})[0], 401, "a browser")
    server.end()


# ---- other addresses ----


def other_addresses_need_tls_or_a_proxy(place: Place):
    for words in (("--address", "0.0.0.0"), ("--address", "::"), ("--address", "10.1.2.3")):
        _, err = place.hone("serve", "--port", "0", *words, code=1)
        assert "this machine alone" in err and "--behind-proxy" in err, err
    _, err = place.hone("serve", "--port", "0", "--address", "nonsense", code=1)
    assert "'nonsense' is no address" in err, err
    _, err = place.hone("serve", "--tls", place.write("a.pem", "nonsense"), "--port", "0", code=2)
    assert "needs two values: --tls CERT KEY" in err, err
    _, err = place.hone("serve", "--port", "0", "--tls", place.path("a.pem"), place.path("a.pem"), code=1)
    assert "key" in err, err
    _, err = place.hone("serve", "--port", "0", "--tls", "/nowhere", "/nowhere", code=2)
    assert "/nowhere" in err, err
    _, err = place.hone("serve", "--behind-proxy", "https://x/", code=2)
    assert "name of a server" in err, err


def behind_a_proxy_its_name_is_ours_and_everybody_needs_a_token(place: Place):
    server = Server(place, "--address", "0.0.0.0", "--behind-proxy", "hone.example.org", "--trust-local")
    server.host = "127.0.0.1"
    assert server.says["link"].startswith("https://hone.example.org/open/hone_"), server.says
    assert place.hone("open", "--print")[0].startswith("https://hone.example.org/open/hone_")
    check(server.ask("/v1/ingest"), 401, "no exception for own programs")
    cookie, whole = server.enter()
    assert whole.endswith("; Secure"), whole
    ours = {"Cookie": cookie, "Host": "hone.example.org", "X-Forwarded-For": "10.0.0.1"}
    check(server.send("GET", "/v1/me", headers=ours)[0], 200, "its name")
    for origin, status in (("https://hone.example.org", 200), ("https://evil.example", 403)):
        check(server.send("POST", "/v1/queue", b'{"paused":false}', ours | {"Origin": origin})[0], status, origin)
    check(server.ask("/v1/me", Cookie=cookie, Host="evil.example"), 403, "another name")
    server.end()


def over_tls_the_cookie_stays_there(place: Place):
    cert, key = place.path("cert.pem"), place.path("key.pem")
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                           "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                           "-keyout", key, "-out", cert], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert made.returncode == 0, "openssl"
    server = Server(place, "--tls", cert, key)
    context = ssl.create_default_context(cafile=cert)
    server.connect = lambda source=None: http.client.HTTPSConnection(server.host, int(server.port), timeout=60,
                                                                     context=context)
    assert server.says["link"].startswith(f"https://127.0.0.1:{server.port}/open/"), server.says
    assert place.hone("open", "--print")[0].startswith(f"https://127.0.0.1:{server.port}/open/")
    cookie, whole = server.enter()
    assert whole.endswith("; Secure"), whole
    check(server.ask("/v1/me", Cookie=cookie), 200, "the session")
    server.end()


# ---- what is kept ----


def no_secret_is_kept_or_logged(place: Place):
    token = place.token("admin")
    server = Server(place)
    cookie, _ = server.enter()
    server.ask("/v1/me", token)
    server.guess("GET", "/v1/me", WRONG)
    server.end()
    secrets = [token, cookie.split("=", 1)[1], server.link.rsplit("/", 1)[1], WRONG]
    for folder, _, names in os.walk(place.home):
        for name in filter(lambda name: name != "hone.sock", names):
            with open(os.path.join(folder, name), "rb") as f:
                text = f.read()
            assert not any(secret.encode() in text for secret in secrets), name
    said = place.read("err") + place.read("out").replace(server.says["link"], "")
    assert not any(secret in said for secret in secrets), said


def each_kind_of_wrong_credential_gets_its_own_sentence(place: Place):
    server = Server(place)
    said = {}
    for what, words in (("none", None), ("ours", "Bearer " + WRONG), ("foreign", "Bearer secret")):
        status, _, text = server.send("GET", "/v1/me", None, {"Authorization": words} if words else {})
        assert status == 401, (what, status)
        said[what] = json.loads(text)["error"]
    assert said["none"].startswith("this needs a token"), said
    assert said["ours"].startswith("this token is not known here"), said
    assert said["foreign"].startswith("what was sent as a token is none of Hone's"), said


main(each_kind_of_wrong_credential_gets_its_own_sentence, every_route_asks_for_its_role, all_of_v1_and_of_the_stock_clients_needs_a_role,
     a_token_comes_in_the_forms_of_stock_clients, who_only_reads_changes_nothing, a_token_ends_when_it_is_removed_or_over,
     tokens_are_managed_over_http_by_admins, a_link_opens_one_session_once, hone_open_prints_another_link,
     sessions_survive_a_restart_and_end_on_demand, a_login_with_a_token_goes_with_the_token,
     pages_of_others_may_not_use_the_cookie, names_that_were_made_to_point_here_are_refused, who_guesses_has_to_wait,
     root_needs_a_token_unless_it_is_trusted, programs_of_other_users_need_a_token,
     a_server_of_an_ordinary_user_knows_its_own_programs, the_kernel_knows_ipv6_too, what_was_forwarded_needs_a_token,
     other_addresses_need_tls_or_a_proxy, behind_a_proxy_its_name_is_ours_and_everybody_needs_a_token,
     over_tls_the_cookie_stays_there, no_secret_is_kept_or_logged)
