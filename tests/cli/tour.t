#!tests/transcript
# SPDX-License-Identifier: MIT
# README.md shows what really happens: the tour, in its order
$ cp -r "$ROOT/examples/quadratic" quadratic
$ hone check quadratic/quadratic.yaml
experiment  quadratic
program     ./train.sh
runs in     [..]/quadratic
parameters  x     -1 to 1  (unlimited values)
            y     -1 to 1  (unlimited values)
for example ./train.sh --x=0 --y=0
objective   minimize loss
search      30 trials of unlimited settings, algorithm auto, as many at once as fit, stop curve, seed 1
limits      output 1G, grace 10s, 2 retries
a trial has 1 cpu, any memory, 0 gpus
code        [..]/quadratic
$ hone run quadratic/quadratic.yaml
experiment 1 started: quadratic
...
experiment 1 'quadratic' finished: 30 completed
...
best trials
trial[..]loss  time  parameters
...
what mattered (share of the spread that each explains alone)
...
results are in [..]/.local/share/hone
next: hone ls 1 · hone show 1.[..] · hone export 1 --csv
$ hone diff 1.1 1.2 | grep -v "^  time "
            1.1   1.2
parameters
  x         0     -0.2323573106957364
  y         0     0.943054791125977
results
  value     0.29  1.842921
  best      0.29  0.44965
  loss      0.29  1.842921
$ hone export quadratic --csv | head -2
trial,state,value,attempts,seconds,x,y,loss:minimize,repeat_of
1.1,completed,0.29,1,[..],0,0,0.29,
# the keys that docs/scripts.md promises, in the events of a run
$ hone run quadratic/quadratic.yaml --trials 1 --set knowledge=off --json
{"event":"started","experiment":2,"name":"quadratic","trials":1,"owner":"[..]"}
{"event":"trial_started","experiment":2,"trial":"2.1","attempt":1,"words":"x=0 y=0"}
{"event":"trial_ended","experiment":2,"trial":"2.1","state":"completed","reason":"","value":0.29,"best":true,"seconds":[..],"error":null,"params":{"x":0,"y":0},"words":"x=0 y=0"}
{"event":"finished","experiment":2,"name":"quadratic","state":"finished","reason":"","trials":{"completed":1,"stopped":0,"failed":0},"best":{"trial":"2.1","value":0.29,"params":{"x":0,"y":0}}}
$ hone best quadratic --json | tr -d ' ' | grep -o '"[a-z_]*":' | tr -d '":\n'
experimentnametrialstatereasonvaluebestparamsxyattemptsstepfirst_nan_stepsecondscreatedstartedendedstarredtagsnoterepeat_ofwhywhybyseenverdictrunsmeandeviationvalues
# a script without a spec
> train.py
| for i in 1 2 3; do echo "epoch $i/3 - loss: 0.$i"; done
$ hone run --param lr=0.001..0.1:log --param batch=32,64,128 --minimize loss --trials 8 -- sh train.py | grep finished
experiment 3 'train' finished: 8 completed
# a mistake is answered with its place
> hone.yaml
| name: x
| command: python3 train.py
| parms: {lr: 1}
$ hone run hone.yaml
hone: hone.yaml:3:1: unknown key 'parms', did you mean 'params'?
? 2
