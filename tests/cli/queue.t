#!tests/transcript
# SPDX-License-Identifier: MIT
# who runs and who waits, and whose turn comes first
> spec.yaml
| command: sh -c 'echo loss=0.{x}'
| params: {x: [1, 2]}
| objective: loss
| search: {algorithm: grid, parallel: 1}
$ hone queue
nothing runs or waits
# the queue can be paused before anybody is at work, and stays so
$ hone pause --all
the queue is paused: 'hone resume --all' lets it go on
$ hone queue --json
{"paused":true,"experiments":[]}
$ hone serve --port 0 --json > served & until [ -s served ]; do sleep 0.02; done
$ hone submit spec.yaml --name low --json; hone submit spec.yaml --name high --priority 5 --json; hone submit spec.yaml --name late --json
{"experiment":1}
{"experiment":2}
{"experiment":3}
# higher priorities first, then the older one
$ hone queue
the queue is paused: 'hone resume --all' lets it go on
experiment  name  owner  [..]
         2  high  [..]
         1  low   [..]
         3  late  [..]
$ hone queue 3 --priority 9
experiment 3 has priority 9
$ hone queue --json | python3 -c 'import json,sys; q = json.load(sys.stdin); print([(e["experiment"], e["priority"], e["running"], e["paused"]) for e in q["experiments"]])'
[(3, 9, 0, False), (2, 5, 0, False), (1, 0, 0, False)]
$ hone queue 3 --priority 101
hone queue: --priority wants a whole number from -100 to 100, not '101'
'hone help queue' tells more
? 2
$ hone queue --priority 3
hone queue: a place in the queue is given by EXPERIMENT and --priority N
'hone help queue' tells more
? 2
$ hone queue 7 --priority 3
hone: no experiment 7 in [..]
? 1
# nothing has started; then all goes on
$ hone ls --json | python3 -c 'import json,sys; print([sum(e["trials"].values()) for e in json.load(sys.stdin)])'
[0, 0, 0]
$ hone resume --all
the queue goes on
$ until [ "$(hone ls | grep -c finished)" = 3 ]; do sleep 0.02; done; hone queue
nothing runs or waits
$ hone queue 1 --priority 3
hone: experiment 1 is not running: 'hone show 1' tells how it stands
? 1
# who runs something while the queue is paused is told what it waits for
$ hone pause --all; hone run spec.yaml > out 2>&1 & until grep -qs 'queue of this home is paused' out; do sleep 0.02; done; hone resume --all; wait $!; grep -c finished out
the queue is paused: 'hone resume --all' lets it go on
the queue goes on
1
