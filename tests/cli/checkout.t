#!tests/transcript
# SPDX-License-Identifier: MIT
# a spec may lie deeper than its code: a checkout is entered as deep
$ mkdir exp lib; echo 'echo "loss: 0.5"' > lib/train.sh
> exp/spec.yaml
| name: deep
| command: sh ../lib/train.sh
| code: ..
| objective: loss
$ hone run exp/spec.yaml | grep finished
experiment 1 'deep' finished: 1 completed
$ rm -r lib; hone rerun 1.1 | grep finished
experiment 2 'deep-rerun' finished: 1 completed
$ mkdir lib; echo 'echo "loss: 0.1"' > lib/train.sh; hone run exp/spec.yaml --set code.isolate=true | grep finished
experiment 3 'deep' finished: 1 completed
$ hone show last --json | grep -o 'checkouts/[0-9a-f]*/exp"' | sort -u | sed 's/[0-9a-f]\{64\}/[sha256]/'
checkouts/[sha256]/exp"
# code below the spec's folder, or beside it, is found where the command looks for it
$ mkdir -p src beside; echo 'echo "loss: 0.25"' > src/train.sh; echo 'echo "loss: 0.75"' > beside/train.sh
$ hone run --set code=src --minimize loss --name below -- sh src/train.sh | grep finished
experiment 4 'below' finished: 1 completed
> exp/beside.yaml
| name: beside
| command: sh ../beside/train.sh
| code: ../beside
| objective: loss
$ hone run exp/beside.yaml | grep finished
experiment 5 'beside' finished: 1 completed
$ hone run --set code=src --set code.isolate=true --minimize loss --name apart -- sh src/train.sh | grep finished
experiment 6 'apart' finished: 1 completed
$ rm -r src beside; for t in 4.1 5.1 6.1; do hone rerun $t | grep finished; done
experiment 7 'below-rerun' finished: 1 completed
experiment 8 'beside-rerun' finished: 1 completed
experiment 9 'apart-rerun' finished: 1 completed
# a rerun of a rerun is one more, and the first of that name stays the one that is meant
$ hone rerun 7.1 | grep finished; hone best below --json | grep -o '"trial":"4.1"'
experiment 10 'below-rerun' finished: 1 completed
"trial":"4.1"
$ hone diff 4.1 10.1 | grep -i '^code' || echo the same code
the same code
# … and both tell of each other
$ hone show 10.1 | grep '^rerun'; hone show 4.1 | grep '^rerun'
rerun of [..] 7.1
rerun as [..] 7.1, 10.1
$ hone show 4.1 --json | grep -o '"rerun_of":null,"reruns":[^]]*]'
"rerun_of":null,"reruns":["7.1","10.1"]
