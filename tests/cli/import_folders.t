#!tests/transcript
# SPDX-License-Identifier: MIT
# TensorBoard's event files: each folder with some is a trial
$ mkdir runs && cp -r $ROOT/tests/tfevents/torch runs/a && cp -r $ROOT/tests/tfevents/tf2 runs/b && cp runs/a/events* before
$ hone import runs
no objective: say --objective METRIC to have its trials ranked
parameter 'lr' is missing in some trials
parameter 'optimizer' is missing in some trials
parameter 'nesterov' is missing in some trials
experiment 1 'runs': 5 trials imported from TensorBoard's event files in runs, 3 parameters
$ hone ls runs --sort number
trial  state      value  step   time  parameters
  1.1  completed            3
  1.2  completed            3
  1.3  completed           29   11ms
  1.4  completed            0         lr=0.01 optimizer=adam nesterov=1
  1.5  completed           29  32.0s
$ hone show runs.4 | sed -n '/^note/,/^hparam/p'
note
  a/hp

parameters
lr           0.01
optimizer    adam
nesterov     1

metrics
metric      last   min   max  count
hparam/acc  0.93  0.93  0.93      1
$ hone export runs --metrics --csv | grep '^1.3,odd,' | cut -d, -f1-3,5
1.3,odd,0,nan
1.3,odd,1,inf
1.3,odd,2,-inf
1.3,odd,3,-0
1.3,odd,4,1.401298464324817e-45
1.3,odd,5,3.4028234663852886e+38
1.3,odd,6,0.10000000149011612
# nothing was changed there; again is a further experiment; a metric to rank by
$ cmp runs/a/events* before && hone import runs --objective hparam/acc:maximize --name again --json
{"experiment":2,"name":"again","trials":5,"params":3}
$ hone best again
trial  hparam/acc  time
  2.4        0.93   0ms
$ hone import runs --objective los
hone: runs: no run has a metric 'los', did you mean 'loss'?
? 2
# MLflow's file store: each of its experiments; what was deleted is left out
$ mkdir -p mlruns/0 mlruns/.trash/9 mlruns/7/aaa/params mlruns/7/aaa/metrics/train mlruns/7/bbb/params mlruns/7/bbb/metrics mlruns/7/ccc mlruns/7/ddd
> mlruns/0/meta.yaml
| artifact_location: file:///tmp/mlruns/0
| experiment_id: '0'
| lifecycle_stage: active
| name: Default
> mlruns/7/meta.yaml
| experiment_id: '7'
| lifecycle_stage: active
| name: digits net
> mlruns/.trash/9/meta.yaml
| experiment_id: '9'
| lifecycle_stage: deleted
| name: gone
> mlruns/7/aaa/meta.yaml
| end_time: 1700000010000
| lifecycle_stage: active
| run_id: aaa
| run_name: brave-ant-1
| start_time: 1700000001000
| status: 3
> mlruns/7/aaa/params/lr
| 0.01
> mlruns/7/aaa/params/optimizer
| adam
> mlruns/7/aaa/metrics/train/loss
| 1700000002000 0.5 0
| 1700000003000 0.25 1
| 1700000004000 nan 2
| torn
> mlruns/7/aaa/metrics/acc
| 1700000003500 0.9
> mlruns/7/bbb/meta.yaml
| lifecycle_stage: active
| run_uuid: bbb
| start_time: 1699999000000
| status: RUNNING
> mlruns/7/bbb/params/lr
| 0.1
> mlruns/7/bbb/metrics/acc
| 1699999000500 0.8 0
| 1699999001500 0.85 10
> mlruns/7/ccc/meta.yaml
| lifecycle_stage: deleted
| run_id: ccc
| status: 3
> mlruns/7/ddd/meta.yaml
| end_time: 1700000020000
| lifecycle_stage: active
| run_id: ddd
| start_time: 1700000015000
| status: FAILED
$ hone import . --objective acc:maximize
1 run has not ended there: taken as stopped
1 line was not read as a metric: ./mlruns/7/aaa/metrics/train/loss:4
parameter 'lr' is missing in some trials
parameter 'optimizer' is missing in some trials
experiment 3 'digits_net': 3 trials imported from MLflow experiment 'digits net', 2 parameters
$ hone ls digits_net --sort number
trial  state            acc  step  time  parameters
  3.1  stopped (lost)  0.85    10        lr=0.1
  3.2  completed        0.9     2  9.0s  lr=0.01
  3.3  failed (exit)               5.0s
$ hone export digits_net --metrics --csv
trial,metric,step,time,value
3.1,acc,0,2023-11-14T21:56:40.500000Z,0.8
3.1,acc,10,2023-11-14T21:56:41.500000Z,0.85
3.2,acc,0,2023-11-14T22:13:23.500000Z,0.9
3.2,train/loss,0,2023-11-14T22:13:22.000000Z,0.5
3.2,train/loss,1,2023-11-14T22:13:23.000000Z,0.25
3.2,train/loss,2,2023-11-14T22:13:24.000000Z,nan
# Lightning's CSV files; others are a trial each
$ mkdir -p lightning_logs/version_0 lightning_logs/version_10 lightning_logs/version_2 tables
> lightning_logs/version_0/metrics.csv
| epoch,step,train_loss,val acc
| 0,49,0.7,
| 0,99,,0.8
| 1,149,0.3,
> lightning_logs/version_0/hparams.yaml
| lr: 0.02
| model: {depth: 3, name: 'res'}
> lightning_logs/version_10/metrics.csv
| epoch,step,train_loss,val acc
| 0,49,0.6,inf
> lightning_logs/version_10/hparams.yaml
| lr: 0.2
> lightning_logs/version_2/metrics.csv
| epoch,step,train_loss,val acc
$ hone import lightning_logs --objective train_loss
parameter 'lr' is missing in some trials
parameter 'model.depth' is missing in some trials
parameter 'model.name' is missing in some trials
experiment 4 'lightning_logs': 3 trials imported from the tables in lightning_logs, 3 parameters
$ hone ls lightning_logs --sort number; hone export lightning_logs --metrics --csv
trial  state               train_loss  step  time  parameters
  4.1  completed                  0.3   149        lr=0.02
  4.2  failed (no_metric)
  4.3  completed                  0.6    49        lr=0.2
trial,metric,step,time,value
4.1,epoch,49,,0
4.1,epoch,99,,0
4.1,epoch,149,,1
4.1,train_loss,49,,0.7
4.1,train_loss,149,,0.3
4.1,val_acc,99,,0.8
4.3,epoch,49,,0
4.3,train_loss,49,,0.6
4.3,val_acc,49,,inf
> tables/one.csv
| loss,"a ""b"""
| 3,1
| 2,x
| 1,
$ hone import tables && hone export tables --metrics --csv
no objective: say --objective METRIC to have its trials ranked
experiment 5 'tables': 1 trial imported from the tables in tables, 0 parameters
trial,metric,step,time,value
5.1,loss,0,,3
5.1,loss,1,,2
5.1,loss,2,,1
5.1,"a_""b""",0,,1
# semicolons with decimal commas, tabs; a step that is a word is told with its line
$ mkdir german words
> german/a.csv
| step;loss;name
| 1;0,5;x
| zwei;0,25;y
| 3;1,5e-3;z
$ printf 'step\tacc\n7\t0.5\n' > german/b.csv; hone import german && hone export german --metrics --csv
1 line was not read as a metric: [..]/german/a.csv:3
no objective: say --objective METRIC to have its trials ranked
experiment 6 'german': 2 trials imported from the tables in german, 0 parameters
trial,metric,step,time,value
6.1,loss,1,,0.5
6.1,loss,3,,0.0015
6.2,acc,7,,0.5
# a table of words is no run; beside others it is told
> words/a.csv
| step,name
| 1,x
$ hone import words
hone: words: [..]/words/a.csv: no column has a number below the header; a table needs a header line, and cells parted by commas, semicolons or tabs
? 2
$ printf 'loss\n3\n' > words/b.csv; hone import words --objective loss
[..]/words/a.csv: no column has a number, so the trial has no samples
experiment 7 'words': 2 trials imported from the tables in words, 0 parameters
# no runs
$ mkdir empty && hone import empty
hone: empty: there are no runs: neither TensorBoard's event files, nor MLflow's mlruns, nor CSV files
? 2
$ hone import nowhere
hone: cannot read nowhere: No such file or directory
? 1
# its curves are in the store of series at once, for charts
$ mkdir -p csvs/a; (echo step,loss; seq 1 50 | sed 's/.*/&,0.&/') > csvs/a/metrics.csv; HONE_HOME=apart hone import csvs | tail -1
experiment 1 'csvs': 1 trial imported from the tables in csvs, 0 parameters
$ HONE_HOME=apart hone doctor --store | grep -o '[0-9]* values'
50 values
# what is broken in a metric's file is told, and the rest is read
$ mkdir -p torn/mlruns/3/run/metrics && printf 'experiment_id: "3"\nname: torn\n' > torn/mlruns/3/meta.yaml && printf 'run_id: run\nstatus: 3\n' > torn/mlruns/3/run/meta.yaml
$ printf '1700000000123 0.5 0\n17000000\n1700000000124 0.25 1\n1700000000125 x 2\n' > torn/mlruns/3/run/metrics/loss
$ hone import torn --objective loss
2 lines were not read as a metric: the first is torn/mlruns/3/run/metrics/loss:2
experiment 8 'torn': 1 trial imported from MLflow experiment 'torn', 0 parameters
$ hone export torn --metrics --csv | cut -d, -f2,3,5
metric,step,value
loss,0,0.5
loss,1,0.25
# event files that are cut, damaged, empty or something else are told; the rest is read
$ mkdir -p hurt/cut hurt/flip hurt/long hurt/none; one=$(ls runs/a/events* | head -1); head -c 300 $one > hurt/cut/$(basename $one); cp $one hurt/flip/; cp $one hurt/long/; touch hurt/none/$(basename $one)
$ printf '\377' | dd of=$(ls hurt/flip/*) bs=1 seek=105 conv=notrunc status=none; printf '\377' | dd of=$(ls hurt/long/*) bs=1 seek=180 conv=notrunc status=none
$ hone import hurt
[..]/hurt/cut/events.out.tfevents.1794829445.vm.13364.0: damaged at byte 295, the rest was left out
[..]/hurt/flip/events.out.tfevents.1794829445.vm.13364.0: damaged at byte 88, 1 record was left out
[..]/hurt/long/events.out.tfevents.1794829445.vm.13364.0: damaged at byte 177, the rest was left out
[..]/hurt/none/events.out.tfevents.1794829445.vm.13364.0: is empty
no objective: say --objective METRIC to have its trials ranked
experiment 9 'hurt': 4 trials imported from TensorBoard's event files in hurt, 0 parameters
$ rm -r hurt/cut hurt/flip hurt/long; hone import hurt
hone: hurt: nothing could be read: [..]/hurt/none/events.out.tfevents.1794829445.vm.13364.0: is empty
? 2
$ head -c 1000 /dev/urandom > $(ls hurt/none/*); hone import hurt
hone: hurt: nothing could be read: [..]/hurt/none/events.out.tfevents.1794829445.vm.13364.0: is no event file
? 2
# whole numbers keep their 64 bits; what stands beyond the header is told with its line
$ mkdir whole; printf 'step,n\n1,9007199254740993\n2,-9223372036854775807,7\n3,1.5,\n4,18446744073709551616,8\n' > whole/a.csv; hone import whole && hone export whole --metrics --csv | cut -d, -f2,3,5
[..]/whole/a.csv: line 3 has 3 cells, the header 2: what is beyond was left out, there and in 1 more line
no objective: say --objective METRIC to have its trials ranked
experiment 10 'whole': 1 trial imported from the tables in whole, 0 parameters
metric,step,value
n,1,9007199254740993
n,2,-9223372036854775807
n,3,1.5
n,4,1.8446744073709552e+19
# a metric that no run has: which there are
$ hone import whole --objective val/acc
hone: whole: no run has a metric 'val/acc'; there is 'n'
? 2
