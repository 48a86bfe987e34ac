#!tests/transcript
# SPDX-License-Identifier: MIT
# every step with its metrics, the configuration and the parameters; a trial that began again has
# its steps twice
> steps.py
| import os, time
| first = os.environ["HONE_ATTEMPT"] == "1"
| for step in (1, 2):
|     with open(os.environ["HONE_METRICS"], "a") as metrics:
|         metrics.write(f"train loss={3 - step},speed={step}.5,step={step}i {time.time_ns()}\n")
| raise SystemExit(7 if first else 0)
> spec.yaml
| command: python3 steps.py
| params: {lr: [0.5]}
| system: {workers: [2, 4]}
| retry: [7]
| tune: hyper
$ hone run spec.yaml > out; hone export last --iterations | cut -d, -f1-3,6-
trial,attempt,step,loss,speed,generation,workers,lr
1.1,1,1,2,1.5,1,2,0.5
1.1,1,2,1,2.5,1,2,0.5
1.1,2,1,2,1.5,1,2,0.5
1.1,2,2,1,2.5,1,2,0.5
$ hone export last --iterations | cut -d, -f4,5
time,elapsed_s
20[..]Z,[..]
20[..]Z,[..]
20[..]Z,[..]
20[..]Z,[..]
$ hone export last --iterations --jsonl | tail -1
{"trial":"1.1","attempt":2,"step":2,"time":"20[..]Z","elapsed_s":[..],"metrics":{"loss":1,"speed":2.5},"generation":1,"system":{"workers":2},"params":{"lr":0.5}}
# a row for a trial
$ hone export last --summary
trial,state,reason,value,runtime_s,steps,seconds_per_step,first_seconds_per_step,last_seconds_per_step,target,changes,change_cost_s,live_change_s,restart_change_s,energy_j,energy,best_workers,final_workers,lr
1.1,completed,,,[..],2,[..],[..],[..],,0,0,,,[..],,2,0.5
$ hone export last --summary --jsonl
{"trial":"1.1","state":"completed","reason":null,"value":null,"runtime_s":[..],"steps":2,"seconds_per_step":[..],"target":null,"changes":0,"change_cost_s":0,"live_change_s":null,"restart_change_s":null,"energy_j":[..],"energy":[..],"best":null,"final":{"workers":2},"params":{"lr":0.5}}
# output has no times of its own: they are those at which it was read; a bar draws a step again
$ hone run --name out --minimize loss -- sh -c 'echo step=1 loss=5; echo step=1 loss=2; echo step=1 acc=3; echo step=2 loss=1' > out; hone export out --iterations | sed 's/,20[^,]*Z,[0-9.e-]*,/,TIME,ELAPSED,/'
trial,attempt,step,time,elapsed_s,loss,acc,generation
2.1,1,1,TIME,ELAPSED,2,3,0
2.1,1,2,TIME,ELAPSED,1,,0
# one thing at a time
$ hone export last --summary --iterations
hone export: one of --metrics, --iterations and --summary, not several
'hone help export' tells more
? 2
$ hone export nothing --summary
hone: no experiment called 'nothing' in [..]: 'hone ls' lists them
? 1
$ hone export out --summary -o sum.csv && cut -d, -f1-4 sum.csv
trial,state,reason,value
2.1,completed,,1
