#!tests/transcript
# SPDX-License-Identifier: MIT
# a trial that went on where its first attempt broke off: its metrics are those of both
> train.sh
| from=6
| [ -e begun ] || from=1
| for i in $(seq $from 8); do
|     echo "step=$i loss=$((10 - i))"
|     if [ $i = 5 ]; then touch begun; exit 75; fi
| done
$ hone run --minimize loss --trials 1 --name broken --set retry=75 -- sh train.sh | grep -o 'finished: 1 completed'
finished: 1 completed
$ hone show broken.1 | grep -A1 '^metric ' | tr -s ' '
metric last min max count
loss 2 2 9 8
$ hone show broken.1 --json | grep -o '"metric":"loss"[^}]*' | grep -oE '"(min|max|count)":[0-9]*'
"count":8
"min":2
"max":9
