#!tests/transcript
# SPDX-License-Identifier: MIT
# a checkout goes when nothing will run in it any more; what was just asked for stays
$ mkdir src; echo 'echo "loss: 0.5"; if [ -e hold ]; then touch held; while :; do sleep 1; done; fi' > src/train.sh
$ hone run --set code=src --minimize loss --name one -- sh src/train.sh | grep finished; hone rerun 1.1 | grep finished
experiment 1 'one' finished: 1 completed
experiment 2 'one-rerun' finished: 1 completed
$ hone gc; ls .local/share/hone/checkouts | wc -l
nothing to free
1
$ touch -d '1 hour ago' .local/share/hone/checkouts/*; hone gc --dry-run; hone gc; ls .local/share/hone/checkouts
would free [..] kB: 1 checkout
freed [..] kB: 1 checkout
# it is made again when it is needed
$ hone rerun 1.1 | grep finished
experiment 3 'one-rerun' finished: 1 completed
# one that may go on keeps its checkout
$ touch src/hold; sed -i 's/-e hold/-e src\/hold/' src/train.sh
$ hone run --set code=src --set code.isolate=true --minimize loss --name two -- sh src/train.sh > out & pid=$!; until ls .local/share/hone/checkouts/*/held > /dev/null 2>&1; do sleep 0.02; done; kill -INT $pid; wait $pid
? 130
$ touch -d '1 hour ago' .local/share/hone/checkouts/*; hone gc; ls .local/share/hone/checkouts/*/held | wc -l
freed [..] kB: 1 checkout
1
# and gets it back when it is resumed, should it be gone
$ rm -r .local/share/hone/checkouts; hone resume two > out & pid=$!; until ls .local/share/hone/checkouts/*/held > /dev/null 2>&1; do sleep 0.02; done; kill -INT $pid; wait $pid
? 130
# an object that lost its row in a crash goes after a day
$ mkdir -p .local/share/hone/objects/ab; echo x > .local/share/hone/objects/ab/cdef; hone gc; test -e .local/share/hone/objects/ab/cdef && echo young
nothing to free
young
$ find .local/share/hone/objects -type f -exec touch -d '2 days ago' {} +; hone gc; test -e .local/share/hone/objects/ab/cdef || echo gone
freed [..]: 1 object
gone
$ hone rerun 1.1 | grep finished
experiment 5 'one-rerun' finished: 1 completed
