#!tests/transcript
# one line each: what is there, and what is done about what is not
$ hone doctor | awk '{ print $1 }' | tr '\n' ' '
home database file disk engine cpus memory cgroups counters energy gpus git python systemd[..]
$ hone doctor --json | tr '{' '\n' | grep -c '"verdict":"\(ok\|missing\)"'
14
# nothing is promised that is not there yet
$ hone doctor | grep -c 'counters .*not used yet'
1
# a database that is none is wrong
$ mkdir h && echo rubbish > h/hone.db && hone doctor --home h | grep database
database     wrong    [..]
$ hone doctor --home h > /dev/null
? 1
