#!tests/transcript
# SPDX-License-Identifier: MIT
# the event files of a trial: those in the folder and below it, whatever writes them
> train.py
| import glob, os, shutil
| logs, host = "logs", "box" if os.environ.get("NO_PID") else "box.%d.0" % os.getpid()
| for run, source in (("", "torch/events.*"), ("/val", "tf2/events.*")):
|     os.makedirs(logs + run, exist_ok=True)
|     source = glob.glob(os.environ["ROOT"] + "/tests/tfevents/" + source)[0]
|     with open(source, "rb") as a, open(f"{logs}{run}/events.out.tfevents.9000000000.{host}", "wb") as b:
|         shutil.copyfileobj(a, b)
> tb.yaml
| command: python3 train.py
| params: {x: [1, 2]}
| objective: loss
| metrics: {tensorboard: logs/}
| search: {parallel: 1, algorithm: grid}
| code: none
# an old run's files lie there
$ mkdir logs && cp $ROOT/tests/tfevents/tensorboardx/events.* logs/ && while touch now; [ ! now -nt logs/events.* ]; do :; done
$ export ROOT; hone run tb.yaml | grep finished
experiment 1 'tb' finished: 2 completed
$ hone best 1 -n 1 | cut -c-16
trial       loss
  1.1  0.0333333
$ hone export 1 --metrics --csv | cut -d, -f1,2 | sort | uniq -c | grep -E '(loss|odd|acc|before)'
     30 1.1,loss
      7 1.1,odd
     30 1.1,val/acc_top_1
      1 1.1,val/before
     30 1.1,val/epoch_loss
     30 1.2,loss
      7 1.2,odd
     30 1.2,val/acc_top_1
      1 1.2,val/before
     30 1.2,val/epoch_loss
# two at a time in one folder: the process id in the name tells them apart
$ hone run tb.yaml --name two --set search.parallel=2 | grep finished; hone export two --metrics --csv | grep -c ',loss,'
experiment 2 'two' finished: 2 completed
60
# a folder for each trial, and names without a process id
$ NO_PID=1 hone run tb.yaml --name own --set search.parallel=2 --set workdir=trial | grep finished; hone export own --metrics --csv | grep -c ',val/epoch_loss,'
experiment 3 'own' finished: 2 completed
60
# a folder that never comes has no metrics
$ hone run tb.yaml --name none --set metrics.tensorboard=elsewhere | grep -E '^trial 4.1'
trial 4.1 failed after [..]  x=1
$ hone check tb.yaml --set metrics.tensorboard="''"
hone: --set metrics.tensorboard='': 'metrics.tensorboard' is the folder of the event files; '.' is where the trial runs
? 2
