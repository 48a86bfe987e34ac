#!tests/transcript
# a small experiment to look at: the value is 0.x of its parameter, the third trial fails
> spec.yaml
| name: quad
| command: [sh, -c, 'echo "epoch 1 loss=0.9"; echo "epoch 2 loss=0.{b}"; echo oops >&2; [ {b} != 3 ]']
| params:
|   b: [4, 2, 3]
|   word: ['a,b']
| objective: {metric: loss, goal: minimize}
| search: {algorithm: grid, parallel: 1, seed: 1}
$ hone run spec.yaml > /dev/null
# ls
$ hone ls
experiment  name  state     trials  done  failed  best  started [..]  time
         1  quad  finished       3     2       1   0.2  [..]
$ hone ls last
trial  state          loss  step  [..]parameters
  1.3  failed (exit)   0.3     2  [..]  b=3
  1.2  completed       0.2     2  [..]  b=2
  1.1  completed       0.4     2  [..]  b=4
$ hone ls quad --limit 1 --sort number
trial  state      loss  step  [..]
  1.1  completed   0.4     2  [..]  b=4
and 2 more: --all shows them
$ hone ls 1 --state failed --json
[
{"experiment":1,"name":"quad","trial":"1.3","state":"failed","reason":"exit","value":0.3,[..]"params":{"b":3,"word":"a,b"},"attempts":1,[..]
]
$ hone ls 1 --state queued
none in this state
# best
$ hone best quad | cut -c1-11
trial  loss
  1.2   0.2
  1.1   0.4
$ hone best quad --json
{"experiment":1,"name":"quad","trial":"1.2","state":"completed","reason":"","value":0.2,[..]"params":{"b":2,"word":"a,b"},"attempts":1,[..]"started":"[..]Z","ended":"[..]Z",[..]}
$ hone best quad -n 2 --json | grep -o '"trial":"[^"]*"'
"trial":"1.2"
"trial":"1.1"
# show
$ hone show 1
experiment   1 quad
state        finished
trials       2 completed, 1 failed
objective    minimize loss
best         0.2 in trial 1.2
             b=2
command      sh -c 'echo "epoch 1 loss=0.9"; echo "epoch 2 loss=0.{b}"; echo oops >&2; [ {b} != 3 ]'
...
failed trials
1.3  the program ended with an error
  exit status 1
  oops

best trials
trial  loss  parameters
  1.2   0.2  b=2
  1.1   0.4  b=4

environment
...
command      hone run [..]
...
last events
...
  [..]  trial 1.3 failed after [..]
...
$ hone show quad.3 | grep -v -e ^energy -e ^figures
trial        1.3 of quad
state        failed: the program ended with an error
loss         0.3 (step 2)
why          one of all settings, each in turn
started      [..]

error
  exit status 1
  oops
'hone logs 1.3' has all of its output

parameters
b            3
word         a,b

metrics
metric  last  min  max  count
loss     0.3  0.3  0.9      2
loss         █▁

attempts
attempt  started[..]
      1  [..]exit 1
...
$ hone show 1.9 | grep -v ^figures
hone: experiment 1 (quad) has no trial 9: 'hone ls 1' lists them
? 1
$ hone show nobody
hone: no experiment called 'nobody' in [..]: 'hone ls' lists them
? 1
# logs
$ hone logs 1.2
epoch 1 loss=0.9
epoch 2 loss=0.2
oops
$ hone logs 1.2 --stdout --tail 1
epoch 2 loss=0.2
$ hone logs last --stderr -f
oops
$ hone logs 1.2 --json
{"trial":"1.2","attempt":1,"stdout":"epoch 1 loss=0.9\nepoch 2 loss=0.2\n","stderr":"oops\n"}
$ hone logs 1.2 --attempt 4
hone: trial 1.2 has 1 attempt: --attempt 4 is not there
? 1
$ hone logs quad
hone: 'quad' is an experiment with 3 trials; name one of them, as in quad.1, or the newest as quad.last
? 1
# compare and diff
$ hone compare 1.1 1.3 | grep -e 1.1 -e state -e value -e '^b '
                1.1            1.3
state     completed  failed (exit)
value           0.4            0.3
b                 4              3
$ hone diff 1.1 1.2 | grep -v time | tr -s ' '
 1.1 1.2
parameters
 b 4 2
results
 value 0.4 0.2
 best 0.4 0.2
 loss 0.4 0.2
$ hone diff 1.1 last | head -1 | tr -s ' '; hone diff last 1.1 | head -1 | tr -s ' '
 1.1 1.3
 1.3 1.1
$ hone diff 1.1 1
hone: one of them is an experiment, the other a trial
? 1
# export
$ hone export quad --csv
trial,state,value,attempts,seconds,b,word,loss:minimize,repeat_of
1.1,completed,0.4,1,[..],4,"a,b",0.4,
1.2,completed,0.2,1,[..],2,"a,b",0.2,
1.3,failed,0.3,1,[..],3,"a,b",0.3,
$ hone export quad --metrics --csv | head -3
trial,metric,step,time,value
1.1,loss,1,[..],0.9
1.1,loss,2,[..],0.4
$ hone export quad --jsonl -o out.jsonl && wc -l < out.jsonl
3
# tags, notes and stars
$ hone tag 1.2 good fast && hone tag 1.2 fast --remove
1.2 tagged
1.2 untagged
$ hone note 1.2 the one to ship && hone note 1.2
1.2 noted
the one to ship
$ hone note 1.2 --clear --json
{"experiment":1,"trial":"1.2","done":"clear"}
$ hone star 1.2
1.2 starred
$ hone ls 1 | grep ★
  1.2  completed       0.2     2  [..]  b=2         ★ good
# removal
$ hone rm 1.1
hone rm: this would remove trial 1.1 of quad (completed), its results and files ([..]B); say --yes if it should
'hone help rm' tells more
? 2
$ hone rm 1.1 --yes
1.1 removed
$ hone ls 1 --json | grep -c trial
2
$ hone gc
nothing to free
$ mkdir -p .local/share/hone/experiments/9/1.1 && echo x > .local/share/hone/experiments/9/1.1/stdout && hone gc
freed [..]: 1 folder
$ hone rm quad --yes && hone ls
1 removed; 'hone gc' frees its code if no other experiment uses it
no experiments yet in [..]
