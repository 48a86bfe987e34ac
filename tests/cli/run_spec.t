#!tests/transcript
# SPDX-License-Identifier: MIT
# a spec is run to its end, and says what to type next
$ cp -r "$ROOT"/examples/quadratic .
$ hone run quadratic/quadratic.yaml --trials 3 --set search.parallel=1
experiment 1 started: quadratic
trial 1.1 completed after [..]: 0.29 (best so far)  x=0 y=0
trial 1.2 completed after [..]: 1.8429  x=-0.23236 y=0.94305
trial 1.3 completed after [..]: 1.6768  x=-0.79077 y=-0.3034
experiment 1 'quadratic' finished: 3 completed

best trials
trial     loss  [..]time  parameters
  1.1     0.29  [..]  x=0 y=0
  1.3  1.67677  [..]  x=-0.79077 y=-0.3034
  1.2  1.84292  [..]  x=-0.23236 y=0.94305

results are in [..]
next: hone ls 1 · hone show 1.1 · hone export 1 --csv
# the same seed gives the same settings
$ hone run quadratic/quadratic.yaml --trials 3 | grep -c 'x=-0.23236 y=0.94305'
2
# -p fixes a parameter, --set changes any key
$ hone run quadratic/quadratic.yaml -p x=0.5 -p y=-0.2 --set name=ground --set search.trials=1 | head -2
experiment 3 started: ground
trial 3.1 completed after [..]: 0 (best so far)
# --json: every line is an object, the last one is documented
$ hone run quadratic/quadratic.yaml --trials 4 --json > lines; echo $?
0
$ /usr/bin/python3 -c 'import json; e = [json.loads(l)["event"] for l in open("lines")]; print(e[0], e[-1], len(e))'
started finished 10
$ tail -1 lines
{"event":"finished","experiment":4,"name":"quadratic","state":"finished","reason":"","trials":{"completed":4,"stopped":0,"failed":0},"best":{"trial":"4.4","value":0.263097,"params":{"x":0.058264884625301105,"y":0.060705237827566094}}}
# without a file; the program's words come after --
> train.sh
| for a in "$@"; do echo "got $a"; done
| echo "loss: 0.25"
$ hone run --param lr=0.001..0.1:log --param batch=32,64 --trials 2 --seed 3 --parallel 1 --minimize loss -- sh train.sh | head -3
experiment 5 started: train
trial 5.1 completed after [..]: 0.25 (best so far)  lr=0.01 batch=32
trial 5.2 completed after [..]: 0.25  lr=0.0010385 batch=64
$ hone logs last.1
got --lr=0.010000000000000004
got --batch=32
loss: 0.25
# standard input may be the spec
$ printf 'command: [echo, "loss=1"]\nobjective: loss\nsearch: {trials: 1}\n' | hone run - | head -2
experiment 6 started: echo
trial 6.1 completed after [..]: 1 (best so far)
