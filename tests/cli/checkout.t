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
experiment 2 'deep' finished: 1 completed
$ mkdir lib; echo 'echo "loss: 0.1"' > lib/train.sh; hone run exp/spec.yaml --set code.isolate=true | grep finished
experiment 3 'deep' finished: 1 completed
$ hone show last --json | grep -o 'checkouts/[0-9a-f]*/exp"' | sort -u | sed 's/[0-9a-f]\{64\}/[sha256]/'
checkouts/[sha256]/exp"
