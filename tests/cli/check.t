#!tests/transcript
# a good spec is explained
> good.yaml
| name: tiny
| command: python3 train.py
| params:
|   lr: {min: 1e-4, max: 1e-1, scale: log}
|   batch: [32, 64]
| objective: {metric: loss, goal: minimize}
| search: {trials: 8, seed: 1}
$ hone check good.yaml
experiment  tiny
program     python3 train.py
...
objective   minimize loss
search      8 trials[..]seed 1
...
$ hone check good.yaml --json | cut -c1-40
{"ok":true,"notes":"","spec":{"name":"ti
# options change it as they would change a run
$ hone check good.yaml --trials 3 -p batch=64 --name other --maximize acc --set search.seed=5 | grep -e experiment -e objective -e search
experiment  other
objective   maximize acc
search      3 trials[..]seed 5
# without a file
$ hone check --param x=0..1 --minimize y -- sh -c 'echo y={x}' | grep -e program -e objective
program     sh -c 'echo y={x}'
objective   minimize y
# a bad one is refused with its place
> bad.yaml
| name: tiny
| command: python3 train.py
| parms: {lr: 1}
$ hone check bad.yaml
hone: bad.yaml:3:1: unknown key 'parms', did you mean 'params'?
? 2
> bounds.yaml
| name: tiny
| command: x
| params:
|   lr: {min: 3, max: 1}
$ hone check bounds.yaml
hone: bounds.yaml:4:[..]
? 2
$ hone check nothere.yaml
hone: cannot read nothere.yaml: No such file or directory
? 2
$ hone check good.yaml --set search.trials=some
hone: [..]trials[..]
? 2
> warn.yaml
| command: sh -c 'echo {nosuch} {x} {{y}} {"a":1} ${HOME} {nosuch} {} {other}'
| params: {x: [1, 2]}
| metrics: {loss: "loss ("}
$ hone check warn.yaml
hone: warn.yaml:3:[..]: 'metrics': pattern of metric 'loss': 'loss (': Unmatched ( or \(
? 2
$ hone run warn.yaml
hone: warn.yaml:3:[..]: 'metrics': pattern of metric 'loss': 'loss (': Unmatched ( or \(
? 2
$ hone check warn.yaml --set metrics='{}' 2>&1 > /dev/null
note: the command holds {nosuch}, {other}, and no parameter is called so: it is passed as it stands
$ hone check warn.yaml --set metrics='{}' --param nosuch=1 --param other=2 2>&1 > /dev/null
# what this machine does not have
$ hone check good.yaml --set resources.cpus=99999 2>&1 > /dev/null | grep -v program
note: a trial takes 99999 cpus, [..] has [..]
# the numbers of a rule are shown, bounds are true, teachers must be there
> rule.yaml
| command: sh
| params: {x: {min: 0, max: 1}}
| objective: loss
$ hone check rule.yaml --set 'search.stop={curve: 2%}' | grep -o 'stop .*,'
stop curve 2 %,
$ hone check rule.yaml --set 'search.stop={asha: {eta: 4, max: 81, pause: false}}' | grep -o 'stop .*,'
stop asha eta 4 max 81 without pauses,
$ hone check rule.yaml --trials 1000000000000
hone: --trials 1000000000000: 'search.trials' must be a whole number of at most 1000000000, not '1000000000000'
? 2
$ HONE_HOME=other hone check rule.yaml --set knowledge=nosuch | grep knowledge
knowledge   from nosuch
$ HONE_HOME=other hone run rule.yaml --trials 1 --set knowledge=off -- echo loss=1 > out; HONE_HOME=other hone check rule.yaml --set knowledge=nosuch
hone: knowledge: no experiment called 'nosuch' in [..]
? 2
# what has no effect is said
$ hone check rule.yaml --set until.improvement=1% --set search.algorithm=sobol | head -1
note: until.improvement has no effect: algorithm sobol learns nothing here that it could expect an improvement by
experiment  rule
$ hone check rule.yaml --set until.improvement=1% --set 'objective=[loss, ms]' | head -1
note: until.improvement has no effect with several objectives
experiment  rule
$ hone check rule.yaml --set until.improvement=1% | head -1
experiment  rule
