#!tests/transcript
# each trial leaves three checkpoints; its value is its parameter
> spec.yaml
| name: keep
| command:
|   - sh
|   - -c
|   - mkdir -p "$HONE_CHECKPOINT_DIR" && for step in 9 10 11; do echo x > "$HONE_CHECKPOINT_DIR/1-$step"; done; echo loss={b}
| params:
|   b: [3, 1, 2]
| objective: {metric: loss, goal: minimize}
| search: {algorithm: grid, parallel: 1}
$ hone run spec.yaml > /dev/null && hone gc
nothing to free
# last N keeps the newest of each trial
$ hone run spec.yaml --name newest --set 'keep.checkpoints=last 1' > /dev/null && hone gc --dry-run
would free [..]: 6 checkpoints
$ hone gc && ls .local/share/hone/experiments/2/*.checkpoints
freed [..]: 6 checkpoints
.local/share/hone/experiments/2/1.checkpoints:
1-11

.local/share/hone/experiments/2/2.checkpoints:
1-11

.local/share/hone/experiments/2/3.checkpoints:
1-11
# best N keeps those of the best trials
$ hone run spec.yaml --name best --set 'keep.checkpoints=best 1' > /dev/null && hone gc && ls -d .local/share/hone/experiments/3/*.checkpoints
freed [..]: 2 checkpoints
.local/share/hone/experiments/3/2.checkpoints
# samples that were removed give their room back
> many.yaml
| name: many
| command: [awk, 'BEGIN { for (i = 0; i < 20000; i++) print "loss: " rand() }']
| params: {b: [1, 2, 3, 4, 5, 6]}
| objective: loss
| search: {algorithm: grid, parallel: 1}
$ hone run many.yaml --home m > /dev/null && find m/series -name '*.seg' -size +200k | wc -l
1
# little of a segment is left to gc, much of one goes with the removal
$ hone rm many.1 --home m --yes > /dev/null && hone gc --home m | grep -o freed
freed
$ hone rm many --home m --yes > /dev/null && find m/series -name '*.seg' -size +2k
# old trials go, starred ones stay
$ hone run spec.yaml --name old --set keep.trials=1us > /dev/null && hone star old.2 && hone gc --json
4.2 starred
{"dry_run":false,"bytes":[..],"folders":0,"trials":2,"checkpoints":0,"checkouts":0,"objects":0,"cursors":0}
$ hone ls old | awk '{ print $1, $2 }'
trial state
4.2 completed
$ hone gc
nothing to free
$ hone star --off old.2 && hone gc | grep -o '1 trial' && hone ls old; hone show old.last
4.2 not starred any more
1 trial
no trials any more: they were removed, keep.trials is 1us
hone: experiment 4 has no trials any more: they were removed, keep.trials is 1us
? 1
# code that no experiment names any more goes when it is old enough to be surely forgotten
$ hone rm keep --yes && test ! -e .local/share/hone/experiments/1 && hone gc
1 removed; 'hone gc' frees its code if no other experiment uses it
nothing to free
# how far an experiment was sent to InfluxDB goes with the experiment
$ mkdir -p .local/share/hone/export && cd .local/share/hone/export && for id in 1 2; do echo '{}' > $id-http___x-00000000.json; : > $id-http___x-00000000.json.lock; done; echo mine > notes.json
$ hone gc --dry-run && hone gc && ls .local/share/hone/export
would free [..]: 1 cursor
freed [..]: 1 cursor
2-http___x-00000000.json
2-http___x-00000000.json.lock
notes.json
$ hone gc
nothing to free
