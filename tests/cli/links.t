#!tests/transcript
# SPDX-License-Identifier: MIT
# links to the pages open the page of what they are about
> spec.yaml
| name: held
| command: sh -c 'echo loss=0.{x}; while [ -e hold ]; do sleep 0.02; done'
| params: {x: [1]}
| objective: loss
| code: none
> where.py
| # where a link leads to: it works once, and its secret is not in the next address
| import re, sys, urllib.request
| page = urllib.request.urlopen(sys.argv[1]).read().decode()
| print(re.search(r'url=([^"]*)', page)[1])
# alone: the experiment that is run
$ touch hold; hone run --port 0 spec.yaml > out 2> told & until grep -qs 'watch it at' told; do sleep 0.02; done; sed -E 's|.*/open/hone_[A-Za-z0-9_-]+|/open/SECRET|' told; python3 where.py "$(grep -o 'http.*' told)"
/open/SECRET?experiment=1
/#/e/1
# of one that is named, of a trial, of all
$ for of in "" held 1.1 last; do python3 where.py "$(hone open --print $of)"; done
/
/#/e/1
/#/t/1.1
/#/e/1
$ hone open --print 1.7
hone: [..]
? 1
$ hone open --print nothing
hone: [..]
? 1
# a link is not for other pages than these
$ for of in 'trial=1' 'trial=1.2x' 'trial=/e/1' 'experiment=x'; do python3 where.py "$(hone open --print)?$of" 2>&1 | tail -1; done
urllib.error.HTTPError: HTTP Error 400: Bad Request
urllib.error.HTTPError: HTTP Error 400: Bad Request
urllib.error.HTTPError: HTTP Error 400: Bad Request
urllib.error.HTTPError: HTTP Error 400: Bad Request
$ rm hold; until hone open --print 2>&1 | grep -q 'nothing serves'; do sleep 0.02; done; hone open
hone: nothing serves [..]: 'hone serve' does, and 'hone run' while it runs
? 1
# joined to a server: its own experiment, too
$ hone serve --port 0 > served & until [ -s served ]; do sleep 0.02; done; touch hold; rm -f told; hone run --port 0 spec.yaml --name joined > out 2> told & run=$!; until grep -qs 'watch it at' told; do sleep 0.02; done; python3 where.py "$(grep -o 'http.*' told)"; rm hold; wait $run
/#/e/2
# who wants no pages gets no link
$ touch hold; rm -f told; hone run --port off spec.yaml --name quiet > out 2> told & run=$!; until hone ls 3 2> /dev/null | grep -q running; do sleep 0.02; done; rm hold; wait $run; cat told
# who asks while it ends gets an answer or none, and does it no harm
$ export HONE_HOME=$PWD/ending; for i in 1 2 3; do touch hold; rm -f told; hone run --port 0 spec.yaml --name ends > out 2> told & run=$!; until grep -qs 'watch it at' told; do sleep 0.02; done; rm hold; while kill -0 $run 2> /dev/null; do hone open --print > /dev/null 2>&1; done; wait $run || cat told; done
