#!tests/transcript
# SPDX-License-Identifier: MIT
# an experiment is put off and goes on; that is kept over restarts
> wait.sh
| echo "step 1 loss=0.5"
| until [ -e "go$1" ]; do sleep 0.02; done
| echo "step 2 loss=0.$1"
> spec.yaml
| command: sh wait.sh {x}
| params: {x: [1, 2, 3]}
| objective: loss
| search: {algorithm: grid, parallel: 1}
$ hone pause
hone pause: name an experiment, or say --all
'hone help pause' tells more
? 2
$ hone pause --all --freeze
hone pause: --freeze is for one experiment
'hone help pause' tells more
? 2
$ hone serve --port 0 --json > served & echo $! > pid; until [ -s served ]; do sleep 0.02; done
$ hone submit spec.yaml --json
{"experiment":1}
$ until hone ls 1 | grep -q '1\.1  running  *0.5'; do sleep 0.02; done; hone pause 1
experiment 1 starts no more trials: 'hone resume 1' lets it go on
# what runs goes on, nothing new starts
$ touch go1 go2 go3; until hone ls 1 | grep -q '1\.1  completed'; do sleep 0.02; done; hone queue --json | python3 -c 'import json,sys; e, = json.load(sys.stdin)["experiments"]; print(e["running"], e["wanted"], e["paused"], e["frozen"])'
0 0 True False
# the server is killed and comes up again: the pause is still there
$ kill -9 $(cat pid); hone serve --port 0 --json > served2 & echo $! > pid; until [ -s served2 ]; do sleep 0.02; done; hone ls 1 --json | grep -c '"trial":"1'; hone queue | grep -c paused
1
1
$ hone resume 1
experiment 1 goes on
$ until hone ls | grep -q finished; do sleep 0.02; done; hone ls 1 --json | python3 -c 'import json,sys; print(sorted((t["trial"], t["state"], t["attempts"]) for t in json.load(sys.stdin)))'
[('1.1', 'completed', 1), ('1.2', 'completed', 1), ('1.3', 'completed', 1)]
$ hone pause 1
hone: experiment 1 is not running: 'hone show 1' tells how it stands
? 1
# frozen: what runs stands still, also under the next server, and goes on where it was
$ rm go*; hone submit spec.yaml --name cold --json; until hone ls 2 | grep -q '2\.1  running  *0.5'; do sleep 0.02; done; hone pause 2 --freeze
{"experiment":2}
experiment 2 stands still: 'hone resume 2' lets it go on
$ until [ "$(hone queue --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["experiments"][0]["running"])')" = 0 ]; do sleep 0.02; done; hone ls 2 --json | python3 -c 'import json,sys; t, = json.load(sys.stdin); print(t["state"], t["reason"])'
paused held
$ kill -9 $(cat pid); hone serve --port 0 --json > served3 & until [ -s served3 ]; do sleep 0.02; done; touch go1 go2 go3; hone queue | grep -c frozen
1
$ hone resume 2; until hone ls | grep -q 'cold .*finished'; do sleep 0.02; done; hone ls 2 --json | python3 -c 'import json,sys; print(sorted((t["trial"], t["state"], t["attempts"]) for t in json.load(sys.stdin)))'
experiment 2 goes on
[('2.1', 'completed', 1), ('2.2', 'completed', 1), ('2.3', 'completed', 1)]
