#!tests/transcript
# one line each: what is there, and what is done about what is not
$ hone doctor | awk '{ print $1 }' | tr '\n' ' '
home database file disk engine cpus memory cgroups counters energy gpus git python systemd lever lever lever lever lever[..]
$ hone doctor --json | tr '{' '\n' | grep -c '"verdict":"\(ok\|missing\)"'
19
# how a running trial can be changed from outside
$ hone doctor | grep '^lever' | awk '{ print $2 }' | tr '\n' ' '
cpus cpu_quota memory nice frequency[..]
$ hone doctor | grep -c '^lever cpus  *ok  *\(affinity\|cgroup v[12]\)'
1
# where energy comes from, and counters or why there are none
$ HONE_POWERCAP=/nonexistent hone doctor | grep '^energy'
energy [..]missing[..]processors estimated: [..] W idle, [..] J per CPU second ([..]
# a power meter is asked once: what it says, or why it does not help
> meter.py
| import http.server, json
| class Meter(http.server.BaseHTTPRequestHandler):
|     def do_GET(self):
|         self.send_response(200 if self.path == "/status" else 404)
|         self.end_headers()
|         self.wfile.write(json.dumps({"outlets": [{"power_w": 151.5}]}).encode())
|     def log_message(self, *words): pass
| server = http.server.HTTPServer(("127.0.0.1", 0), Meter)
| open("port", "w").write(f"{server.server_port}\n")
| server.serve_forever()
$ python3 meter.py & until [ -s port ]; do sleep 0.05; done
$ HONE_PDU=http://127.0.0.1:$(cat port)/status HONE_PDU_PATH=outlets.0.power_w hone doctor | grep '^energy'
energy [..]ok [..]; the power meter at http://127.0.0.1:[..]/status says 151.5 W
$ HONE_PDU=http://127.0.0.1:$(cat port)/status HONE_PDU_PATH=outlets.7.power_w hone doctor | grep -o '^energy  *missing\|does not help: .*'
energy [..]missing
does not help: [..]7[..]
$ HONE_PDU=http://127.0.0.1:$(cat port)/other hone doctor | grep -o 'does not help: .*'
does not help: it answers with status 404
$ HONE_PDU=http://127.0.0.1:1/x hone doctor 2>&1 | grep -o 'does not help: .*'
does not help: connection refused
$ HONE_PDU=ftp://meter/x hone doctor 2>&1 | grep -o 'does not help: .*'
does not help: HONE_PDU: 'ftp://meter/x' is not like http://HOST:PORT/PATH
$ hone doctor | grep -c '^counters  *\(ok\|missing\) '
1
# a database that is none is wrong
$ mkdir h && echo rubbish > h/hone.db && hone doctor --home h | grep database
database [..]wrong [..]
$ hone doctor --home h > /dev/null
? 1
