#!tests/transcript
# SPDX-License-Identifier: MIT
# a plateau: told by a command, and the trial is stopped; its output ends with it
> train.sh
| i=0; while [ $i -lt 25 ]; do i=$((i+1)); echo "step $i loss: 0.5"; done
| exec sleep 60
> note.sh
| printf '%s\n' "$HONE_EXPERIMENT $HONE_TRIAL $HONE_ALERT" "$HONE_ALERT_TEXT" "$1" > told
| printf '%s' "$HONE_ALERT_JSON" | grep -o '"did":.*' >> told
> flat.yaml
| command: sh train.sh
| objective: loss
| search: {trials: 1}
| alerts:
| - {when: plateau, do: [notify, stop], command: sh note.sh 'two words'}
$ hone run flat.yaml | grep -v '^$'
experiment 1 started: flat
alert in trial 1.1: loss has not improved by more than its noise (0) over the last [..] steps: 0.5 at best, 0.5 before; it is stopped
trial 1.1 stopped (alert) after [..]: 0.5
experiment 1 'flat' failed: 0 completed, 1 stopped
  no trial completed
results are in [..]
next: hone ls 1 · hone logs 1.1
$ cat told
1 1.1 plateau
loss has not improved by more than its noise (0) over the last [..] steps: 0.5 at best, 0.5 before
two words
"did":["notify","stop"]}
$ hone show 1 | grep -A2 'last events' | grep -o 'alert in trial.*noise'
alert in trial 1.1: loss has not improved by more than its noise
$ hone show 1.1 | grep ^state
state        stopped: stopped by an alert
$ hone show 1.1 | grep -A2 ^alerts | cut -c 1-90
alerts
when              alert    did           because
[..]  plateau  notify, stop  loss has not improved by more than its noise (0)[..]
$ hone show 1.1 --json | grep -o '"alerts":.*"did":[^]]*.'
"alerts":[{"time":"[..]","alert":"plateau","text":"loss has not improved [..]","did":["notify","stop"]
# any condition over a running trial: parameters, metrics, curves; the others run to their end
> grid.yaml
| command: [sh, -c, 'echo "step 1 loss: $0"; echo "step 2 loss: $0"; [ $0 = 1 ] || exec sleep 60', '{x}']
| params: {x: [1, 7]}
| objective: loss
| search: {algorithm: grid, parallel: 1}
| alerts: {when: 'x > 5 and max(loss, step > 1) > 2', do: stop}
$ hone run grid.yaml | grep 'alert\|^trial 2'
trial 2.1 completed after [..]: 1 (best so far)  x=1
alert in trial 2.2: x > 5 and max(loss, step > 1) > 2 holds at step 2: loss is 7; it is stopped
trial 2.2 stopped (alert) after [..]: 7  x=7
$ hone run grid.yaml --json | grep -o '"event":"alert".*'
"event":"alert","experiment":3,"trial":"3.2","name":"grid","alert":"x > 5 and max(loss, step > 1) > 2","text":"x > 5 and max(loss, step > 1) > 2 holds at step 2: loss is 7","did":["stop"]}
# requeue: ends the attempt and starts the trial again from its checkpoint
> again.sh
| if [ -n "$HONE_CHECKPOINT" ]; then echo "step 9 loss: 0.1"; exit 0; fi
| mkdir -p "$HONE_CHECKPOINT_DIR"; echo > "$HONE_CHECKPOINT_DIR/1-5"; echo "step 5 loss: 3"; exec sleep 60
$ hone run --set 'alerts={when: "loss > 2", do: requeue}' --set objective=loss -- sh again.sh | grep 'alert\|^trial 4'
alert in trial 4.1: loss > 2 holds at step 5: loss is 3; it is started again
trial 4.1 was ended (requeued) and starts again in [..]
trial 4.1 completed after [..]: 0.1 (best so far)
# mistakes are told before anything runs
> bad.yaml
| command: 'true'
| alerts:
| - {when: loss >, do: stop}
$ hone check bad.yaml
hone: [..]bad.yaml:3:10: 'alerts': when: a value is missing before the end
? 2
$ hone check --set 'alerts={when: platau, do: stop}' -- true
hone: --set [..]: 'alerts': 'platau' is neither diverged, plateau or stall nor a condition like loss > 2, did you mean 'plateau'?
? 2
# a trial's state and the like cannot be asked while it runs; a metric of that name can
$ hone check --set "alerts={when: \"loss > 1 and state = 'running'\", do: stop}" -- true
hone: --set alerts={when: "loss > 1 and state = 'running'", do: stop}: 'alerts': when: 'state' of a trial cannot be asked here (character 14); a metric of that name is metric.state
? 2
$ hone check --set 'alerts={when: "starred or loss > 1", do: stop}' -- true
hone: --set alerts={when: "starred or loss > 1", do: stop}: 'alerts': when: 'starred' of a trial cannot be asked here (character 1); a metric of that name is metric.starred
? 2
$ hone check --set 'alerts={when: "metric.state > 1", do: stop}' -- true | head -1
experiment  true
$ hone check --set 'alerts={when: "quantile(loss, 1.5) > 0", do: stop}' -- true
hone: --set alerts={when: "quantile(loss, 1.5) > 0", do: stop}: 'alerts': when: quantile() takes a share from 0 to 1, as 0.9 or 90%, not 1.5 (character 16)
? 2
