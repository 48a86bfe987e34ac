#!tests/transcript
# SPDX-License-Identifier: MIT
# asha pauses programs that know nothing of it, and lets the better ones go on; a step ends when it was
# heard of, so that no program is over before asha has judged it
> heard.sh
| until hone show $HONE_TRIAL --json | grep -q "\"step\":$1,"; do sleep 0.02; done
> train.sh
| echo $1 >> starts
| trap 'echo $1 >> ends; exit 0' TERM
| i=0
| while [ $i -lt 7 ]; do
|   i=$((i+1)); echo "step=$i loss=$1"; sh heard.sh $i
| done
> asha.yaml
| command: [sh, train.sh, '{x}']
| params: {x: [4, 1, 3, 2]}
| objective: loss
| search: {algorithm: grid, parallel: 1, stop: {asha: {eta: 2, min: 1, max: 7}}}
| limits: {grace: 10s}
$ hone run asha.yaml --json > events; grep -o '"event":"trial_[pr][^"]*"' events | sort -u
"event":"trial_paused"
"event":"trial_resumed"
$ tail -1 events
{"event":"finished","experiment":1,"name":"asha","state":"finished","reason":"","trials":{"completed":1,"stopped":3,"failed":0},"best":{"trial":"1.2","value":1,[..]"params":{"x":1}}}
$ hone ls last | awk '{print $1, $2, $3}' | sort
1.1 stopped (pruned)
1.2 completed 1
1.3 stopped (pruned)
1.4 stopped (pruned)
trial state loss
# each was started once; what was not needed any more was woken to end in its own way
$ sort starts
1
2
3
4
$ sort ends
2
3
4
$ hone show 1.1 | grep -o 'stopped by asha at step'
stopped by asha at step
$ hone show 1.2 | grep -o 'paused by asha at step .*'
paused by asha at step [..]: not among the best at rung [..]; it went on later
# pause: false ends them at once
$ hone run asha.yaml --set 'search.stop={asha: {eta: 2, pause: false}}' --json | grep -c trial_paused
0
? 1
# beyond search.paused_memory the least likely winner is ended while others still run
$ hone run asha.yaml --set search.paused_memory=0 --json > events; grep -o '"state":"stopped","reason":"[^"]*"' events | sort | uniq -c | awk '{print ($1 >= 2), $2}'
1 "state":"stopped","reason":"pruned"
$ grep -c '"event":"finished"' events
1
# a program that looks at its control page is woken to save itself, and goes on from there later
> sdk.py
| import hone, subprocess
| start = int(open(hone.checkpoint).read()) if hone.checkpoint else 0
| print(f"x={hone.params['x']} from {start}", file=open("log", "a"))
| for epoch in range(start + 1, 8):
|     hone.log(step=epoch, loss=hone.params["x"])
|     subprocess.run(["sh", "heard.sh", str(epoch)])
|     if hone.should_stop:
|         hone.save_checkpoint(epoch, lambda path: print(epoch, file=open(path, "w")))
|         break
$ hone run asha.yaml --set command='[python3, sdk.py]' --set search.paused_memory=0 --json > events; grep -c trial_parked events | awk '{print ($1 >= 2)}'
1
$ grep '^x=1 ' log | sed 's/from [1-9].*/from its checkpoint/' | uniq
x=1 from 0
x=1 from its checkpoint
$ tail -1 events | grep -o '"trials".*"value":[0-9]*'
"trials":{"completed":1,"stopped":3,"failed":0},"best":{"trial":"4.2","value":1
# interrupted, what was paused starts again only if it is promoted: the losers are run once
> held.sh
| echo $1 >> again
| trap 'exit 0' TERM
| [ $1 != 2 ] || until [ -e go ]; do sleep 0.02; done
| i=0
| while [ $i -lt 7 ]; do
|   i=$((i+1)); echo "step=$i loss=$1"; sh heard.sh $i
| done
$ hone run asha.yaml --name held --set command='[sh, held.sh, "{x}"]' > out & pid=$!; until [ "$(hone ls held 2> /dev/null | grep -c paused)" = 3 ] && grep -q 2 again; do sleep 0.02; done; kill -INT $pid; wait $pid
? 130
$ hone ls held | awk '{print $1, $2, $3}' | sort
5.1 paused (interrupted)
5.2 paused (interrupted)
5.3 paused (interrupted)
5.4 queued (interrupted)
trial state loss
$ touch go; hone resume held > out; hone ls held | awk '{print $1, $2, $3}' | sort
5.1 stopped (pruned)
5.2 completed 1
5.3 stopped (pruned)
5.4 stopped (pruned)
trial state loss
$ sort again | uniq -c | awk '{print $2, $1}'
1 2
2 2
3 1
4 1
$ hone replay held
4 of 4 suggestions reproduced
