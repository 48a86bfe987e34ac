#!tests/transcript
# SPDX-License-Identifier: MIT
# a home with a path longer than a socket's name may be
$ long=$(printf 'a%.0s' $(seq 100)); mkdir -p $long/$long; hone --home $long/$long/h run -d --name deep -- sh -c 'until [ -e go ]; do sleep 0.02; done'
experiment 1 runs in the background (pid [..]): 'hone attach 1' shows it
$ long=$(printf 'a%.0s' $(seq 100)); hone --home $long/$long/h tag deep far; hone --home $long/$long/h attach deep > out & until ls -l /proc/$!/fd | grep -q socket; do sleep 0.02; done; touch go; wait; grep finished out
1 tagged
experiment 1 'deep' finished: 1 completed
$ long=$(printf 'a%.0s' $(seq 100)); hone --home $long/$long/h ls | cut -c1-30
experiment  name  state     tr
         1  deep  finished    
# a home that cannot be made says why and what to do
> as_user
| if [ "$(id -u)" = 0 ]; then exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; fi
| exec "$@"
$ cp "$(command -v hone)" hone; chmod 755 .; mkdir locked; chmod 555 locked; HOME=$PWD/locked sh as_user ./hone run -- true
hone: cannot make the folder [..]/locked/.local: Permission denied; choose another home with --home or HONE_HOME
? 1
$ hone --home '' ls
hone ls: --home is empty: name a folder, or leave it out
'hone help ls' tells more
? 2
$ touch file; hone --home file run -- true
hone: [..]/file is not a folder; choose another home with --home or HONE_HOME
? 1
$ hone --home file/h run -- true
hone: cannot make the folder [..]/file/h: Not a directory; choose another home with --home or HONE_HOME
? 1
# without HOME it is the user's own, from the list of users
$ for way in '-u HOME' HOME=; do env $way hone doctor | grep ^home | grep -o "$(getent passwd "$(id -u)" | cut -d: -f6)/.local/share/hone" | grep -c .; done
1
1
# a plain user without rights to cgroups: it works, and stop takes the whole tree
$ mkdir open; chmod 777 open; cp "$(command -v hone)" open/hone
> open/tree.sh
| sh -c 'setsid sleep 600 & echo $! > pid; wait' &
| echo loss=1
| wait
$ cd open; export HONE_HOME=$PWD/h; sh ../as_user ./hone run -d --name tree --set limits.grace=300ms -- sh tree.sh; until [ -s pid ]; do sleep 0.02; done; sh ../as_user ./hone stop tree
experiment 1 runs in the background (pid [..]): 'hone attach 1' shows it
experiment 1 is told to stop
$ cd open; export HONE_HOME=$PWD/h; until ./hone show tree | grep -q 'state  *stopped'; do sleep 0.02; done; test -e /proc/$(cat pid)
? 1
# memory is watched without a cgroup, too
$ cd open; export HONE_HOME=$PWD/h; sh ../as_user ./hone run --set resources.memory=64M -- /usr/bin/python3 -c 'b = [bytearray(1 << 23) for _ in range(10**6)]' | head -3
experiment 2 started: python3
trial 2.1 failed after [..]
    over its memory limit of 64 MiB
# a database that is none
$ mkdir h; echo rubbish > h/hone.db; hone --home h run -- true
hone: [..]/h/hone.db is not a database
? 1
$ hone --home h ls
hone: [..]/h/hone.db is not a database
? 1
