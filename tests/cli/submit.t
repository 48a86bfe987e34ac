#!tests/transcript
# SPDX-License-Identifier: MIT
# an experiment is handed to the engine at work
> spec.yaml
| command: sh -c 'echo loss=0.{x}'
| params: {x: [1, 2, 3]}
| objective: loss
| search: {algorithm: grid}
# there is none
$ hone submit spec.yaml
hone: nobody is at work in [..]: 'hone serve' takes submissions, 'hone run' runs it at once
? 1
$ hone submit
hone submit: name a spec file, or give the program after --
'hone help submit' tells more
? 2
$ hone serve --port 0 --json > served & until [ -s served ]; do sleep 0.02; done
# it returns at once with the number
$ hone submit spec.yaml --key nightly
experiment 1 is submitted: 'hone attach 1' shows it
# the same key names the same experiment
$ hone submit spec.yaml --key nightly
experiment 1 was submitted with this key before; nothing new is begun: 'hone attach 1' shows it
$ hone submit spec.yaml --key nightly --priority 3 --json
{"experiment":1,"known":true}
# another spec with it is a mistake, not the old experiment
$ hone submit spec.yaml --key nightly --name other
hone: key 'nightly' was used for experiment 1, with another spec: another spec needs another key
? 1
$ hone submit spec.yaml --key nightly --set search.trials=2 --json
{"experiment":1,"known":true}
$ hone submit spec.yaml --key nightly --param y=1,2 --json
hone: key 'nightly' was used for experiment 1, with another spec: another spec needs another key
? 1
$ hone submit --key "" spec.yaml
hone submit: --key has 1 to 200 bytes
'hone help submit' tells more
? 2
# also when it has ended, and when it is gone
$ until hone ls | grep -q finished; do sleep 0.02; done; hone submit spec.yaml --key nightly --json; hone submit spec.yaml --key nightly --name other
{"experiment":1,"known":true}
hone: key 'nightly' was used for experiment 1, with another spec: another spec needs another key
? 1
$ hone rm --yes 1; hone submit spec.yaml --key nightly --json
1 removed; 'hone gc' frees its code if no other experiment uses it
{"experiment":1,"known":true}
# a command line will do, and options are those of run
$ hone submit --name quick --trials 2 --param x=1..3:int --minimize loss --json -- sh -c 'echo loss={x}'
{"experiment":2}
$ until hone ls | grep -q 'quick .*finished'; do sleep 0.02; done; hone show 2 --json | python3 -c 'import json,sys; e = json.load(sys.stdin); print(e["name"], e["trials"]["completed"])'
quick 2
# what is wrong is wrong usage, and nothing is submitted
$ hone submit spec.yaml --priority 101
hone: --priority 101: 'priority' must be a whole number from -100 to 100, not '101'
? 2
$ hone submit nowhere.yaml
hone: [..]nowhere.yaml[..]
? 2
$ hone submit spec.yaml --set resources.cpus=99999
hone: a trial takes 99999 cpus, [..]
? 2
$ hone ls --json | python3 -c 'import json,sys; print(len(json.load(sys.stdin)))'
1
