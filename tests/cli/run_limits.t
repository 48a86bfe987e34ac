#!tests/transcript
# SPDX-License-Identifier: MIT
# objective.target ends the experiment
> target.yaml
| command: [sh, -c, 'echo loss={x}; [ {x} != 1 ] || exec sleep 60']
| params: {x: [5, 1, 3]}
| objective: {metric: loss, target: 1}
| search: {algorithm: grid, parallel: 1}
| limits: {grace: 1s}
$ hone run target.yaml --json | tail -1
{"event":"finished","experiment":1,"name":"target","state":"finished","reason":"target","trials":{"completed":2,"stopped":0,"failed":0},"best":{"trial":"1.2","value":1,"params":{"x":1}}}
$ hone show last --json | grep -o '"reason":"[^"]*"' | head -1
"reason":"target"
$ hone ls last --json | grep -o '"trial":"[^"]*","state":"[^"]*","reason":"[^"]*"'
"trial":"1.2","state":"completed","reason":"target"
"trial":"1.1","state":"completed","reason":""
# a target that was not reached is said, with the best value on the way
$ HONE_HOME=far hone run target.yaml --set objective.target=0.5 --set params.x='[5, 3]' | grep -A1 finished
experiment 1 'target' finished: 2 completed
  the target 0.5 was not reached: best 3
$ HONE_HOME=far hone run target.yaml --set objective.target=0.5 --set params.x='[5, 3]' --json | tail -1 | grep -o '"missed.*'
"missed":{"target":0.5,"average":1,"best":3}}
# limits.time ends it too
> slow.yaml
| command: [sh, -c, 'echo loss=1; exec sleep 60']
| objective: loss
| search: {trials: 3, parallel: 1}
| params: {x: {min: 0, max: 9, type: int}}
| limits: {time: 1s, grace: 1s}
$ hone run slow.yaml --json | tail -1
{"event":"finished","experiment":2,"name":"slow","state":"failed","reason":"timeout","trials":{"completed":0,"stopped":[..],"failed":0},"best":null,"error":"no trial completed"}
# limits.deadline is a moment
$ hone run slow.yaml --set limits.time=none --set limits.deadline="$(date -u -d '+2 seconds' +%Y-%m-%dT%H:%M:%SZ)" --json | tail -1
{"event":"finished","experiment":3,"name":"slow","state":"failed","reason":"timeout","trials":{"completed":0,"stopped":[..],"failed":0},"best":null,"error":"no trial completed"}
$ hone run slow.yaml --set limits.deadline=2020-01-01T00:00:00Z
limits.deadline: 2020-01-01T00:00:00Z is already past
experiment 4 started: slow
experiment 4 'slow' failed (over its time limit): 0 completed
  no trial completed

results are in [..]
next: hone ls 4 · hone logs 4.1
? 1
# limits.trial_time ends a trial, and tells
$ hone run slow.yaml --trials 1 --set limits.time=none --set limits.trial_time=1s
experiment 5 started: slow
trial 5.1 failed after [..]
    over its time limit of 1.0s
...
experiment 5 'slow' failed: 0 completed, 1 failed
  no trial completed

results are in [..]
next: hone ls 5 · hone logs 5.1
? 1
$ hone ls last --json | grep -o '"state":"[^"]*","reason":"[^"]*"'
"state":"failed","reason":"timeout"
# a space of which next to nothing is allowed was not tried as a whole
> gap.yaml
| command: [sh, -c, 'echo loss={x}']
| objective: loss
| search: {algorithm: random, trials: 3, parallel: 1, seed: 1}
| params: {x: {min: 0, max: 1}}
| forbid: [{x: {max: 0.5}}, {x: {min: 0.500000001}}]
$ hone run gap.yaml | head -3
experiment [..] started: gap
experiment [..] 'gap' failed (no more setting was found that is not forbidden): 0 completed
  no trial completed
