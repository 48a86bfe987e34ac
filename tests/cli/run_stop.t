#!tests/transcript
# SPDX-License-Identifier: MIT
# paused trials outlive the engine that paused them, and end with their experiment
> train.sh
| echo start >> runs.$1
| trap 'echo end >> runs.$1; exit 0' TERM
| i=0
| while :; do i=$((i+1)); echo "step=$i loss=$1"; [ ! -e go ] || exit 0; sleep 0.2; done
> slow.yaml
| command: [sh, train.sh, '{x}']
| params: {x: [4, 1, 3, 2]}
| objective: loss
| search: {algorithm: grid, parallel: 1, stop: {asha: {eta: 4, min: 1}}}
| limits: {grace: 10s}
> until
| i=0; until eval "$1"; do i=$((i+1)); [ $i -lt 300 ] || { echo "in vain: $1"; exit 1; }; sleep 0.1; done
$ hone run slow.yaml > out 2>&1 & sh until '[ $(hone ls last 2>/dev/null | grep -c paused) -ge 2 ]'
$ hone ls last | grep -o '1.1 *paused' | tr -s ' '
1.1 paused
# hone stop: the paused ones get the signal, and their grace
$ hone stop last > /dev/null; sh until '! hone ls | grep -q running'; wait; hone ls last --json | grep -o '"state":"[^"]*","reason":"[^"]*"' | sort -u
"state":"stopped","reason":"cancelled"
$ tail -qn1 runs.4 runs.1
end
end
# kill -9 of the engine while they are paused: the next one finds them so, and starts nothing twice
$ rm -f runs.*; hone run slow.yaml > out 2>&1 & echo $! > pid; sh until '[ $(hone ls last 2>/dev/null | grep -c "^ *2.*paused") -ge 2 ]'; kill -9 $(cat pid); hone ls last | grep -c paused | awk '{print ($1 >= 2)}'
1
$ touch go; hone resume last > out 2>&1; hone ls last | awk 'NR > 1 {print $2}' | sort -u
completed
stopped
$ cat runs.4 runs.1 | grep -c start
2
$ hone ls last --json | grep -o '"attempts":[0-9]*' | sort -u
"attempts":1
# Ctrl-C: they end too; what ran starts again with resume, what was paused when it is promoted
$ rm -f go runs.*; hone run slow.yaml > out 2>&1 & echo $! > pid; sh until '[ $(hone ls last 2>/dev/null | grep -c "^ *3.*paused") -ge 2 ]'; kill -INT $(cat pid); sh until '! kill -0 $(cat pid) 2>/dev/null'; hone ls last --json | grep -o '"state":"[^"]*","reason":"[^"]*"' | sort -u
"state":"paused","reason":"interrupted"
"state":"queued","reason":"interrupted"
$ touch go; hone resume last > out 2>&1; tail -qn1 runs.4; hone ls last | grep -c 'queued\|running\|paused'
start
0
? 1
# the median of the others; the numbers of a verdict are kept with the trial
> poor.sh
| i=0; while [ $i -lt 6 ] || [ $1 = 9 ]; do i=$((i+1)); echo "step=$i loss=$1"; [ $1 -lt 9 ] || sleep 1; done
> median.yaml
| command: [sh, poor.sh, '{x}']
| params: {x: [1, 2, 3, 4, 5, 9]}
| objective: loss
| search: {algorithm: grid, parallel: 1, stop: median}
$ hone run median.yaml > out 2>&1; hone ls last | grep pruned | awk '{print $1, $NF}'
4.6 x=9
$ hone show last.6 | grep -o 'stopped by median at step [0-9]*: not better than 3' | sed 's/step [0-9]*/step N/'
stopped by median at step N: not better than 3
