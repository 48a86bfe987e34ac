#!tests/transcript
# SPDX-License-Identifier: MIT
# numbers come back as they were told: integers of 64 bits, nanoseconds; a line that is sent again
# is one point
> ask.py
| import json, sys, urllib.parse, urllib.request
| base = "http://" + json.load(open("served"))["address"]
| head = {"Authorization": "Token " + open("token").read().strip()}
| def ask(path, data=None, accept="application/json"):
|     return urllib.request.urlopen(urllib.request.Request(base + path, data=data, headers={**head, "Accept": accept})).read().decode()
| if sys.argv[1] == "send":
|     ask("/write?db=far", open(sys.argv[2], "rb").read())
| else:
|     print(ask("/query?" + urllib.parse.urlencode({"db": "far", "q": sys.argv[2], "epoch": "ns"}), accept=sys.argv[3]).strip())
> lines
| m,run=a n=9007199254740993i,x=1 1700000000000000001
| m,run=a n=5i,x=2 1700000000000000002
| m,run=a n=-9223372036854775808i,x=3 1700000000000000003
| m,run=a n=9223372036854775807i 1700000000000000004
> again
| m,run=a n=9007199254740995i,x=7 1700000000000000001
| m,run=a n=5i,x=2 1700000000000000002
$ hone token add me > token; hone serve --port 0 --json > served 2> log & echo $! > pid; until [ -s served ]; do sleep 0.02; done; python3 ask.py send lines
$ python3 ask.py query 'SELECT n FROM m' application/json
{"results":[{"statement_id":0,"series":[{"name":"m","columns":["time","n"],"values":[[1700000000000000001,9007199254740993],[1700000000000000002,5],[1700000000000000003,-9223372036854775808],[1700000000000000004,9223372036854775807]]}]}]}
$ python3 ask.py query 'SELECT n FROM m' text/csv
name,tags,time,n
m,,1700000000000000001,9007199254740993
m,,1700000000000000002,5
m,,1700000000000000003,-9223372036854775808
m,,1700000000000000004,9223372036854775807
$ hone export far --metrics -m m.n
trial,metric,step,time,value
1.1,m.n,0,2023-11-14T22:13:20.000000001Z,9007199254740993
1.1,m.n,1,2023-11-14T22:13:20.000000002Z,5
1.1,m.n,2,2023-11-14T22:13:20.000000003Z,-9223372036854775808
1.1,m.n,3,2023-11-14T22:13:20.000000004Z,9223372036854775807
# what is sent again counts once, also for filters and sums
$ python3 ask.py send again; python3 ask.py send again
$ python3 ask.py query 'SELECT count(n), count(x), sum(x) FROM m' application/json
{"results":[{"statement_id":0,"series":[{"name":"m","columns":["time","count","count_1","sum"],"values":[[0,4,3,12]]}]}]}
$ hone export far --metrics
trial,metric,step,time,value
1.1,m.n,0,2023-11-14T22:13:20.000000003Z,-9223372036854775808
1.1,m.n,1,2023-11-14T22:13:20.000000004Z,9223372036854775807
1.1,m.n,2,2023-11-14T22:13:20.000000001Z,9007199254740995
1.1,m.n,3,2023-11-14T22:13:20.000000002Z,5
1.1,m.x,0,2023-11-14T22:13:20.000000003Z,3
1.1,m.x,1,2023-11-14T22:13:20.000000001Z,7
1.1,m.x,2,2023-11-14T22:13:20.000000002Z,2
$ hone export far --iterations --jsonl | head -1
{"trial":"1.1","attempt":0,"step":0,"time":"2023-11-14T22:13:20.000000003Z","elapsed_s":[..],"metrics":{"m.n":-9223372036854775808,"m.x":3},"generation":0,"system":{},"params":{"run":"a"}}
$ until hone show far.1 --json | grep -q '"metric":"m.x","count":3'; do sleep 0.02; done; hone show far.1 --json | tr '{' '\n' | grep -o '"metric":"m.[nx]".*"count":[0-9]*'
"metric":"m.n","count":4
"metric":"m.x","count":3
$ hone ls far --where 'count(m.x) == 3 and sum(m.x) == 12 and last(m.x) == 3' | grep -c 1.1
1
$ hone ls far --where 'count(m.x) > 3'
none fits
# every sample that came, in order: at home, and of a server
$ hone export far --metrics --follow -m m.n > followed; cut -d, -f2,4,5 followed
metric,time,value
m.n,2023-11-14T22:13:20.000000001Z,9007199254740993
m.n,2023-11-14T22:13:20.000000002Z,5
m.n,2023-11-14T22:13:20.000000003Z,-9223372036854775808
m.n,2023-11-14T22:13:20.000000004Z,9223372036854775807
m.n,2023-11-14T22:13:20.000000001Z,9007199254740995
m.n,2023-11-14T22:13:20.000000002Z,5
m.n,2023-11-14T22:13:20.000000001Z,9007199254740995
m.n,2023-11-14T22:13:20.000000002Z,5
> at.sh
| HONE_SERVER=http://$(python3 -c 'import json; print(json.load(open("served"))["address"])') HONE_TOKEN=$(cat token) exec hone "$@"
$ sh at.sh export far --metrics --follow -m m.n | cmp - followed
# after a crash
$ kill -9 $(cat pid); wait; hone export far --metrics --jsonl -m m.n
{"trial":"1.1","metric":"m.n","step":0,"time":"2023-11-14T22:13:20.000000003Z","value":-9223372036854775808}
{"trial":"1.1","metric":"m.n","step":1,"time":"2023-11-14T22:13:20.000000004Z","value":9223372036854775807}
{"trial":"1.1","metric":"m.n","step":2,"time":"2023-11-14T22:13:20.000000001Z","value":9007199254740995}
{"trial":"1.1","metric":"m.n","step":3,"time":"2023-11-14T22:13:20.000000002Z","value":5}
# from a metrics file, while its program runs and afterwards; several values of a step and time are several there
> told.sh
| printf 'train loss=1,n=9007199254740993i,step=1i 1700000000123456789\n' >> $HONE_METRICS
| printf 'train loss=2,n=7i,step=1i 1700000000123456789\n' >> $HONE_METRICS
| until hone show $HONE_TRIAL --json | grep -q '"metric":"n","count":2'; do sleep 0.05; done
| hone export $HONE_EXPERIMENT --metrics > running
$ hone run --name told --minimize loss -- sh told.sh > out; hone export told --metrics; hone export told --metrics | cmp - running
trial,metric,step,time,value
2.1,loss,1,2023-11-14T22:13:20.123456789Z,1
2.1,loss,1,2023-11-14T22:13:20.123456789Z,2
2.1,n,1,2023-11-14T22:13:20.123456789Z,9007199254740993
2.1,n,1,2023-11-14T22:13:20.123456789Z,7
$ hone export told --iterations
trial,attempt,step,time,elapsed_s,loss,n,generation
2.1,1,1,2023-11-14T22:13:20.123456789Z,[..],1,9007199254740993,0
2.1,1,1,2023-11-14T22:13:20.123456789Z,[..],2,7,0
