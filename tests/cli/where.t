#!tests/transcript
# SPDX-License-Identifier: MIT
# three steps, an hour each by their own time; loss begins at x + 2, acc is x/10 times the step
> train.sh
| x=$1 now=$(date +%s)
| for step in 0 1 2; do
|     echo "train loss=$((x + 2 - step)),acc=$((x * step))e-1,train/loss=$x,step=${step}i $((now + step * 3600))000000000"
| done >> "$HONE_METRICS"
| case $x in
| 4) echo "train grad_norm=nan,step=2i" >> "$HONE_METRICS" ;;
| 1 | 3) echo "train grad_norm=1,step=2i" >> "$HONE_METRICS" ;;
| esac
| test $x != 2
# the numbers of the trials that fit
> fits
| hone ls one --all --where "$@" | awk '$1 ~ /[.]/ { printf "%s%s", n++ ? " " : "", $1 } $1 !~ /[.]/ && $1 != "trial" { printf "%s", $0 } END { print "" }'
$ hone run --name one --trials 5 --minimize loss --param x=1..5:int --param opt=adam,sgd --set forbid='[{x: [1, 3, 5], opt: sgd}, {x: [2, 4], opt: adam}]' --set search.algorithm=grid -- sh $PWD/train.sh {x} > out; head -1 out
experiment 1 started: one
# parameters, fields, metrics
$ sh fits 'x > 2'
1.5 1.4 1.3
$ sh fits "opt = 'sgd' and state = 'completed'"
1.4
$ sh fits "state != 'completed' or reason is not null"
1.2
$ sh fits 'loss < 3 and param.x in (1, 2)'
1.2 1.1
$ sh fits 'value <= 3 and not x = 2'
1.3 1.1
$ sh fits "trial >= 4 and started > now - 1d and attempts = 1 and duration < 10m"
1.5 1.4
$ sh fits '`train/loss` = 5'
1.5
# what a trial does not have is null, and compares with nothing
$ sh fits 'grad_norm is null'
1.5 1.2
$ sh fits 'grad_norm < 1 or grad_norm >= 1'
1.3 1.1
$ sh fits 'last(grad_norm) is not finite'
1.4
# curves
$ sh fits 'min(loss) < 3'
1.2 1.1
$ sh fits 'min(loss, step < 2) < 3'
1.1
$ sh fits 'min(loss, step > 1) < 3 and time_to(acc >= 0.2) < 90m'
1.2
$ sh fits 'time_to(acc >= 0.5) < 2h30m and last(grad_norm) is not null'
1.4 1.3
$ sh fits 'step_to(acc >= 0.5) = 1'
1.5
$ sh fits 'slope(loss, last 2) = -1 and mean(acc) > 0.35'
1.5 1.4
$ sh fits 'improved(loss, last 1) and count(loss) = 3 and max(loss) = first(loss) and x > 3'
1.5 1.4
$ sh fits 'x > 17'
none fits
# tags, notes and stars
$ hone tag one.3 good paper; hone star one.4; hone note one.5 'looks odd'
1.3 tagged
1.4 starred
1.5 noted
$ sh fits "'good' in tags"
1.3
$ sh fits "tags != 'good' and tags is null and x < 3"
1.2 1.1
$ sh fits "tags ~ '^pap' or starred"
1.4 1.3
$ sh fits "note ~ 'odd'"
1.5
# sorted by anything; what a trial does not have comes last; a cut is said
$ hone ls one --sort 'max(acc)' --desc -n 2 | awk '{print $1}'
trial
1.5
1.4
and
$ sh fits 'x > 1' --sort 'grad_norm'
1.3 1.4 1.2 1.5
$ sh fits "state = 'completed'" --sort '-x'
1.5 1.4 1.3 1.1
$ sh fits 'true' --sort opt --desc
1.2 1.4 1.1 1.3 1.5
$ hone ls one --where 'x > 2' --sort x --json | grep -o '"trial":"[0-9.]*"'
"trial":"1.3"
"trial":"1.4"
"trial":"1.5"
$ hone ls one --where 'x > 9' --json
[]
$ hone ls one --where 'x > 1' -n 1 | tail -1
and 3 more: --all shows them
$ hone ls one --state failed --where 'x > 0' | awk '{print $1}'
trial
1.2
# experiments
$ hone run --name two --trials 2 --maximize acc --param y=1..2:int --set search.algorithm=grid -- sh -c 'echo acc={y}' > out; hone tag two keep
2 tagged
# what was only printed is known, too
$ hone ls two --where 'min(acc) > 1 and count(acc, step < 5) = 1' | awk '{print $1}'
trial
2.2
$ hone ls --where "best > 1 and name ~ '^t' and trials = 2" | awk '{print $2}'
name
two
$ hone ls --where "'keep' not in tags" | awk '{print $2}'
name
one
$ hone ls --sort best --desc | awk '{print $2}'
name
two
one
$ hone ls --where 'failed = 0' --json | grep -o '"name":"[a-z]*"'
"name":"two"
$ hone ls --where "state = 'running'"
none fits
# plain words find experiments that say them: name, tag, note, owner, description, number
$ hone note one 'as in the Paper' > out; hone run --name three --trials 1 --minimize l --set 'description=Fashion on a phone' -- sh -c 'echo l=1' > out
$ seek() { hone ls --where "$1" --json | grep -o '"name":"[a-z]*"' | tr '\n' ' '; }; seek tw; seek KEEP; seek 'paper one'; seek 'fashion phone'; seek 2; seek "$(id -un)" | wc -w
"name":"two" "name":"two" "name":"one" "name":"three" "name":"two" 3
$ hone ls --where 'paper two'
none fits
# what has a sign of an expression is one
$ hone ls --where 'fashion = 3'
hone ls: --where: no column is called 'fashion' (a text is written in quotes)
'hone help ls' tells more
? 2
$ hone ls --where 'not fashion'
hone ls: --where: no column is called 'fashion' (a text is written in quotes)
'hone help ls' tells more
? 2
$ hone rm --yes three > out
# what is exported, and which are the best
$ hone export one --where 'x > 3' | cut -d, -f1,2,6,7
trial,state,x,opt
1.4,completed,4,sgd
1.5,completed,5,adam
$ hone export one --metrics --where 'x > 3 and grad_norm is null' | grep -c loss
6
$ hone export one --summary --where 'x > 3'
hone export: --where goes with the trials and --metrics only
'hone help export' tells more
? 2
$ hone export one --where 'y > 3'
hone export: --where: no column is called 'y' (a text is written in quotes)
'hone help export' tells more
? 2
$ hone best one --where "opt = 'sgd' and time_to(acc >= 0.5) is not null" | awk '{print $1}'
trial
1.4
$ hone best one --where 'x > 2' --json | grep -o '"trial":"[0-9.]*"'
"trial":"1.3"
$ hone best one --where 'x = 2'
hone: none of the best trials of experiment 1 fits
? 1
# a mistake is told before anything is shown
$ hone ls one --where 'los < 3'
hone ls: --where: no column is called 'los': did you mean 'loss'?
'hone help ls' tells more
? 2
$ hone ls one --where 'train/loss < 3'
hone ls: --where: the name train/loss is written in backquotes: `train/loss`
'hone help ls' tells more
? 2
$ hone ls one --where "opt = 'adm'"
hone ls: --where: opt is never 'adm': did you mean 'adam'?
'hone help ls' tells more
? 2
$ hone ls one --where "state = 'done'"
hone ls: --where: state is never 'done': it is one of queued, running, paused, completed, stopped, failed
'hone help ls' tells more
? 2
$ hone ls one --where 'x <'
hone ls: --where: a value is missing before the end
'hone help ls' tells more
? 2
$ hone ls one --where 'opt < 3'
hone ls: --where: 'opt' is text, which has no order: use =, !=, ~ or in
'hone help ls' tells more
? 2
$ hone ls one --sort 'mim(loss)'
hone ls: --sort: no function is called 'mim': did you mean 'min'?
'hone help ls' tells more
? 2
$ hone ls one --desc
hone ls: --desc goes with --sort
'hone help ls' tells more
? 2
$ hone ls --where 'loss < 3'
hone ls: --where: no column is called 'loss' (a text is written in quotes)
'hone help ls' tells more
? 2
