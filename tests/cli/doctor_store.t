#!tests/transcript
# what is kept can be read through, and damage is named; the rest stays readable
> spec.yaml
| command: [sh, -c, 'for i in 1 2 3; do echo "step $i loss: 0.$i"; done']
| params: {b: [1, 2]}
| objective: loss
| search: {algorithm: grid, parallel: 1}
| metrics: {system: off}
$ hone run --home h spec.yaml > /dev/null
$ hone doctor --home h --store
database  ok  whole
series    ok  6 values in [..] bytes
$ f=$(ls h/series/*.wal) && printf '\377' | dd of=$f bs=1 seek=$(($(stat -c %s $f) / 2)) conv=notrunc 2> /dev/null
$ hone doctor --home h --store | grep -c wrong
1
$ hone doctor --home h --store > /dev/null
? 1
$ hone export --home h 1 --metrics | grep -c '^1[.]'
5
