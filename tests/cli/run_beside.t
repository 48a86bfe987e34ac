#!tests/transcript
# SPDX-License-Identifier: MIT
# while an experiment runs elsewhere it can be watched, marked, stopped
> wait.sh
| trap 'echo bye; exit 0' TERM
| echo "step 1 loss=0.5"
| until [ -e "go$1" ]; do sleep 0.02; done
| echo "step 2 loss=0.25"
> spec.yaml
| command: sh wait.sh {x}
| params: {x: [1, 2, 3]}
| objective: loss
| search: {algorithm: grid, parallel: 1}
| limits: {grace: 5s}
$ hone run --detach spec.yaml
experiment 1 runs in the background (pid [..]): 'hone attach 1' shows it
$ until hone ls last | grep -q '1\.1  running  *0.5'; do sleep 0.02; done
$ hone tag 1 good; hone note 1.1 'looks fine'; hone star 1.1
1 tagged
1.1 noted
1.1 starred
$ hone show 1.1 --json | grep -o '"starred":[^,]*\|"note":"[^"]*"'
"starred":true
"note":"looks fine"
$ hone rm --yes 1
hone: experiment 1 is running: 'hone stop 1' stops it first
? 1
$ hone gc
nothing to free
# logs -f follows to the end
$ (hone logs -f 1.1 > followed; echo $? >> followed) & until grep -qs 'step 1' followed; do sleep 0.02; done; touch go1; wait; cat followed
step 1 loss=0.5
step 2 loss=0.25
0
# stop --drain lets the running trial finish, and starts nothing more
$ until hone ls 1 | grep -q '1\.2  running'; do sleep 0.02; done; hone stop --drain 1
experiment 1 ends when its running trials have finished
$ hone attach 1 > attached & until ls -l /proc/$!/fd 2> /dev/null | grep -q socket; do sleep 0.02; done; touch go2; wait; grep -e stopped -e "best trials" attached
experiment 1 'spec' stopped (stopped by the user): 2 completed
best trials
$ hone ls 1 | cut -c1-20
trial  state      lo
  1.2  completed  0.
  1.1  completed  0.
# stop now: the program hears SIGTERM
$ rm go*; hone run -d spec.yaml --name second > /dev/null; until hone ls second | grep -q 'running  *0.5'; do sleep 0.02; done; hone stop second
experiment 2 is told to stop
$ until hone show second | grep -q 'state  *stopped'; do sleep 0.02; done; hone attach second
hone: experiment 2 is stopped: 'hone show 2' tells about it
? 1
$ hone logs second.1 --stdout
step 1 loss=0.5
bye
$ hone show second | head -3
experiment   2 second
state        stopped: stopped by the user
trials       1 stopped of 3
# marks also work while nothing runs
$ hone tag second bad; hone note second 'not good'; hone star second; hone ls --json | grep -o '"starred":[^,]*,"tags":[^]]*],"note":"[^"]*"'
2 tagged
2 noted
2 starred
"starred":true,"tags":["bad"],"note":"not good"
$ hone star second --off; hone rm --yes second.1; hone show second.1
2 not starred any more
2.1 removed
hone: experiment 2 (second) has no trial 1: 'hone ls 2' lists them
? 1
$ hone rm --yes second; hone ls | cut -c1-20; hone gc
2 removed; 'hone gc' frees its code if no other experiment uses it
experiment  name  st
         1  spec  st
nothing to free
# Ctrl-C leaves it resumable; what was running starts again
$ rm -f go*; hone run spec.yaml --name third > out & pid=$!; until hone ls third 2> /dev/null | grep -q 'running  *0.5'; do sleep 0.02; done; kill -INT $pid; wait $pid; echo $?; tail -1 out
130
next: hone resume 3
$ touch go1 go2 go3; hone resume third | grep finished
experiment 3 'third' finished: 3 completed
$ hone resume third
hone: experiment 3 is finished: there is nothing to resume
? 2
