#!tests/transcript
# SPDX-License-Identifier: MIT
# what programs print is recognised
> print.sh
| echo 'Epoch 1/2'
| echo '10/10 [====] - 1s 2ms/step - loss: 0.7 - val_acc: 0.5'
| echo '{"epoch": 2, "loss": 0.6}'
| echo 'epoch 3: loss=0.5, lr=1e-3'
| printf 'step 4 loss 0.25'
$ hone run --minimize loss -- sh print.sh > /dev/null; hone export last --metrics | cut -d, -f1-3,5
trial,metric,step,value
1.1,loss,1,0.7
1.1,loss,2,0.6
1.1,loss,3,0.5
1.1,loss,4,0.25
1.1,val_acc,1,0.5
1.1,lr,3,0.001
# patterns in the spec
> pattern.yaml
| command: [echo, "at 7 the validation error is 12.5 percent"]
| metrics: ['at (?<step>\d+) the validation error is (?<err>[0-9.]+)']
| objective: err
$ hone run pattern.yaml > /dev/null; hone export last --metrics --csv
trial,metric,step,time,value
2.1,err,7,20[..]Z,12.5
# NaN in the objective ends the trial: diverged
> diverge.yaml
| command: [sh, -c, 'echo "step 1 loss=1 aux=nan"; echo "step 2 loss=0.5 aux=inf"; [ {bad} = 0 ] || { echo "step 3 loss=nan"; exec sleep 60; }']
| params: {bad: [1, 0]}
| objective: loss
| search: {algorithm: grid, parallel: 1}
| limits: {grace: 1s}
$ hone run diverge.yaml
experiment 3 started: diverge
trial 3.1 failed after [..]  bad=1
    'loss' became NaN or infinite at step 3
trial 3.2 completed after [..]: 0.5 (best so far)  bad=0
experiment 3 'diverge' finished: 1 completed, 1 failed

best trials
trial  loss  [..]time  parameters
  3.2   0.5  [..]  bad=0

results are in [..]
next: hone ls 3 · hone show 3.2 · hone export 3 --csv
$ hone show last.1 | head -4
trial        3.1 of diverge
state        failed: a metric became NaN or infinite
why          one of all settings, each in turn
started      [..], ran [..]
# elsewhere it is kept and marked
$ hone show last.2 | grep -e ^state -e ^loss -e ^aux
state        completed
loss         0.5 (step 2)
aux      inf                2  not finite at step 1
loss     0.5  0.5    1      2
loss         █▁
# unless diverge: lists it
$ hone run diverge.yaml -p bad=0 --set 'diverge=[aux]' | head -3
experiment 4 started: diverge
trial 4.1 failed after [..]
    'aux' became NaN or infinite at step 1
# stop: median ends what is clearly worse than the others at the same step
> median.yaml
| command: [sh, train.sh]
| params: {x: [1, 2, 3, 4, 5, 90]}
| objective: loss
| search: {algorithm: grid, parallel: 1, stop: median}
| limits: {grace: 1s}
> train.sh
| x=${1#--x=}
| for step in 1 2 3 4 5 6 7 8 9 10; do echo "step $step loss=$x"; done
| [ "$x" -lt 90 ] || sleep 60
$ hone run median.yaml | grep -e '^trial 5.6' -e finished
trial 5.6 stopped (pruned) after [..]: 90  x=90
experiment 5 'median' finished: 5 completed, 1 stopped
# what a program prints of its parameters is no metric, and no step
> given.yaml
| command: [sh, -c, 'echo "lr={lr} batch={batch}"; echo "Namespace(lr={lr}, batch={batch}, workers=4)"; echo "loss=0.5 lr=0.005"']
| params: {lr: 0.01, batch: [32]}
| objective: loss
$ hone run given.yaml > /dev/null; hone export last --metrics | cut -d, -f2-3,5
metric,step,value
loss,0,0.5
lr,0,0.005
