#!tests/transcript
# SPDX-License-Identifier: MIT
# an experiment from which a trial was removed goes on with the others; what was removed is not run again
> wait.sh
| echo "loss=$1"; [ "$1" -lt 3 ] || until [ -e go ]; do sleep 0.02; done
> spec.yaml
| command: sh wait.sh {x}
| params: {x: [1, 2, 3, 4]}
| objective: loss
| search: {algorithm: grid, parallel: 1}
$ hone run spec.yaml > run.out 2>&1 & until hone ls last 2> /dev/null | grep -q '1\.3  running'; do sleep 0.02; done; kill -INT $!; wait $!; echo $?
130
$ hone rm 1.1 --yes
1.1 removed
$ touch go; hone resume 1 | grep experiment
experiment 1 'spec' finished: 3 completed
$ hone ls 1 --json | grep -o '"trial":"[^"]*"\|"x":[0-9]' | sort | tr '\n' ' '
"trial":"1.2" "trial":"1.3" "trial":"1.4" "x":2 "x":3 "x":4 
