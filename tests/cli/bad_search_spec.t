#!tests/transcript
# SPDX-License-Identifier: MIT
# what a spec says about the search is checked before anything runs
> base.yaml
| command: [sh, -c, 'echo "loss={lr}"']
| params:
|   lr: {min: 0.0001, max: 0.1, scale: log}
|   opt: [sgd, adam]
|   layers: {min: 1, max: 4, type: int}
|   momentum: {min: 0.0, max: 0.9, when: {opt: sgd}}
| objective: loss
# forbidden combinations
$ (cat base.yaml; echo 'forbid: [{opd: sgd}]') > a.yaml; hone check a.yaml
hone: a.yaml:8:11: 'forbid' names an unknown parameter 'opd', did you mean 'opt'?
? 2
$ (cat base.yaml; echo 'forbid: [{layers: 9}]') > a.yaml; hone check a.yaml
hone: a.yaml:8:19: 'forbid': parameter 'layers': 9 is not in 1 to 4
? 2
$ (cat base.yaml; echo 'forbid: [{opt: [sgd, adam]}]') > a.yaml; hone check a.yaml
hone: a.yaml:8:9: 'forbid' forbids every setting, so there is nothing to try
? 2
$ (cat base.yaml; echo 'forbid: [{opt: sgd, lr: {min: 0.01}}, {opt: adam}, {layers: {max: 3}}, {lr: {max: 0.02}, layers: 4}]') > a.yaml; hone run a.yaml
hone: a.yaml:8:9: 'forbid' forbids every setting, so there is nothing to try
? 2
# priors outside the range
$ hone check base.yaml --set params.lr.prior=1
hone: --set params.lr.prior=1: parameter 'lr': the prior 1 is not in 0.0001 to 0.1
? 2
$ hone check base.yaml --set 'params.lr.prior={mean: 0.01, sd: 1}'
hone: --set params.lr.prior={mean: 0.01, sd: 1}: parameter 'lr': in log scale 'sd' is a factor above 1, not 1
? 2
$ hone check base.yaml --set 'params.opt={values: [sgd, adam], prior: nag}'
hone: --set params.opt={values: [sgd, adam], prior: nag}: the prior of parameter 'opt': 'nag' is none of sgd, adam
? 2
# settings to run first
$ (cat base.yaml; printf 'try:\n- {lr: 0.01}\n- {lr: 1}\n') > a.yaml; hone check a.yaml
hone: a.yaml:10:8: 'try': parameter 'lr': 1 is not in 0.0001 to 0.1
? 2
$ (cat base.yaml; printf 'try:\n- {opt: adam, momentum: 0.5}\n') > a.yaml; hone check a.yaml
hone: a.yaml:9:25: 'try': parameter 'momentum' is not active in this setting
? 2
$ (cat base.yaml; printf 'try: [{opt: adam, layers: 4}]\nforbid: [{layers: {min: 3}}]\n') > a.yaml; hone check a.yaml
hone: a.yaml:8:7: 'try': this setting is forbidden by 'forbid'
? 2
# objectives and constraints
$ hone check base.yaml --set 'objective=[{metric: loss, target: 3}, ms]'
hone: --set objective=[{metric: loss, target: 3}, ms]: 'objective.target' goes with one objective; there are several
? 2
$ hone check base.yaml --set 'objective.per=minutes'
hone: --set objective.per=minutes: 'objective.per' must be one of trial, seconds, energy, not 'minutes'
? 2
$ hone check base.yaml --set 'constraint=ms about 20'
hone: --set constraint=ms about 20: 'constraint' must be like latency_ms <= 20 or acc >= 0.9, not 'ms about 20'
? 2
# rules of stopping, the end, knowledge
$ hone check base.yaml --set 'search.stop={curve: 60%}'
hone: --set search.stop={curve: 60%}: 'search.stop: curve' takes a chance above 0 and up to 50%, like 2%, not '60%'
? 2
$ hone check base.yaml --set search.stop=ahsa
hone: --set search.stop=ahsa: 'search.stop' cannot be 'ahsa', did you mean 'asha'? (there are: none, median, curve, asha, hyperband)
? 2
$ hone check base.yaml --set until.improvement=5
hone: --set until.improvement=5: 'until.improvement' must be a share between 0 and 1 like 0.1%, or never, not '5'
? 2
$ hone check base.yaml --set 'knowledge=[my model]'
hone: --set knowledge=[my model]: 'knowledge' must be auto, off, or experiments by name or number, not 'my model'
? 2
# all of it, well written
> good.yaml
| command: [sh, -c, 'echo "loss={lr}"']
| params:
|   lr: {min: 0.0001, max: 0.1, scale: log, prior: {mean: 0.01, sd: 3}}
|   opt: {values: [sgd, adam], prior: adam}
|   layers: {min: 1, max: 4, type: int}
| forbid: [{opt: sgd, lr: {min: 0.01}}, {layers: [3, 4], opt: adam}]
| try: [{lr: 0.02, opt: adam}]
| knowledge: [first, 7]
| objective: [{metric: acc, goal: max}, ms]
| constraint: [memory <= 512, acc >= 60%]
| until: {improvement: 0.1%}
| search: {trials: 9, seed: 1, algorithm: tpe, stop: {asha: {eta: 4, max: 81}}, repeats: never}
$ hone check good.yaml
note: until.improvement has no effect with several objectives
experiment  good
program     sh -c 'echo "loss={lr}"'
runs in     [..]
parameters  lr      0.0001 to 0.1, log, expected about 0.01  (unlimited values)
            opt     sgd, adam, expected adam  (2 values)
            layers  1 to 4, int  (4 values)
forbidden   2 combinations
for example [..]
objective   maximize acc, minimize ms, until less than 0.1 % are to be gained
constraints memory <= 512, acc >= 0.6
search      9 trials of unlimited settings, algorithm tpe, as many at once as fit, stop asha eta 4 max 81, seed 1
first       1 given setting
knowledge   from first, 7
...
# nothing of it was kept
$ hone ls
no experiments yet in [..]
