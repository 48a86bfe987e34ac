#!tests/transcript
# SPDX-License-Identifier: MIT
# what only the store has is exported: the times of lines that came without one, what was sent from
# outside, nanoseconds, times before 1970
> plain.py
| import json, os, subprocess, time
| def heard(): # how much of each; a step ends when it was, so that each has a time of its own
|     shown = subprocess.run(["hone", "show", os.environ["HONE_TRIAL"], "--json"], stdout=subprocess.PIPE).stdout
|     return {metric["metric"]: metric["count"] for metric in json.loads(shown)["metrics"]}
| with open(os.environ["HONE_METRICS"], "a", buffering=1) as metrics:
|     for step in (1, 2, 3):
|         metrics.write(f"train loss={3 - step},step={step}i\n")
|         print(f"step {step} speed=0.{step}", flush=True)
|         while heard() != {"loss": step, "speed": step}: time.sleep(0.02)
$ hone run --name plain --minimize loss -- python3 plain.py > out; hone export plain --iterations | sed 's/,20[^,]*Z,[0-9.e-]*,/,TIME,ELAPSED,/'
trial,attempt,step,time,elapsed_s,loss,speed,generation
1.1,1,1,TIME,ELAPSED,2,,0
1.1,1,2,TIME,ELAPSED,1,,0
1.1,1,3,TIME,ELAPSED,0,,0
1.1,1,1,TIME,ELAPSED,,0.1,0
1.1,1,2,TIME,ELAPSED,,0.2,0
1.1,1,3,TIME,ELAPSED,,0.3,0
$ hone export plain --summary | cut -d, -f1,7-9 | sed 's/,[0-9.]*[1-9][0-9.]*/,SECONDS/g'
trial,seconds_per_step,first_seconds_per_step,last_seconds_per_step
1.1,SECONDS,SECONDS,SECONDS
# the metrics that one wants
$ hone export plain --metrics --metric speed | cut -d, -f1-3,5
trial,metric,step,value
1.1,speed,1,0.1
1.1,speed,2,0.2
1.1,speed,3,0.3
$ hone export plain --metrics -m speed -m loss --jsonl | cut -d'"' -f4,8 | uniq -c | tr -s ' '
 3 1.1"loss
 3 1.1"speed
$ hone export plain --metrics --follow --metric loss | cut -d, -f1-3,5
trial,metric,step,value
1.1,loss,1,2
1.1,loss,2,1
1.1,loss,3,0
$ hone export plain --metrics --metric loss --metric los -o los.csv; ls los.csv
hone: no trial has told of a metric 'los'
ls: cannot access 'los.csv': No such file or directory
? 2
$ hone export plain --metric loss
hone export: --metric goes with --metrics only
'hone help export' tells more
? 2
$ hone export plain --summary --system
hone export: --system goes with --metrics only
'hone help export' tells more
? 2
# figures of its processes and of the machine, in the time of the experiment
$ hone run --name busy --set metrics.system=0.1s --minimize loss -- sh -c 'echo loss=1; for what in attempt.processes memory_bytes load; do until hone export busy --metrics --system | grep -q system/$what,; do sleep 0.1; done; done; echo loss=2' > out; hone export busy --metrics --system > all; hone export busy --metrics | cut -d, -f1-3,5
trial,metric,step,value
2.1,loss,0,1
2.1,loss,1,2
$ grep -c '^2.1,system/attempt.processes,,20.*Z,[0-9]' all | sed 's/^[1-9][0-9]*$/some/'; grep -c '^machine,system/memory_bytes,,20.*Z,[0-9]' all | sed 's/^[1-9][0-9]*$/some/'; cut -d, -f1 all | uniq
some
some
trial
2.1
machine
$ hone show busy.1 | grep ^figures
figures      [..] of its processes, [..] values: 'hone export 2 --metrics --system'
$ hone export busy --metrics --metric system/load --metric loss > some; cut -d, -f1,2 some | uniq
trial,metric
2.1,loss
machine,system/load
$ hone export busy --metrics --system --follow | tail -n +2 | sort > followed; tail -n +2 all | sort | diff - followed > /dev/null || diff all followed | head
$ hone export busy --metrics --system --jsonl | grep -c '"trial":"machine","metric":"system/load","step":null,"time":"20' | sed 's/^[1-9][0-9]*$/some/'
some
# those of the time before it are not of it
$ hone run --name after --minimize loss -- echo loss=1 > out; hone export after --metrics --system --follow | grep -c "$(grep machine,system/load, all | head -1)"
0
? 1
# from outside
> send.py
| import json, sys, urllib.request
| url = "http://" + json.load(open("served"))["address"] + "/write?db=far"
| head = {"Authorization": "Token " + open("token").read().strip()}
| urllib.request.urlopen(urllib.request.Request(url, data=open("lines", "rb").read(), headers=head))
> lines
| train,run=a loss=3,acc=0.5,step=1i 1700000000000000001
| train,run=a loss=2,acc=0.6,step=2i 1700000000000000002
| train,run=a loss=1,step=3i -2000
$ hone token add me > token; hone serve --port 0 --json > served 2> log & echo $! > pid; until [ -s served ]; do sleep 0.02; done; python3 send.py
$ hone export far --metrics
trial,metric,step,time,value
4.1,train.loss,1,2023-11-14T22:13:20.000000001Z,3
4.1,train.loss,2,2023-11-14T22:13:20.000000002Z,2
4.1,train.loss,3,1969-12-31T23:59:59.999998Z,1
4.1,train.acc,1,2023-11-14T22:13:20.000000001Z,0.5
4.1,train.acc,2,2023-11-14T22:13:20.000000002Z,0.6
4.1,train.step,1,2023-11-14T22:13:20.000000001Z,1
4.1,train.step,2,2023-11-14T22:13:20.000000002Z,2
4.1,train.step,3,1969-12-31T23:59:59.999998Z,3
$ hone export far --metrics --jsonl -m train.loss | tail -1
{"trial":"4.1","metric":"train.loss","step":3,"time":"1969-12-31T23:59:59.999998Z","value":1}
$ hone export far --iterations
trial,attempt,step,time,elapsed_s,train.loss,train.acc,train.step,generation
4.1,0,1,2023-11-14T22:13:20.000000001Z,[..],3,0.5,1,0
4.1,0,2,2023-11-14T22:13:20.000000002Z,[..],2,0.6,2,0
4.1,0,3,1969-12-31T23:59:59.999998Z,[..],1,,3,0
# at a server all of it is the same
> at.sh
| HONE_SERVER=http://$(python3 -c 'import json; print(json.load(open("served"))["address"])') HONE_TOKEN=$(cat token) exec hone "$@"
$ sh at.sh export busy --metrics --system | cmp - all; sh at.sh export busy --metrics --system --follow | tail -n +2 | sort | cmp - followed
$ sh at.sh export busy --metrics --metric system/load --metric loss | cmp - some; sh at.sh export far --iterations | wc -l; kill $(cat pid); wait
4
