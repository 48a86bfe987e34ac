#!tests/transcript
# SPDX-License-Identifier: MIT
# exit codes under retry: are tried again, after a while that is shown
> spec.yaml
| command: [sh, -c, 'echo try >> tries; [ $(wc -l < tries) != 1 ] || exit 7; echo loss=1']
| objective: loss
| retry: [7]
$ hone run spec.yaml
experiment 1 started: spec
trial 1.1 was ended (retry) and starts again in [..]
trial 1.1 completed after [..]: 1 (best so far)
experiment 1 'spec' finished: 1 completed

best trials
trial  loss  [..]time  parameters
  1.1     1  [..]

results are in [..]
next: hone ls 1 · hone show 1.1 · hone export 1 --csv
$ hone show last.1 | grep -A3 ^attempts
attempts
attempt  started [..]
      1  [..] exit 7, ended with an exit code that is to be retried
      2  [..] exit 0
$ hone show last.1 --json | grep -o '"exit":[^,]*\|"attempts":[^,]*'
"attempts":2
"exit":7
"exit":0
# at most limits.retries times
$ hone run --set 'retry=[7]' --set limits.retries=1 -- sh -c 'echo no >&2; exit 7' | grep -v ^$
experiment 2 started: sh
trial 2.1 was ended (retry) and starts again in [..]
trial 2.1 failed after [..]
    exit status 7
    no
experiment 2 'sh' failed: 0 completed, 1 failed
  no trial completed
results are in [..]
next: hone ls 2 · hone logs 2.1
# other codes are not
$ hone run -- sh -c 'exit 7' | head -2
experiment 3 started: sh
trial 3.1 failed after [..]
# exit 85: checkpointed, start me again; from the checkpoint, at once, not counted
> again.sh
| if [ -z "$HONE_CHECKPOINT" ]; then
|   mkdir -p "$HONE_CHECKPOINT_DIR"; echo 41 > "$HONE_CHECKPOINT_DIR/1-10"; exit 85
| fi
| echo "started from $(basename "$HONE_CHECKPOINT"), $1"
| echo "loss=$(cat "$HONE_CHECKPOINT")"
$ hone run --set limits.retries=0 --minimize loss -- sh again.sh '{checkpoint}' > /dev/null; hone logs last | sed "s|$HOME||"
started from 1-10, /.local/share/hone/experiments/4/1.checkpoints/1-10
loss=41
$ hone ls last --json | grep -o '"value":[^,]*\|"attempts":[^,]*'
"value":41
"attempts":2
# exit 85 without a new checkpoint would go on for ever
$ hone run --set limits.retries=1 -- sh -c 'exit 85' | head -4
experiment 5 started: sh
trial 5.1 was ended (checkpoint) and starts again in [..]
trial 5.1 failed after [..]
    asked to be started again without a new checkpoint
