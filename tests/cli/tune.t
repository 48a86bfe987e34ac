#!tests/transcript
# SPDX-License-Identifier: MIT
# what is wrong is said in a sentence, and nothing starts
$ hone tune
hone tune: name a spec file, or give the program after --
'hone help tune' tells more
? 2
$ hone tune --system threads -- true
hone: --system threads: must be NAME=VALUE, like threads=1,2,4
? 2
$ hone tune --system threads=1..x -- true
hone: --system threads=1..x: system.threads: a range has whole numbers, so 'max' cannot be 'x'; list others
? 2
$ hone tune --system thread=0..2:sometimes -- true
system.thread: Hone has no such one, so it is passed to the program, did you mean 'threads'?
hone: --system thread=0..2:sometimes: system.thread: 'apply' must be live or restart, not 'sometimes'
? 2
$ hone tune --fixed threads=1,2 -- true
hone: --fixed threads=1,2: must be one value; --system tunes among several
? 2
$ hone tune --fixed threads=1 --system cpus=1,2 -- true
hone tune: --system tunes and --fixed does not: one of them
'hone help tune' tells more
? 2
$ hone tune --fixed threads=1 --fixed threads=2 -- true
hone: --fixed threads=1 and --fixed threads=2: threads is given twice
? 2
$ hone tune --system cpus=1,2 --system threads=1,2 --system cpus=1..2 -- true
hone: --system cpus=1,2 and --system cpus=1..2: cpus is given twice
? 2
$ hone tune --time 0s -- true
hone: --time 0s: 'limits.time' must be longer than 0, or none, not '0s'
? 2
$ hone tune --target loss=3 -- true
hone: --target loss=3: must be METRIC<=NUMBER or METRIC>=NUMBER
? 2
$ hone tune --target 'loss<=low' -- true
hone: --target loss<=low: 'objective.target' must be a number, not 'low'
? 2
$ hone tune --average 3 -- true
hone tune: --average is about a target: give it by --target
'hone help tune' tells more
? 2
$ hone tune --workers any -- true
hone tune: --workers is about a target: give it by --target
'hone help tune' tells more
? 2
$ hone tune --target 'loss<=2' --workers few -- true
hone: --workers few: 'objective.workers' must be one of all, 90%, any, not 'few'
? 2
$ hone tune -
hone tune: the spec must be a file, not standard input
'hone help tune' tells more
? 2
$ hone ls
no experiments yet in [..]: 'hone init' writes a spec, 'hone run' runs it
# a baseline: nothing is tuned, and the program is told what it has
> env.sh
| echo "step=1 loss=3"
| echo "$HONE_SYSTEM" > system
$ hone tune --fixed threads=1 --name base -- sh env.sh
experiment 1 started: base
trial 1.1 completed after [..]
experiment 1 'base' finished: 1 completed
  machine: threads=1 (0 changes)

results are in [..]
next: hone ls 1 · hone logs 1.1
$ cat system
{"threads":1}
$ hone export base --iterations | cut -d, -f1-3,6-
trial,attempt,step,loss,generation,threads
1.1,1,1,3,1,1
# the target ends it: with the mean of the last values if that is asked for
> fall.sh
| for i in 1 2 3 4 5 6 7 8 9; do echo "step=$i loss=$((10-i))"; done
| while :; do sleep 0.1; done
$ hone tune --target 'loss<=3' --fixed threads=1 --name to3 -- sh fall.sh | grep -o 'finished.*'
finished (the objective reached its target): 1 completed
$ hone tune --target 'loss<=2' --average 3 --fixed threads=1 --name mean -- sh fall.sh | grep -o 'finished.*'
finished (the objective reached its target): 1 completed
# not reached: that is said, and the program's own end is no failure
$ HONE_HOME=miss hone tune --target 'loss<=0.05' --fixed threads=1 --name miss -- sh -c 'echo step=1 loss=0.12; echo step=2 loss=0.3' | grep -A1 -o 'finished:.*\|the target.*'
finished: 1 completed
the target 0.05 was not reached: best 0.12
$ HONE_HOME=miss hone tune --target 'loss<=2' --average 3 --fixed threads=1 --name short -- sh -c 'for i in 5 4 1; do echo loss=$i; done' | grep -o 'the target.*'
the target 2 was not reached by the mean of 3 values: best 1
# a size is shown as one types it, and is a number in JSON
$ HONE_HOME=miss hone tune --system memory=400M,200M --name big -- echo step=1 | grep -o 'machine: memory=[0-9A-Z]*'; HONE_HOME=miss hone show big.1 | grep -o '^machine .*M'; HONE_HOME=miss hone show big.1 --json | grep -o '"system":{[^}]*}'
machine: memory=400M
machine      memory=400M
"system":{"memory":419430400}
# of workers that report one by one: when enough of them are there
> crew.sh
| for i in 1 2 3; do for w in 0 1; do echo "train,worker=$w loss=$((6-i*(w+1))),step=${i}i" >> $HONE_METRICS; done; done
| while :; do sleep 0.1; done
$ hone tune --target 'loss<=0' --workers any --fixed threads=1 --name crew -- sh crew.sh | grep -o 'finished.*'
finished (the objective reached its target): 1 completed
$ hone show crew.1 --json | grep -o '"value":[0-9.]*'
"value":1.5
# a file: its own number of trials and system parameters hold
> job.yaml
| command: sh env.sh
| params: {x: [1, 2, 3]}
| search: {trials: 2}
| system: {workers: [1, 2]}
$ hone tune job.yaml | grep -o 'finished.*'
finished: 2 completed
$ hone show job.1 --json | grep -o '"system":{[^}]*}'
"system":{"workers":1}
# a parameter of the same name is the user's own
$ hone tune --param threads=3 --name own -- sh env.sh | grep -o 'finished.*'
finished: 1 completed
# the machine is tuned while the program runs: half the threads are so much faster here that it is seen
# on a busy machine, too
> train.py
| import hone, time
| left = 20
| step = 0
| while left and hone.step(step):
|     threads = hone.system("threads", 2)
|     time.sleep(0.4 if threads == 2 else 0.01)
|     left -= threads == 1
|     step += 1
|     hone.log(loss=1 / step, step=step)
$ PYTHONPATH=$ROOT/sdk/python hone tune --system threads=2,1 --name live -- python3 train.py | grep -E '→|finished'
7.1  threads 2 → 1: predicted [..]
experiment 7 'live' finished: 1 completed
$ hone export live --iterations | cut -d, -f8 | uniq
threads
2
1
$ hone export live --summary | cut -d, -f2,11,17-
state,changes,best_threads,final_threads
completed,1,1,1
$ hone show live.1 | sed -n '/^tuning/,/^$/p' | head -2
tuning of the machine
[..]  step [..]  threads 2 → 1: predicted [..]
$ hone show live | grep ^machine
machine      threads=1 (1 change[..])
# two trials side by side: the machine too
$ hone diff base.1 live.1 --all | sed -n '/^machine/,/^spec/p' | grep -E '^machine|threads|changes' | tr -s ' '
machine
 threads 1 1
 changes 0 1
# a job alone begins with all cpus; what does not listen keeps its threads, and that is said; the user's own count is left alone
> plain.sh
| for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do echo "step $i loss: 1"; sleep 0.2; done
| echo "$OMP_NUM_THREADS" > threads
$ hone tune --name plain --port off -- sh plain.sh | grep -o 'threads cannot be changed while it runs' ; [ "$(cat threads)" = "$(nproc)" ] && echo all
threads cannot be changed while it runs
all
$ OMP_NUM_THREADS=3 hone tune --name mine --port off -- sh plain.sh | grep -c threads; cat threads
0
3
? 0
