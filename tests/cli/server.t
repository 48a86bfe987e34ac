#!tests/transcript
# SPDX-License-Identifier: MIT
# commands against a server: HONE_SERVER or --server, with a token
> train.sh
| echo "step 1 loss=0.5"
| while [ -e hold ] || [ -e "$ROOT_HOLD/hold$1" ]; do sleep 0.02; done
| echo "step 2 loss=0.$1"
> spec.yaml
| command: sh train.sh {x}
| params: {x: [1, 2, 3]}
| objective: loss
| search: {algorithm: grid, parallel: 1}
| limits: {grace: 1s}
> ask.sh
| # hone against our server
| HONE_SERVER=$(cat url) exec hone "$@"
> up.sh
| # the server, on the port that it had before
| rm -f served; hone serve --home srv --port $(cat port 2> /dev/null || echo 0) --json > served 2> log & echo $! > pid
| until [ -s served ]; do sleep 0.02; done
| python3 -c 'import json; a = json.load(open("served"))["address"]; open("url", "w").write("http://" + a); open("port", "w").write(a.rsplit(":", 1)[1])'
$ ROOT_HOLD=$PWD sh up.sh; hone token add bob --role user --home srv --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["token"])' > token
# without a token, with a wrong one, at the wrong place
$ sh ask.sh ls
hone: http://[..] does not know you: put a token ('hone token add' there) into HONE_TOKEN or a --token-file
? 1
$ HONE_TOKEN=wrong sh ask.sh ls
hone: http://[..] does not know the token that was sent: it is mistyped, has ended, was removed, or is another server's ('hone token add' there makes one)
? 1
$ hone ls --server http://127.0.0.1:1
hone: cannot reach the server at http://127.0.0.1:1: [..]
? 1
$ hone ls --server nowhere
hone: server 'nowhere': it should look like http://host:7470
? 2
$ hone ls --server http://x --home y
hone ls: --home and --server: which of the two?
'hone help ls' tells more
? 2
$ mkdir -p .config/hone; cp token .config/hone/token; chmod 600 .config/hone/token; sh ask.sh ls
no experiments yet in [..]/srv
# an experiment runs there, in a checkout of the code that was sent, and is watched from here
$ sh ask.sh run spec.yaml
experiment 1 started: spec
trial 1.1 completed after [..]: 0.1 (best so far)  x=1
trial 1.2 completed after [..]: 0.2  x=2
trial 1.3 completed after [..]: 0.3  x=3
experiment 1 'spec' finished: 3 completed

best trials
trial  loss  [..]
  1.1   0.1  [..]
  1.2   0.2  [..]
  1.3   0.3  [..]

results are at http://[..]
$ sh ask.sh run spec.yaml --name fails --trials 1 -- sh -c 'exit 3' > out 2>&1; echo $?; tail -n 1 out
1
  no trial completed
$ sh ask.sh run spec.yaml --set resources.cpus=99999
hone: a trial takes 99999 cpus, [..]
? 2
$ sh ask.sh run nowhere.yaml
hone: [..]nowhere.yaml[..]
? 2
# reading: what the server's own command line says
$ sh ask.sh ls 1 --json > there; hone ls 1 --json --home srv > here; cmp there here
$ sh ask.sh best 1 | head -2
trial  loss  [..]
  1.1   0.1  [..]
$ sh ask.sh logs 1.2; sh ask.sh logs -f 1.2
step 1 loss=0.5
step 2 loss=0.2
step 1 loss=0.5
step 2 loss=0.2
# files that are named are files here
$ sh ask.sh plot 1 history --svg h.svg; head -c 4 h.svg; echo
<svg
$ sh ask.sh export 1 --csv -o rows.csv; wc -l < rows.csv
4
$ sh ask.sh report 1 -o report.html; head -c 15 report.html; echo
<!doctype html>
$ sh ask.sh show 77
hone: no experiment 77 in [..]
? 1
# marking and removing one's own
$ sh ask.sh tag 1 good; sh ask.sh note 1.1 looks fine; sh ask.sh note 1.1; sh ask.sh star 1.1
1 tagged
1.1 noted
looks fine
1.1 starred
$ sh ask.sh rm 2
hone rm: this would remove experiment 2 at http://[..], with results and files; say --yes if it should
'hone help rm' tells more
? 2
$ sh ask.sh rm --yes 2; sh ask.sh ls --json | python3 -c 'import json,sys; print([e["experiment"] for e in json.load(sys.stdin)])'
2 removed; 'hone gc' frees its code if no other experiment uses it
[1]
# what is another's is not for a user
$ hone submit --home srv --json spec.yaml --set code=none --set objective=loss -- sh -c 'echo loss=1'
{"experiment":3}
$ sh ask.sh tag 3 mine
hone: experiment 3 belongs to [..]: only its owner or an admin may
? 1
$ sh ask.sh gc
hone: 'hone gc' is not for your token's role
? 1
$ sh ask.sh pause --all
hone: [..]
? 1
# the queue; pause, resume, stop
$ touch hold1 hold2 hold3; sh ask.sh submit spec.yaml --name long --key k; sh ask.sh submit spec.yaml --name long --key k --json; sh ask.sh submit spec.yaml --key k
experiment 4 is submitted: 'hone attach 4' shows it
{"experiment":4,"known":true}
hone: key 'k' was used for experiment 4, with another spec: another spec needs another key
? 1
$ until sh ask.sh ls 4 | grep -q '4\.1  running  *0.5'; do sleep 0.02; done; sh ask.sh queue 4 --priority 3; sh ask.sh pause 4; sh ask.sh queue
experiment 4 has priority 3
experiment 4 starts no more trials: 'hone resume 4' lets it go on
experiment  name  owner  priority  state   running  waiting
         4  long  bob           3  paused        1        0
# the server is killed and comes back: its trial runs on, the pause is kept, who watches goes on
$ sh ask.sh attach 4 > attached 2>&1 & until [ "$(ls /proc/$!/task | wc -l)" -ge 2 ]; do sleep 0.02; done; kill -9 $(cat pid); rm hold1 hold2 hold3; ROOT_HOLD=$PWD sh up.sh; sh ask.sh resume 4; wait $!; grep -c "finished: 3 completed" attached
experiment 4 goes on
1
$ sh ask.sh ls 4 --json | python3 -c 'import json,sys; print(sorted((t["trial"], t["state"], t["attempts"]) for t in json.load(sys.stdin)))'
[('4.1', 'completed', 1), ('4.2', 'completed', 1), ('4.3', 'completed', 1)]
# Ctrl-C here stops it there
$ touch hold1; HONE_SERVER=$(cat url) hone run spec.yaml --name int > out 2>&1 & pid=$!; until sh ask.sh ls 5 2> /dev/null | grep -q '5\.1  running  *0.5'; do sleep 0.02; done; kill -INT $pid; wait $pid; echo $?; rm hold1; sh ask.sh show 5 | grep '^state'
130
state        interrupted
$ sh ask.sh stop 5
experiment 5 is told to stop
