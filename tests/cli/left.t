#!tests/transcript
# SPDX-License-Identifier: MIT
# what is left of a trial that runs is told by every view
> train.sh
| i=0
| while [ $i -lt $1 ]; do i=$((i + 1)); echo "step $i loss=0.5"; sleep 0.1; done
> spec.yaml
| name: long
| command: sh train.sh {epochs}
| params: {epochs: [3000]}
| objective: loss
> keys.py
| import json, sys
| rows = json.load(sys.stdin)
| for row in rows if isinstance(rows, list) else [rows]:
|     left = [row.get("remaining_" + k) for k in ("low_s", "s", "high_s")]
|     print("chance" in row, left == sorted(left), 60 < left[1] < 1500)
$ hone run spec.yaml > out 2>&1 & echo $! > pid; until hone ls 2>/dev/null | grep -q ' left$'; do sleep 0.1; done
$ hone ls | sed 's/  */ /g'
experiment name state trials done failed best started time left
 1 long running 1 0 0 [..]:[..]m[..]s
$ hone ls 1 | sed 's/  */ /g'
trial state loss step time left parameters
 1.1 running [..]m[..]s epochs=3000
$ hone show 1 | grep ^left
left         about [..]m[..]s ([..]m[..]–[..]m[..])
$ hone show 1.1 | grep ^left
left         about [..]m[..]s ([..]m[..]–[..]m[..])
$ for what in 'ls' 'ls 1' 'show 1' 'show 1.1'; do hone $what --json | python3 keys.py; done
True True True
True True True
True True True
True True True
# nothing is left of what does not run: no column, no line, no keys
$ kill -INT $(cat pid); until hone ls | grep -q interrupted; do sleep 0.1; done; hone ls | head -1 | grep -c left; hone ls 1 | head -1 | grep -c left; hone show 1 | grep -c ^left; hone show 1.1 --json | grep -c remaining
0
0
0
0
? 1
