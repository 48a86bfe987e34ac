#!tests/transcript
# SPDX-License-Identifier: MIT
# one trial is stopped, the others go on
> train.sh
| echo "step=1 loss=0.$1"
| while [ ! -e go ]; do sleep 0.02; done
| echo "step=2 loss=0.$1"
> spec.yaml
| name: two
| command: [sh, train.sh, '{x}']
| params: {x: [1, 2, 3]}
| objective: loss
| search: {algorithm: grid, parallel: 2}
| resources: {cpus: 0.1}
| code: none
$ hone run --port off spec.yaml > out 2>&1 & until [ $(hone ls 1 2>/dev/null | grep -c running) = 2 ]; do sleep 0.05; done; hone stop 1.1
trial 1.1 is told to stop; the others go on
$ until hone ls 1 | grep -q '1.3 *running'; do sleep 0.05; done; hone show 1.1 | grep -o 'stopped by hand' | sort -u
stopped by hand
# what is over, or never was, is said
$ hone stop 1.1
hone: trial 1.1 has ended already
? 1
$ hone stop 1.9
hone: [..]1[..]
? 1
$ hone stop 1.2 --drain
hone: --drain is for an experiment: a trial that is let finish is not stopped
? 2
$ touch go; until hone ls | grep -q finished; do sleep 0.05; done; hone ls 1 --json | grep -o '"state":"[^"]*","reason":"[^"]*"' | sort
"state":"completed","reason":""
"state":"completed","reason":""
"state":"stopped","reason":"by_hand"
$ hone stop 1.2
hone: experiment 1 has finished already
? 1
# at a server
$ rm go; hone serve --port 0 --json > served & echo $! > pid; until [ -s served ]; do sleep 0.02; done; hone token add ann --role admin > token; url=http://$(grep -o '127.0.0.1:[0-9]*' served | head -1); echo "HONE_TOKEN=$(cat token) HONE_SERVER=$url hone \"\$@\"" > there.sh; hone submit spec.yaml > /dev/null; until [ $(hone ls 2 | grep -c running) = 2 ]; do sleep 0.05; done; sh there.sh stop 2.2 --json
{"experiment":2,"trial":"2.2"}
$ until hone ls 2 | grep -q '2.2 *stopped'; do sleep 0.05; done; sh there.sh stop 2.2
hone: [..]trial 2.2 has ended already[..]
? 1
$ touch go; until hone ls | grep -q '2 .*finished'; do sleep 0.05; done; kill $(cat pid)
