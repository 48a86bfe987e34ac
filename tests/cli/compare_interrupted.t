#!tests/transcript
# An experiment whose engine was killed is shown as interrupted everywhere.
> train.sh
| echo "loss: 1"
| touch up
| while [ ! -e go ]; do sleep 0.05; done
$ hone run --param x=1,2 --minimize loss --parallel 1 -- sh train.sh > /dev/null 2>&1 & P=$!; while [ ! -e up ]; do sleep 0.05; done; kill -9 $P; wait $P 2> /dev/null; touch go
$ hone compare 1 1 | grep state
state  [..]interrupted[..]
$ hone ls --json | grep -o '"state":"[a-z]*"'
"state":"interrupted"
$ hone resume > /dev/null
$ hone compare 1 1 | grep state
state  [..]finished[..]
