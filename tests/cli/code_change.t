#!tests/transcript
# An attempt that ran with other code than the experiment began with remembers its own.
> train.sh
| echo "$HONE_TRIAL" >> notes.txt
| echo "loss: 1"
| [ "$HONE_TRIAL" = 1.1 ] || until hone show 1.2 --json | grep -q '"gpus":null,"code":"'; do sleep 0.1; done
> spec.yaml
| name: changing
| command: sh train.sh
| params: {x: [1, 2]}
| objective: loss
| search: {parallel: 1}
$ hone run spec.yaml > /dev/null
$ hone show 1.1 --json | grep -o '"gpus":null,"code":[^,]*'
"gpus":null,"code":null
$ hone show 1.2 --json | grep -o '"gpus":null,"code":[^,]*'
"gpus":null,"code":"[..]"
