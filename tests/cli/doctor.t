#!tests/transcript
# one line each: what is there, and what is done about what is not
$ hone doctor | awk '{ print $1 }' | tr '\n' ' '
home database file disk engine cpus memory cgroups counters energy gpus git python systemd lever lever lever lever lever[..]
$ hone doctor --json | tr '{' '\n' | grep -c '"verdict":"\(ok\|missing\)"'
19
# how a running trial can be changed from outside
$ hone doctor | grep '^lever' | awk '{ print $2 }' | tr '\n' ' '
cpus cpu_quota memory nice frequency[..]
$ hone doctor | grep -c '^lever cpus  *ok  *\(affinity\|cgroup v[12]\)'
1
# where energy comes from, and counters or why there are none
$ HONE_POWERCAP=/nonexistent hone doctor | grep '^energy'
energy [..]missing[..]processors estimated: [..] W idle, [..] J per CPU second ([..]
$ HONE_PDU=http://meter/x hone doctor | grep -c 'a power meter is asked at http://meter/x'
1
$ hone doctor | grep -c '^counters  *\(ok\|missing\) '
1
# a database that is none is wrong
$ mkdir h && echo rubbish > h/hone.db && hone doctor --home h | grep database
database [..]wrong [..]
$ hone doctor --home h > /dev/null
? 1
