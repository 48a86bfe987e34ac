#!tests/transcript
# SPDX-License-Identifier: MIT
# steps have 64 bits: as doubles, these would be one
> train.sh
| for step in 9007199254740992 9007199254740993 9223372036854775806; do echo "train loss=$1,step=${step}i"; done >> "$HONE_METRICS"
| [ $1 = 1 ] || echo "train loss=$1,step=9223372036854775807i" >> "$HONE_METRICS"
$ hone run --name far --minimize loss --param x=1,2 --set search.algorithm=grid --set search.parallel=1 -- sh train.sh {x} > /dev/null && hone export far --metrics --csv | cut -d, -f 1-3
trial,metric,step
1.1,loss,9007199254740992
1.1,loss,9007199254740993
1.1,loss,9223372036854775806
1.2,loss,9007199254740992
1.2,loss,9007199254740993
1.2,loss,9223372036854775806
1.2,loss,9223372036854775807
$ hone export far --metrics --jsonl | grep -o '"step":[0-9]*' | sort | uniq -c | tr -s ' '
 2 "step":9007199254740992
 2 "step":9007199254740993
 2 "step":9223372036854775806
 1 "step":9223372036854775807
$ hone export far --summary --csv | cut -d, -f 1,6; hone show far.1 --json | grep -o '"step":[0-9]*' | uniq
trial,steps
1.1,9223372036854775806
1.2,9223372036854775807
"step":9223372036854775806
$ hone ls far --where 'step = 9223372036854775806' | awk '/[.]/ { print $1 }'
1.1
$ hone ls far --where 'step > 9223372036854775806' | awk '/[.]/ { print $1 }'
1.2
$ hone ls far --where 'count(loss, step > 9007199254740992) = 2 and step_to(loss >= 0) = 9007199254740992' | awk '/[.]/ { print $1 }'
1.1
$ hone ls far --sort step --desc | awk '/[.]/ { print $1 }'
1.2
1.1
