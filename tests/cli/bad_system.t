#!tests/transcript
# SPDX-License-Identifier: MIT
> base.yaml
| command: python3 train.py --jobs {threads}
| params:
|   lr: {min: 1e-4, max: 1e-1, scale: log}
| objective: loss
| search: {seed: 1}
# a good section is explained
> good.yaml
| command: python3 train.py --jobs {threads}
| system:
|   threads: [1, 2]
|   memory: [512M, 2G]
|   workers: {min: 0, max: 4, apply: restart}
| objective: loss
| search: {seed: 1}
$ hone check good.yaml
...
system      threads  1, 2, from 1, in place  (2 values)
            memory   512M, 2G, from 512M, in place  (2 values)
            workers  0 to 4, int, from 0, by restart  (5 values)
tune        pipelined: inside running trials; 20 configurations
for example python3 train.py --jobs 1 --workers=0
...
$ hone check good.yaml --set tune=off -p workers=2 | grep -e tune -e example
tune        off: system parameters are not used
for example python3 train.py
$ hone check good.yaml --set tune=joint | grep -e system -e tune -e objective
system      threads  1, 2  (2 values)
tune        joint: searched like parameters; 20 configurations
objective   minimize loss per second
# values that make no sense
$ hone check base.yaml --set system.threads='[0, 1]'
hone: --set system.threads=[0, 1]: 'system.threads' must be a whole number of 1 or more, not '0'
? 2
$ hone check base.yaml --set system.cpus='{min: 4, max: 1}'
hone: --set system.cpus={min: 4, max: 1}: parameter 'cpus': min 4 is above max 1
? 2
$ hone check base.yaml --set system.memory='[lots]'
hone: --set system.memory=[lots]: 'system.memory' must be a size like 512M or 2G, not 'lots'
? 2
$ hone check base.yaml --set system.nice=40
hone: --set system.nice=40: 'system.nice' must be a whole number from -20 to 19, not '40'
? 2
$ hone check base.yaml --set system.threads='[]'
hone: --set system.threads=[]: parameter 'threads': the list is empty, so there is nothing to try
? 2
$ hone check base.yaml --set system=fast
hone: --set system=fast: 'system' must be a mapping of system parameters, not 'fast'
? 2
# forms that make no sense, with their place
$ (cat base.yaml; printf 'system:\n  threads: {min: 1, max: 4, when: {lr: 1}}\n') > a.yaml; hone check a.yaml
hone: a.yaml:7:29: system.threads: 'when' goes with hyperparameters only
? 2
$ (cat base.yaml; printf 'system:\n  threads: {min: 1, max: 4, strt: 2}\n') > a.yaml; hone check a.yaml
hone: a.yaml:7:29: system.threads: unknown key 'strt', did you mean 'start'?
? 2
$ (cat base.yaml; printf 'system:\n  worker: {min: 1, max: 4, apply: live}\n') > a.yaml; hone check a.yaml
hone: a.yaml:7:35: system.worker: it cannot be changed in a running program; 'apply' must be restart
? 2
$ (cat base.yaml; printf 'system:\n  lr: [1, 2]\n') > a.yaml; hone check a.yaml
hone: a.yaml:7:3: system.lr: 'lr' stands in 'params' too; it must be one or the other
? 2
# modes
$ hone check base.yaml --set tune=pipe
hone: --set tune=pipe: 'tune' must be one of pipelined, joint, hyper, off, off-raw, not 'pipe'
? 2
$ hone check base.yaml --set 'objective={metric: loss, average: 0}'
hone: --set objective={metric: loss, average: 0}: 'objective.average' must be a whole number of 1 or more, not '0'
? 2
# nothing of it was kept
$ hone ls
no experiments yet in [..]
# a range that nobody could time
$ hone check base.yaml --set system.workers='{min: 0, max: 9999}'
hone: [..]: system.workers: from 0 to 9999 are 10000 values; a range may hold at most 1000: give it a smaller 'max' or a larger 'step'
? 2
