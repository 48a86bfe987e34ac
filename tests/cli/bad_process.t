#!tests/transcript
# SPDX-License-Identifier: MIT
# a daemon that a program leaves behind is gone after it
> daemon.sh
| setsid sh -c 'setsid sh -c "echo \$\$ > pid; exec sleep 600" < /dev/null > /dev/null 2>&1 &' &
| until [ -s pid ]; do sleep 0.02; done
$ hone run -- sh daemon.sh | head -2; test -e /proc/$(cat pid)
experiment 1 started: daemon
trial 1.1 completed after [..]
? 1
# a program that ignores SIGTERM is killed after the grace
> stubborn.sh
| trap '' TERM
| echo "loss=1"
| while :; do sleep 0.1; done
$ hone run --set limits.grace=300ms --minimize loss -- sh stubborn.sh > out & until hone ls stubborn 2> /dev/null | grep -q 'running  *1'; do sleep 0.02; done; hone stop stubborn > /dev/null; wait; head -3 out
experiment 2 started: stubborn
trial 2.1 stopped (cancelled) after [..]: 1
experiment 2 'stubborn' stopped (stopped by the user): 0 completed, 1 stopped
# one that stops itself does not outlive its time
$ hone run --set limits.trial_time=1s --set limits.grace=300ms -- sh -c 'kill -STOP $$' | head -3
experiment 3 started: sh
trial 3.1 failed after [..]
    over its time limit of 1.0s
# nor does it hold up a stop
$ hone run -d --set limits.grace=300ms --name halted -- sh -c 'echo $$ > me; kill -STOP $$' > /dev/null; until [ -s me ] && grep -q 'T (stopped)' /proc/$(cat me)/status; do sleep 0.02; done; hone stop halted
experiment 4 is told to stop
$ until hone show halted | grep -q 'state  *stopped'; do sleep 0.02; done; test -e /proc/$(cat me)
? 1
# a signal of its own is told with its name
$ hone run -- sh -c 'kill -SEGV $$' | head -3
experiment 5 started: sh
trial 5.1 failed after [..]
    killed by signal 11 (segmentation fault)
# over its memory
> eat.py
| blocks = []
| while True:
|     blocks.append(bytearray(8 << 20))
$ hone run --set resources.memory=64M -- /usr/bin/python3 eat.py | head -3
experiment 6 started: eat
trial 6.1 failed after [..]
    over its memory limit of 64 MiB
$ hone ls last --json | grep -o '"state":"[^"]*","reason":"[^"]*"'
"state":"failed","reason":"oom"
# more than the machine has is refused
$ hone run --set resources.memory=999T -- true
hone: a trial takes [..] of memory, [..] has [..]
? 2
$ hone run --set resources.cpus=9999 -- true
hone: a trial takes 9999 cpus, [..] has [..]
? 2
