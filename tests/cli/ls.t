#!tests/transcript
# SPDX-License-Identifier: MIT
# trials that were made, of those that were planned; done are those that completed
$ hone run --name whole --trials 9 --minimize loss --param x=1..9:int --set search.algorithm=grid -- sh -c 'echo loss={x}' | grep finished
experiment 1 'whole' finished: 9 completed
$ hone run --name bad --minimize loss -- sh -c 'echo why >&2; exit 3' > out; hone ls
experiment  name   state     trials  done  failed  best  started[..]time
         2  bad    failed         1     0       1[..]
         1  whole  finished       9     9       0     1[..]
$ hone run --name some --trials 9 --parallel 1 --minimize loss --param x=1..9 -- sh -c 'echo loss=1; touch held; while :; do sleep 1; done' > out & pid=$!; until test -e held; do sleep 0.02; done; kill -INT $pid; wait $pid
? 130
$ hone ls
experiment  name   state        trials  done  failed  best  started[..]time
         3  some   interrupted     1/9     0       0[..]
         2  bad    failed            1     0       1[..]
         1  whole  finished          9     9       0     1[..]
# stopped trials have a column when there are any
$ hone stop some > /dev/null; hone ls some | grep -c stopped; hone ls
1
experiment  name   state                trials  done  stopped  failed  best  started[..]time
         3  some   stopped (cancelled)     1/9     0        1       0        [..]
         2  bad    failed                    1     0        0       1        [..]
         1  whole  finished                  9     9        0       0     1  [..]
# a narrow terminal leaves columns out instead of breaking lines
$ script -qec 'stty cols 90; hone ls' /dev/null < /dev/null | tr -d '\r' | sed 's/\x1b\[[0-9;]*m//g'
experiment  name   state                trials  done  stopped  failed  best[..]time
         3  some   stopped (cancelled)     1/9     0        1       0        [..]
         2  bad    failed                    1     0        0       1        [..]
         1  whole  finished                  9     9        0       0     1  [..]
# what an experiment is, how it stands and why
$ hone show some | head -4
experiment   3 some
state        stopped: stopped by the user
trials       1 stopped of 9
objective    minimize loss
$ hone show bad
experiment   2 bad
state        failed: no trial completed
trials       1 failed
...
failed trials
2.1  the program ended with an error
  exit status 3
  why
...
$ hone show whole | grep -A1 -e ^best -e '^what mattered'
best         1 in trial 1.1
             x=1
--
best trials
trial  loss  parameters
--
what mattered (share of the spread that each explains alone)
  x              [..]%
$ hone attach bad
hone: experiment 2 failed: 'hone show 2' tells about it
? 1
