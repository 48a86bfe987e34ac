#!tests/transcript
# SPDX-License-Identifier: MIT
# every command against a server: what it is asked there is what it would be at home
> train.sh
| echo "step 1 loss=0.5"
| echo "warm" >&2
| while [ -e "$ROOT_HOLD/hold$1" ]; do sleep 0.02; done
| echo "step 2 loss=0.$1"
> spec.yaml
| command: sh train.sh {x}
| params: {x: [1, 2, 3]}
| objective: loss
| search: {algorithm: grid, parallel: 1}
| limits: {grace: 1s}
> up.sh
| # the server, on the port that it had before
| rm -f served; hone serve --home srv --port $(cat port 2> /dev/null || echo 0) --json > served 2> log & echo $! > pid
| until [ -s served ]; do sleep 0.02; done
| python3 -c 'import json; a = json.load(open("served"))["address"]; open("url", "w").write("http://" + a); open("port", "w").write(a.rsplit(":", 1)[1])'
> as.sh
| # hone against our server, by the token of the user who is named
| user=$1; shift; HONE_SERVER=$(cat url) HONE_TOKEN=$(cat token.$user) exec hone "$@"
> ask.py
| # ask.py METHOD ADDRESS…: how the server answers a browser that keeps the cookie
| import http.client, os, sys
| at = open("url").read()
| server = http.client.HTTPConnection(at[len("http://"):])
| for method, address in zip(sys.argv[1::2], sys.argv[2::2]):
|     headers = {"Origin": at, "Sec-Fetch-Site": "same-origin"}
|     if os.path.exists("jar"): headers["Cookie"] = open("jar").read()
|     server.request(method, address.replace(at, ""), None, headers)
|     answer = server.getresponse(); text = answer.read()
|     print(answer.status, text[:30].decode() if address == "/v1/me" else "")
|     cookie = answer.headers["Set-Cookie"]
|     if cookie: open("jar", "w").write(cookie.split(";")[0])
$ ROOT_HOLD=$PWD sh up.sh; hone token add ada --role admin --home srv > token.ada; hone token add bob --home srv > token.bob; hone token add vic --role viewer --home srv > token.vic
# ---- tokens: an admin's business, there as here
$ sh as.sh ada token ls > there; hone token ls --home srv > here; cut -c 1-24 there | grep -v link
id  user  role    kind  [..]
[..]  ada   admin   token [..]
[..]  bob   user    token [..]
[..]  vic   viewer  token [..]
$ sh as.sh ada token add eve --role viewer > token.eve; sh as.sh eve ls
no experiments yet in [..]/srv
$ sh as.sh ada token add eve --expires 90d --json
{"token":"hone_[..]","user":"eve","role":"user","expires":"20[..]Z"}
$ sh as.sh ada token add 'a b'
hone token: 'a b' is no name of a user: 1 to 64 letters, digits and _ . @ + -
'hone help token' tells more
? 2
$ sh as.sh ada token rm eve; sh as.sh eve ls
2 removed
hone: http://[..] does not know the token that was sent: it is mistyped, has ended, was removed, or is another server's ('hone token add' there makes one)
? 1
$ sh as.sh ada token rm eve
hone: no token eve: 'hone token ls' lists them
? 1
$ sh as.sh ada token add tim > /dev/null; sh as.sh ada token rm $(sh as.sh ada token ls --json | python3 -c 'import json,sys; print([t["id"] for t in json.load(sys.stdin) if t["user"] == "tim"][0])') --json
{"removed":1}
$ sh as.sh bob token ls
hone: this needs the role admin: bob has the role user
? 1
$ sh as.sh bob token add bob --role admin
hone: this needs the role admin: bob has the role user
? 1
$ sh as.sh bob token rm ada; sh as.sh ada token ls --json | grep -c '"ada"'
hone: this needs the role admin: bob has the role user
1
# ---- a link is for its token's role, works once, and its session ends with the token
$ sh as.sh vic open > link; grep -c '^http://127.0.0.1:[0-9]*/open/hone_' link; python3 ask.py GET $(cat link) GET $(cat link)
1
200[..]
401[..]
$ python3 ask.py GET /v1/me GET /v1/tokens POST /v1/links
200 {"user":"vic","role":"viewer",
403[..]
403[..]
$ sh as.sh ada token rm vic > /dev/null; python3 ask.py GET /v1/me; hone token add vic --role viewer --home srv > token.vic
401 {"error"[..]
$ sh as.sh vic open 77
hone: no experiment 77 in [..]
? 1
# ---- logs -f: what is new, each byte once, also when the server is killed and comes back
$ touch hold1 hold2; sh as.sh bob submit spec.yaml --name long
experiment 1 is submitted: 'hone attach 1' shows it
$ until sh as.sh vic ls 1 | grep -q '1\.1  running  *0.5'; do sleep 0.02; done; touch followed; sh as.sh vic logs -f 1.1 > followed 2> awaited & follower=$!; until [ "$(wc -l < followed)" = 2 ]; do sleep 0.02; done; kill -9 $(cat pid); rm hold1; ROOT_HOLD=$PWD sh up.sh; wait $follower; echo $?; cat followed
0
step 1 loss=0.5
warm
step 2 loss=0.1
$ until sh as.sh vic ls 1 | grep -q '1\.2  running  *0.5'; do sleep 0.02; done; sh as.sh vic logs -f --stdout 1.2 > followed & follower=$!; until [ -s followed ]; do sleep 0.02; done; rm hold2; wait $follower; echo $?; cat followed
0
step 1 loss=0.5
step 2 loss=0.2
$ until sh as.sh vic show 1 | grep -q '^state *finished'; do sleep 0.02; done; sh as.sh vic logs -f -n 1 --stdout last; sh as.sh vic logs -f --attempt 1 --stderr 1.3
step 2 loss=0.3
warm
$ sh as.sh vic logs -f 1
hone: '1' is an experiment with 3 trials; name one of them, as in 1.1, or the newest as 1.last
? 1
$ sh as.sh vic logs -f 1.1 --attempt 2
hone: trial 1.1 has 1 attempt: --attempt 2 is not there
? 1
$ sh as.sh vic logs -f 1.9
hone: [..]
? 1
$ sh as.sh vic logs -f 1.1 --json
hone logs: --json and --follow do not go together
'hone help logs' tells more
? 2
# ---- rerun: the server has the code and the parameters
$ sh as.sh bob rerun 1.2
experiment 2 started: long-rerun
trial 2.1 completed after [..]: 0.2 (best so far)  x=2
experiment 2 'long-rerun' finished: 1 completed

best trials
trial  loss  [..]
  2.1   0.2  [..]

results are at http://[..]
$ sh as.sh vic show 2 | grep -E '^(rerun of|owner)'; sh as.sh vic show 2.1 --json > again; sh as.sh vic show 1.2 --json > first; python3 -c 'import json; a, b = json.load(open("first")), json.load(open("again")); print(a["params"] == b["params"], a["value"] == b["value"])'
owner        bob
rerun of     1.2
True True
$ sh as.sh vic ls; sh as.sh vic ls --json | grep -o '"owner":"[a-z]*"' | sort -u
experiment  name        owner  state     trials  done  failed  best  [..]
         2  long-rerun  bob    finished       1     1       0   0.2  [..]
         1  long        bob    finished       3     3       0   0.1  [..]
"owner":"bob"
$ sh as.sh vic submit spec.yaml
hone: this needs the role user: vic has the role viewer
? 1
$ sh as.sh vic rerun 1.2
hone: this needs the role user: vic has the role viewer
? 1
$ sh as.sh bob rerun 1.9
hone: experiment 1 (long) has no trial 9: 'hone ls 1' lists them
? 1
$ sh as.sh bob rerun 1
hone: '1' is an experiment with 3 trials; name one of them, as in 1.1, or the newest as 1.last
? 1
# ---- the whole queue: an admin's
$ sh as.sh bob pause --all
hone: this needs the role admin: bob has the role user
? 1
$ sh as.sh ada pause --all; sh as.sh vic queue --json | grep -o '"paused":true'; sh as.sh ada resume --all; sh as.sh vic queue --json | grep -o '"paused":true'
the queue is paused: 'hone resume --all' lets it go on
"paused":true
the queue goes on
? 1
# ---- stop of what has ended says so, there and here
$ sh as.sh bob stop 1
hone: experiment 1 has finished already
? 1
$ hone stop 1 --home srv
hone: experiment 1 has finished already
? 1
# ---- import: the files are here, the experiment there; bit by bit as at home
> grid.csv
| lr,layers,acc
| 0.1,2,0.9300000000000001
| 0.30000000000000004,3,0.5
| 1e-300,4,nan
$ mkdir runs && cp -r $ROOT/tests/tfevents/torch runs/a && cp -r $ROOT/tests/tfevents/tf2 runs/b; hone import runs --objective hparam/acc:maximize --home local > told.here; sh as.sh bob import runs --objective hparam/acc:maximize > told.there; sed 's/experiment 1/experiment 3/' told.here | cmp - told.there; tail -n 1 told.there
experiment 3 'runs': 5 trials imported from TensorBoard's event files in runs, 3 parameters
$ for what in --csv --jsonl '--csv --metrics' '--jsonl --metrics'; do hone export runs --home local $what | sed 's/^1\./3./; s/"1\./"3./g; s/"experiment":1/"experiment":3/' > a; sh as.sh vic export 3 $what > b; cmp a b; wc -l < b; done
6
5
123
122
$ hone import grid.csv --objective acc:maximize --home local > /dev/null; sh as.sh bob import grid.csv --objective acc:maximize --json
{"experiment":4,"name":"grid","trials":3,"params":2}
$ hone export 2 --csv --home local | sed 's/^2\./4./' > a; sh as.sh vic export 4 --csv > b; cmp a b; sh as.sh vic ls | head -3
experiment  name        owner  state     trials  done  failed  best  [..]
         4  grid        bob    finished       3     [..]
         3  runs        bob    finished       5     [..]
$ sh as.sh vic import grid.csv --objective acc
hone: this needs the role user: vic has the role viewer
? 1
$ sh as.sh bob import grid.csv --objective acc -- true
hone import: a COMMAND is for a home: its code would not be at the server
'hone help import' tells more
? 2
$ sh as.sh bob import grid.csv
hone: [..]objective[..]
? 2
# ---- export --follow: each sample once, as it comes, also when the server is killed and comes back
> log.sh
| n=1; while [ $n -le 3 ]; do echo "step $n train/loss=0.$n acc=$n"; n=$((n + 1)); done
| while [ ! -e "$ROOT_HOLD/go" ]; do sleep 0.02; done
| echo "step 4 train/loss=nan acc=4"
$ touch out; sh as.sh bob submit --name curves --set code=. --minimize acc --param x=1..9:int --trials 1 --set search.seed=1 -- sh log.sh; sh as.sh vic export 5 --metrics --follow > out 2> awaited & exporter=$!; until grep -qs 'acc,3,' out; do sleep 0.02; done; kill -9 $(cat pid); touch go; ROOT_HOLD=$PWD sh up.sh; wait $exporter; echo $?; cut -d, -f1-3,5 out | sort
experiment 5 is submitted: 'hone attach 5' shows it
0
5.1,acc,1,1
5.1,acc,2,2
5.1,acc,3,3
5.1,acc,4,4
5.1,train/loss,1,0.1
5.1,train/loss,2,0.2
5.1,train/loss,3,0.3
5.1,train/loss,4,nan
trial,metric,step,value
$ sh as.sh vic export 5 --metrics | sort > whole; sort out | cmp - whole; hone export 5 --metrics --follow --home srv | sort | cmp - whole
$ sh as.sh vic export 5 --follow
hone export: --follow goes with --metrics or --influx, to standard output, without --where
'hone help export' tells more
? 2
$ sh as.sh vic export 77 --metrics --follow
hone: no experiment 77 in [..]
? 1
# ---- export --influx: sent from here, as it would be from there; how far it came is kept here; figures
# of the machine come with it, the more the longer it ran
> sink.py
| # an InfluxDB that keeps what it gets in the file lines
| import gzip, http.server
| class Sink(http.server.BaseHTTPRequestHandler):
|     def do_POST(self):
|         body = self.rfile.read(int(self.headers["Content-Length"]))
|         if self.headers["Content-Encoding"] == "gzip": body = gzip.decompress(body)
|         with open("lines", "ab") as lines: lines.write(body)
|         self.send_response(204); self.end_headers()
|     def log_message(self, *args): pass
| server = http.server.HTTPServer(("127.0.0.1", 0), Sink)
| open("sink.new", "w").write(f"http://127.0.0.1:{server.server_port}"); __import__("os").rename("sink.new", "sink")
| server.serve_forever()
$ python3 sink.py & echo $! > sinkpid; until [ -s sink ]; do sleep 0.02; done; sh as.sh vic export 5 --influx $(cat sink) --db x --tags
experiment 5: [..] points sent to http://127.0.0.1:[..] database x with tags; 1 NaN or infinite left out: InfluxDB takes none
$ mv lines there.lines; sh as.sh vic export 5 --influx $(cat sink) --db x --tags --json; test -e lines
{"experiment":5,"to":"http://127.0.0.1:[..] database x with tags","points":0,"points_in_all":[..],"batches":0,"left_out":0,"partly_refused":0}
? 1
$ hone export 5 --home srv --influx $(cat sink) --db x --tags > /dev/null; grep -v source=system lines > here.lines; grep -v source=system there.lines | cmp - here.lines; grep -c 'x=[0-9]' here.lines; kill $(cat sinkpid)
7
$ sh as.sh vic export 5 --influx http://127.0.0.1:1 --db x
hone: http://127.0.0.1:1 database x: [..]
? 1
# ---- what comes from outside is checked: whose it is, and what it is
> send.py
| # a line each on standard input, USER METHOD PATH BODY: the status and the sentence
| import http.client, json, sys
| server = http.client.HTTPConnection(open("url").read()[len("http://"):])
| for line in sys.stdin:
|     user, method, path, body = (line.rstrip("\n").split(" ", 3) + [""])[:4]
|     server.request(method, path, body or None, {"Authorization": "Bearer " + open("token." + user).read().strip()})
|     answer = server.getresponse(); text = answer.read()
|     print(answer.status, json.loads(text).get("error", "fine") if text[:1] == b"{" else len(text))
> samples
| tom PUT /v1/trials/4.1/samples acc value=1
| bob PUT /v1/trials/1.1/samples loss value=1
| bob PUT /v1/trials/4.9/samples acc value=1
| tom POST /v1/experiments/4/gather {}
| vic GET /v1/experiments/5/samples?metric=acc
| vic GET /v1/experiments/5/samples?source=x&metric=acc
| vic GET /v1/experiments/5/samples?source=stdout
| vic GET /v1/experiments/5/samples?source=stdout&metric=acc&limit=0
| vic GET /v1/experiments/5/samples?source=stdout&metric=acc&trial=1&attempt=1&limit=3
| vic GET /v1/experiments/5/samples?source=stdout&metric=none&trial=1&attempt=1
| vic GET /v1/experiments/5/samples?source=stdout&metric=acc&trial=1&attempt=1&from=9223372036854775807
| vic GET /v1/experiments/77/sources
| vic GET /v1/experiments/5/sources?rows=-1
$ hone token add tom --home srv > token.tom; python3 send.py < samples
403 experiment 4 belongs to bob: only its owner or an admin may
409 experiment 1 was not imported: its samples are its own
404 experiment 4 has no trial 9
403 experiment 4 belongs to bob: only its owner or an admin may
400 source: one of metrics, stdout, stderr, outside, system, events is wanted
400 source: one of metrics, stdout, stderr, outside, system, events is wanted
400 metric: the name of one is wanted
400 limit=0: a whole number from 1 to 65536 is wanted
200 72
200 0
200 0
404 no experiment 77 in [..]
400 rows=-1: a whole number from 0 to 9223372036854775807 is wanted
> imports
| bob POST /v1/imports {}
| bob POST /v1/imports []
| bob POST /v1/imports {"spec":{},"trials":{}}
| bob POST /v1/imports {"spec":{},"trials":[],"owner":"ada"}
| bob POST /v1/imports {"spec":{},"trials":[1]}
| bob POST /v1/imports {"spec":{SPEC},"trials":[{"point":[2],"state":"completed","values":[1]}]}
| bob POST /v1/imports {"spec":{SPEC},"trials":[{"point":[],"state":"completed","values":[1]}]}
| bob POST /v1/imports {"spec":{SPEC},"trials":[{"point":[0.5],"state":"running","values":[1]}]}
| bob POST /v1/imports {"spec":{SPEC},"trials":["x"]}
| bob POST /v1/imports {"spec":{SPEC},"trials":[{LONG},{LONG}]}
| vic POST /v1/trials/5.1/rerun {}
| bob POST /v1/trials/4.1/rerun {}
| bob POST /v1/trials/5.1/rerun {"code":"x"}
$ sed 's/SPEC/"command":["(imported)"],"params":{"x":{"type":"float","min":0,"max":1}},"objective":"y"/; s/LONG/"point":[0.5],"state":"completed","values":[1],"started_us":1,"ended_us":9223372036854775807/g' imports | python3 send.py
400 'spec' is missing
400 the body is not a JSON object
400 trials: a list is wanted
400 there is no key 'owner' here
409 import:1:1: no program to run: add 'command: …', or give it after --
409 trial 1: 2 is no value of parameter 'x'
409 trial 1: the point has not 1 numbers
409 trial 1: 'running ' is not how a trial ends
409 trial 1: ' ' is not how a trial ends
201 fine
403 this needs the role user: vic has the role viewer
409 trial 4.1 was not run by Hone: there is nothing to run
400 there is no key 'code' here
