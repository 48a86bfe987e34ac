#!tests/transcript
# SPDX-License-Identifier: MIT
# samples as they come, until the experiment ends
> train.sh
| n=1; while [ $n -le 2 ]; do echo "step $n train/loss=0.$n"; n=$((n + 1)); done
| while [ ! -e go ]; do sleep 0.02; done
| echo "step 3 train/loss=nan acc=1"
$ hone run -d --minimize acc -- sh train.sh | head -1
experiment 1 runs in the background[..]
$ hone export 1 --metrics --follow >out & until grep -qs ',2,' out; do sleep 0.02; done; cut -d, -f1-3,5 out; touch go; wait; tail -n +4 out | cut -d, -f1-3,5
trial,metric,step,value
1.1,train/loss,1,0.1
1.1,train/loss,2,0.2
1.1,train/loss,3,nan
1.1,acc,3,1
# when it has ended all is there at once; an object a line, if wanted
$ hone export 1 --metrics --follow --jsonl | sed 's/"time":"[^"]*"/"time":"…"/'
{"trial":"1.1","metric":"train/loss","step":1,"time":"…","value":0.1}
{"trial":"1.1","metric":"train/loss","step":2,"time":"…","value":0.2}
{"trial":"1.1","metric":"train/loss","step":3,"time":"…","value":"nan"}
{"trial":"1.1","metric":"acc","step":3,"time":"…","value":1}
$ hone export 1 --metrics --csv | cut -d, -f1-3,5 | sort >a; cut -d, -f1-3,5 out | sort | cmp - a
# what does not go together is said
$ hone export 1 --follow
hone export: --follow goes with --metrics or --influx, to standard output, without --where
'hone help export' tells more
? 2
$ hone export 1 --metrics --follow -o x.csv
hone export: --follow goes with --metrics or --influx, to standard output, without --where
'hone help export' tells more
? 2
$ hone export 1 --db hone
hone export: --db goes with --influx only
'hone help export' tells more
? 2
$ hone export 1 --influx http://127.0.0.1:8086
hone export: --influx needs --db NAME (InfluxDB 1.x), or --org NAME and --bucket NAME (2.x)
'hone help export' tells more
? 2
$ hone export 1 --influx http://127.0.0.1:8086 --db a --bucket b
hone export: --influx needs --db NAME (InfluxDB 1.x), or --org NAME and --bucket NAME (2.x)
'hone help export' tells more
? 2
$ hone export 1 --influx http://127.0.0.1:8086 --db a --metrics
hone export: --influx and --metrics do not go together
'hone help export' tells more
? 2
$ hone export 1 --influx localhost:8086 --db a
hone: --influx is no URL with http:// or https://: it should look like http://host:8086
? 2
# nobody listens at port 1
$ hone export 1 --influx http://127.0.0.1:1 --db a
hone: http://127.0.0.1:1 database a: [..]; 0 points were sent, and the same command goes on from there (--follow waits for the server)
? 1
