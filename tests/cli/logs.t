#!tests/transcript
# following ends when the trial has ended, with everything it printed
> gate
| echo before
| until [ -e open ]; do sleep 0.05; done
| echo after
| echo told >&2
$ hone run --detach --name slow -- sh gate | sed 's/pid [0-9]*/pid N/'
experiment 1 runs in the background (pid N): 'hone attach 1' shows it
$ hone ls | awk 'NR == 2 { print $3 }'
running
$ hone rm slow --yes
hone: experiment 1 is running: 'hone stop 1' stops it first
? 1
$ (hone logs slow -f --stdout > followed; echo "exit $?" >> followed) & until grep -q before followed 2>/dev/null; do sleep 0.05; done; touch open; wait; cat followed
before
after
exit 0
$ hone logs slow --stderr
told
# what the cap dropped is said, and not printed as zeros
$ hone run --name cap --set limits.output=66M -- sh -c 'echo first; head -c 80000000 /dev/zero | tr "\0" x; echo; echo last' > /dev/null
$ hone logs cap > all
hone: [..]B of output were dropped here by limits.output
$ head -c 5 all; echo; tail -n 1 all; tr -d 'x\n' < all
first
last
firstlast
$ hone show cap.1 | grep -c 'of output dropped by limits.output'
1
# a trial that was interrupted has no engine to wait for
$ rm open; kill -9 $(hone run --detach --name gone -- sh gate | sed 's/.*(pid \([0-9]*\)).*/\1/'); until hone ls | grep gone | grep -q interrupted; do sleep 0.05; done
$ hone show gone | sed -n 2,3p
state        interrupted
             'hone resume 3' goes on with it
