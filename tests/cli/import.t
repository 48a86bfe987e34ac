#!tests/transcript
# SPDX-License-Identifier: MIT
# an Optuna database; with several studies one has to be named
$ sqlite() { python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(open(sys.argv[2]).read())' "$@"; }; sqlite o3.db $ROOT/tests/cli/optuna3.sql; sqlite o2.db $ROOT/tests/cli/optuna2.sql
$ hone import o3.db
hone: o3.db: it holds 2 studies; say --study and one of: demo study, two
? 2
$ hone import o3.db --study 'demo studie'
hone: o3.db: it holds no study 'demo studie', but: demo study, two
? 2
$ hone import o3.db --study 'demo study'
parameter 'x (raw)' is called 'x__raw_' here
experiment 1 'demo_study': 12 trials imported from Optuna study 'demo study', 4 parameters
$ hone ls
experiment  name        state     trials  done  stopped  failed    best  started           time
         1  demo_study  finished      12     9        1       2  0.1364  2026-11-16 03:01  3.5s
$ hone ls 1 --sort number --all
trial  state                 value  step   time  parameters
  1.1  completed           9.09588     2  281ms  model=tree x__raw_=-2.9993 n=5
  1.2  completed           3.60574     2  331ms  model=svm x__raw_=-1.8824 n=6 svm.c=0.62163
  1.3  completed            1.8055     2  314ms  model=svm x__raw_=1.1113 n=3 svm.c=5.7047
  1.4  failed (exit)                   2  335ms  model=tree x__raw_=-0.49617 n=12
  1.5  failed (diverged)               2  249ms  model=tree x__raw_=1.8045 n=57
  1.6  completed           5.20008     2  288ms  model=tree x__raw_=2.2583 n=43
  1.7  stopped (pruned)    4.42443     1  270ms  model=svm x__raw_=-1.981 n=41 svm.c=0.15729
  1.8  completed          0.139598     2  256ms  model=tree x__raw_=0.19899 n=20
  1.9  completed           4.13108     2  231ms  model=tree x__raw_=2.0078 n=2
 1.10  completed            2.3171     2  264ms  model=tree x__raw_=1.489 n=4
 1.11  completed            0.1364     2  332ms  model=svm x__raw_=-0.31264 n=46 svm.c=0.38657
 1.12  completed           8.34279     2  328ms  model=svm x__raw_=-2.8838 n=19 svm.c=0.26501
$ hone best demo_study -n 3
trial     value   time  model    x__raw_   n    svm.c
 1.11    0.1364  332ms  svm    -0.312639  46  0.38657
  1.8  0.139598  256ms  tree    0.198992  20
  1.3    1.8055  314ms  svm      1.11132   3  5.70473
$ hone show demo_study.7
trial        1.7 of demo_study
state        stopped: stopped early: worse than the others
value        4.42443 (step 1)
started      2026-11-16 03:01, ran 270ms

parameters
model        svm
x__raw_      -1.9810174826125866
n            41
svm.c        0.15728730372487212

metrics
metric     last      min      max  count
value   4.42443  4.42443  4.92443      2
value        █▁

environment
imported     Optuna study 'demo study'
file         [..]/o3.db
# a parameter that only one choice has is conditional
$ hone show 1 --json | grep -o '"svm.c":{[^}]*}}*'
"svm.c":{"type":"float","scale":"log","min":0.1,"max":10,"when":{"model":["svm"]}}}
# curves are there
$ hone export 1 --metrics | head -4
trial,metric,step,time,value
1.1,value,0,,9.995882977513142
1.1,value,1,,9.495882977513142
1.1,value,2,,9.329216310846476
# two objectives: a Pareto front
$ hone import o3.db --study two --name pair --json
{"experiment":2,"name":"pair","trials":6,"params":2}
$ hone best pair
6 of 6 completed trials are beaten by no other in all objectives
hypervolume 0.0950561, 32.3% of the box between the worst (0.175724, 0.00022875) and the best of each objective

trial        value     value_2   time            a  b
  2.2  1.30816e-08  0.00022875  154ms  0.000114375  1
  2.3    0.0215373    0.293512  109ms     0.146756  1
  2.4    0.0346929    0.558781  136ms      0.18626  2
  2.5     0.157424      1.1903  151ms     0.396767  2
  2.1     0.173907     1.66809  138ms     0.417022  3
  2.6     0.175724     1.67678  106ms     0.419195  3
# older versions; a range that differs is covered, what runs there is left out
$ hone import o2.db && hone best old && hone show old --json | grep -o '"params":{"lr":{.*"forbid"'
experiment 3 'old': 2 trials imported from Optuna study 'old', 5 parameters
trial  value   time    lr  drop  layers  units  act
  3.2   0.95  10.0s   0.5   0.2       1    500  true
  3.1   0.91  30.5s  0.01   0.3       3     64  None
"params":{"lr":{"type":"float","scale":"log","min":0.0001,"max":2},"drop":{"type":"float","scale":"linear","min":0,"max":0.5,"step":0.1},"layers":{"type":"int","scale":"linear","min":1,"max":4},"units":{"type":"int","scale":"log","min":8,"max":512},"act":{"values":["relu","None",3,true]}},"tune":"pipelined","forbid"
# a table
> grid.csv
| lr,batch,act,acc,note
| 0.001,32,relu,0.81,first
| 0.01,64,tanh,0.93,"quoted, ""so"""
| 0.1,128,relu,,broke
| 0.03,64,relu,0.9,
$ hone import grid.csv --objective acc:maximize --ignore note
experiment 4 'grid': 4 trials imported from the table grid.csv, 3 parameters
$ hone best grid
trial   acc  time     lr  batch  act
  4.2  0.93   0ms   0.01     64  tanh
  4.4   0.9   0ms   0.03     64  relu
  4.1  0.81   0ms  0.001     32  relu
$ hone show grid.3 | head -2
trial        4.3 of grid
state        failed: ended without writing the objective metric
$ hone show grid --json | grep -o '"params":{"lr":{.*"forbid"'
"params":{"lr":{"type":"float","scale":"log","min":0.001,"max":0.1},"batch":{"type":"int","scale":"linear","min":32,"max":128},"act":{"values":["relu","tanh"]}},"tune":"pipelined","forbid"
# other separators
> semi.csv
| lr;acc
| 0,001;0,81
| 0,01;0,93
$ HONE_HOME=apart hone import semi.csv --objective acc:maximize; HONE_HOME=apart hone export semi | cut -d, -f1,3,6
experiment 1 'semi': 2 trials imported from the table semi.csv, 1 parameter
trial,value,lr
1.1,0.81,0.001
1.2,0.93,0.01
# what export wrote comes back
$ hone export grid --csv -o again.csv && hone import again.csv --name again && hone export again --csv | cut -d, -f2,3,6- > b; cut -d, -f2,3,6- again.csv | diff - b
experiment 5 'again': 4 trials imported from the table again.csv, 3 parameters
# ... with its goals, its constraints and its repeats
> front.yaml
| name: front
| command: [sh, -c, 'echo "acc=$(({a} * 2)) ms=$(({a} * {a})) mem={a}"']
| params: {a: [1, 2, 3, 4]}
| objective: [{metric: acc, goal: maximize}, ms]
| constraint: [mem <= 3, acc >= 1]
| search: {algorithm: grid, parallel: 1}
$ HONE_HOME=f hone run front.yaml > out; HONE_HOME=f hone export front | tee front.csv | cut -d, -f6-
a,acc:maximize,ms:minimize,mem<=3,acc>=1,repeat_of
1,2,1,1,2,
2,4,4,2,4,
3,6,9,3,6,
4,8,16,4,8,
$ HONE_HOME=f hone import front.csv --name back && HONE_HOME=f hone best back && HONE_HOME=f hone export back | cut -d, -f2,3,6- > b; cut -d, -f2,3,6- front.csv | diff - b
experiment 2 'back': 4 trials imported from the table front.csv, 1 parameter
3 of 4 completed trials are beaten by no other in all objectives
hypervolume 38, 42.2% of the box between the worst (2, 16) and the best of each objective

trial  acc  ms  time  a
  2.3    6   9   0ms  3
  2.2    4   4   0ms  2
  2.1    2   1   0ms  1
$ HONE_HOME=f hone import front.csv --objective acc --name one > out; HONE_HOME=f hone best one -n 1
trial  acc  time  a
  3.3    6   0ms  3
> twice.csv
| trial,state,value,attempts,seconds,a,acc:maximize,repeat_of
| 7.2,completed,1,1,1,5,1,
| 7.4,completed,2,1,1,6,2,
| 7.5,completed,3,1,1,6,3,7.4
$ HONE_HOME=f hone import twice.csv && HONE_HOME=f hone export twice | cut -d, -f1,6-
experiment 4 'twice': 3 trials imported from the table twice.csv, 1 parameter
trial,a,acc:maximize,repeat_of
4.1,5,1,
4.2,6,2,
4.3,6,3,4.2
# a table of an older hone does not tell the goal
$ cut -d, -f1-6 front.csv > old.csv; hone import old.csv
hone: old.csv: it does not tell whether a small or a large value is good. Say --objective value:minimize or --objective value:maximize
? 2
$ HONE_HOME=f hone import old.csv --objective value:maximize > out; HONE_HOME=f hone best old -n 1
trial  value  time  a
  5.4      8   0ms  4
# nobody can run it, unless a command was given
$ hone resume again --trials +2
hone: experiment 5 was imported without a command: there is nothing to run; 'knowledge: again' in a spec learns from it
? 1
$ hone import grid.csv --objective acc:maximize --ignore note --name more -- sh -c 'echo acc=0.5' && hone resume more --trials +2 | grep finished
experiment 6 'more': 4 trials imported from the table grid.csv, 3 parameters
experiment 6 'more' finished: 5 completed, 1 failed
# what failed elsewhere, or lies outside of the space, does not keep the search's suggestions from coming again
$ (export HONE_HOME=elsewhere; hone import o3.db --study 'demo study' --name on -- sh -c 'echo value={n}' > out; hone resume on --trials +10 > out; hone replay on)
10 of 10 suggestions reproduced
$ python3 -c 'print("x,y,loss"); [print(f"{i / 20},{i * 7 % 20 / 20 if i % 6 else str()},{(i / 20 - 0.3) ** 2 if i % 5 else str()}") for i in range(20)]' > holes.csv; (export HONE_HOME=elsewhere; hone import holes.csv --objective loss --name holes -- sh -c 'echo loss={x}' > out; hone resume holes --trials +10 > out; hone replay holes)
10 of 10 suggestions reproduced
# bad files say so, and nothing is changed
$ hone import grid.csv
hone: grid.csv: which column is the objective? Say --objective COLUMN or --objective COLUMN:maximize
? 2
$ hone import grid.csv --objective ac
hone: grid.csv: there is no column 'ac', did you mean 'act'?
? 2
> ragged.csv
| a,b
| 1,2
| 3
$ hone import ragged.csv --objective a
hone: ragged.csv: line 3 has 1 fields, the header 2
? 2
> words.csv
| a,b
| 1,x
$ hone import words.csv --objective b
hone: words.csv: row 1: objective 'b' is 'x', which is no number
? 2
$ hone import words.csv --objective a --ignore b
hone: words.csv has no parameters
? 2
$ head -c 5000 o3.db > cut.db; hone import cut.db
hone: cut.db: not a readable Optuna database: database disk image is malformed
? 2
$ cp .local/share/hone/hone.db ours.db; hone import ours.db
hone: ours.db: not a readable Optuna database: no such table: studies
? 2
$ hone import o3.db --study two --objective value
hone: --objective and --ignore are for CSV files; a study knows its objectives
? 2
$ hone import missing.csv
hone: cannot read missing.csv: No such file or directory
? 1
$ : > empty.csv; hone import empty.csv --objective a
hone: empty.csv: the file is empty
? 2
$ hone import o3.db --study two --name 'no name'
hone: o3.db:1:9: 'no name' cannot be a name; it would be 'no_name'
? 2
$ hone ls | wc -l
7
# beside a running engine: through its socket
$ hone run --name other --parallel 1 --trials 1 -d -- sh -c 'touch held; while test -e held; do sleep 0.02; done'; until test -e held; do sleep 0.02; done
experiment 7 runs in the background (pid [..]): 'hone attach 7' shows it
$ hone import grid.csv --objective acc:maximize --name beside --json
{"experiment":8,"name":"beside","trials":4,"params":4}
$ hone import words.csv --objective b; rm held; hone attach other > out 2>&1; hone ls | cut -c1-20
hone: words.csv: row 1: objective 'b' is 'x', which is no number
experiment  name    
         8  beside  
         7  other   
         6  more    
         5  again   
         4  grid    
         3  old     
         2  pair    
         1  demo_stu
