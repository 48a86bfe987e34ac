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
# a record without its end, as a crash leaves it; whoever writes next cuts it off and says so
$ cp -r h torn && f=$(ls torn/series/*.wal) && truncate -s -5 $f && hone doctor --home torn --store | sed 's/[0-9][0-9]* bytes at [0-9]*/N bytes/'
database  ok     whole
series    wrong  [..]/torn/series/00000001.wal: N bytes are torn
series    wrong  trial 1.2: 2 of its 3 values are there
$ hone run --home torn spec.yaml 2>&1 > /dev/null | grep -c 'series: .*torn'
1
$ hone doctor --home torn --store | grep -c wrong
0
? 1
$ f=$(ls h/series/*.wal) && printf '\377' | dd of=$f bs=1 seek=$(($(stat -c %s $f) / 2)) conv=notrunc 2> /dev/null
$ hone doctor --home h --store | grep -c wrong
2
$ hone doctor --home h --store > /dev/null
? 1
$ hone export --home h 1 --metrics 2> said | grep -c '^1[.]'
5
$ grep -c 'series: .*damaged' said
1
$ hone export --home h 1 --metrics > /dev/null 2>&1
? 1
# a segment that was cut short: where it ends, and what of which trials is gone
> many.yaml
| name: many
| command: [awk, 'BEGIN { for (i = 0; i < 30000; i++) print "step " i " loss: " i % 7 }']
| params: {b: [1, 2, 3, 4]}
| objective: loss
| search: {algorithm: grid, parallel: 1}
| metrics: {system: off}
$ hone run --home m many.yaml > /dev/null; hone gc --home m > /dev/null; ls m/series
00000001.seg
whole
$ cp -r m index && truncate -s -50 index/series/00000001.seg && hone doctor --home index --store
database  ok     whole
series    wrong  [..]/index/series/00000001.seg: it is cut short: it ends at [..] of [..] bytes, in its index
? 1
$ truncate -s 30000 m/series/00000001.seg && hone doctor --home m --store
database  ok     whole
series    wrong  [..]/m/series/00000001.seg: it is cut short: it ends at 30000 bytes without its index, and what stood behind that is lost
series    wrong  [..]/m/series/00000001.seg: [..] of 30000 rows of trial 1.2 are missing
series    wrong  trial 1.2: [..] of its 30000 values are there
series    wrong  trial 1.3: 0 of its 30000 values are there
series    wrong  trial 1.4: 0 of its 30000 values are there
? 1
