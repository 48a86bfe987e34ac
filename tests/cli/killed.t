#!tests/transcript
# SPDX-License-Identifier: MIT
# the engine is killed; the program goes on and tells more, which no engine has written down
> train.sh
| say() { for i in $(seq $1 $2); do echo "train loss=$((100 - i)),step=${i}i"; done >> "$HONE_METRICS"; }
| say 1 3; touch $DIR/begun
| until [ -e $DIR/go ]; do sleep 0.02; done
| say 4 40; touch $DIR/told
| until [ -e $DIR/end ]; do sleep 0.02; done
$ DIR=$PWD hone run --minimize loss --trials 1 --name cut -- sh train.sh > out 2>&1 & echo $! > pid; until [ -e begun ]; do sleep 0.02; done; until hone ls cut --json 2> /dev/null | grep -q '"running"'; do sleep 0.02; done; kill -9 $(cat pid); until ! kill -0 $(cat pid) 2> /dev/null; do sleep 0.02; done; touch go; until [ -e told ]; do sleep 0.02; done
$ hone ls cut | awk '{ print $1, $2, $3, $4 }'
trial state loss step
1.1 running 60 40
$ hone show cut.1 | grep -A1 '^metric ' | tr -s ' '
metric last min max count
loss 60 60 99 40
$ hone show cut.1 --json | grep -o '"value":[0-9]*\|"count":[0-9]*'
"value":60
"count":40
$ hone ls cut --where 'step = 40 and count(loss) = 40 and loss < 61' | awk '/[.]/ { print $1 }'
1.1
$ touch end; hone resume cut > /dev/null 2>&1; hone ls cut | awk '{ print $1, $2, $3, $4 }'
trial state loss step
1.1 completed 60 40
