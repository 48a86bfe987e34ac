#!tests/transcript
# nothing is known at first, and nothing is made by looking
$ hone knowledge
nothing is known yet: trials with 'system:' parameters teach it as they run
$ hone knowledge ls --json
[]
$ hone knowledge export
$ hone knowledge show 1
hone: no workload '1' is known: 'hone knowledge ls' lists them
? 1
$ hone knowledge forget --all
nothing was known
$ find . -name hone
# three workloads from elsewhere, two of them alike, one without a profile
> three.jsonl
| {"identity":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","name":"mnist","machine":"EPYC, 2 cpus","updated":"2026-11-15T10:00:00Z","runs":3,"cluster":0,"configurations":[{"configuration":{"threads":2},"ln_effect":0.3,"deviation":0.05,"windows":4,"load":0},{"configuration":{"threads":1},"ln_effect":-0.2276,"deviation":0.04,"windows":6,"load":0.5}],"response":{"seconds":0.0123,"memory_bytes":512000000,"cpus":1.9},"profile":[{"name":"cycles","hardware":true,"value":2e9,"scaled":0.8},{"name":"cache-misses","hardware":true,"value":0.01,"scaled":0.3},{"name":"branches","hardware":true,"value":null,"scaled":null},{"name":"page-faults","hardware":false,"value":12,"scaled":0.1}]}
|
| {"identity":"bbbb456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","name":"svm","machine":"EPYC, 2 cpus","updated":"2026-11-15T11:00:00Z","runs":1,"cluster":0,"configurations":[{"configuration":{"threads":4,"cpus":2},"ln_effect":0,"deviation":0.1,"windows":1,"load":0}],"profile":[{"name":"cycles","hardware":true,"value":2e9,"scaled":0.81},{"name":"cache-misses","hardware":true,"value":0.01,"scaled":0.31}]}
| {"identity":"bbbbccccccccccccccccccccccccccccccccccccccccccccccccccccccccccCC","name":"bfs","machine":"EPYC, 2 cpus","updated":"2026-11-15T12:00:00Z","runs":1,"cluster":0,"configurations":[],"failed":[{"threads":64}]}
# a wrong line changes nothing
$ hone knowledge import three.jsonl
hone: three.jsonl:4: 'identity' is no SHA-256 of 64 hex digits
? 2
$ hone knowledge ls
nothing is known yet: trials with 'system:' parameters teach it as they run
$ sed -i 's/CC"/cc"/' three.jsonl; hone knowledge import three.jsonl
3 new, 0 merged with what was known, 0 known already
$ hone knowledge ls
id  name   machine       configurations  best              against worst  runs  cluster  [..]age
 1  mnist  EPYC, 2 cpus               2  threads=1                 −41 %     3        1  [..]
 2  svm    EPYC, 2 cpus               1  cpus=2 threads=4                    1        1  [..]
 3  bfs    EPYC, 2 cpus               0                                      1 [..]

cluster  looks alike by its counters
      1  1 mnist, 2 svm
$ hone knowledge ls --json | head -2
[
{"id":1,"best":{"threads":1},"gain":0.4099[..]ntity":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","name":"mnist","machine":"EPYC, 2 cpus","updated":"2026-11-15T10:00:00.000000Z","runs":3,"cluster":1,"configurations":[{"configuration":{"threads":2},"ln_effect":0.3,"deviation":0.05,"windows":4,"load":0},{"configuration":{"threads":1},"ln_effect":-0.2276,"deviation":0.04,"windows":6,"load":0.5}],"response":{"seconds":0.0123,"memory_bytes":5.12e+08,"cpus":1.9},"profile":[{"name":"cycles","hardware":true,"value":2e+09,"scaled":0.8},{"name":"cache-misses","hardware":true,"value":0.01,"scaled":0.3},{"name":"branches","hardware":true,"value":null,"scaled":null},{"name":"page-faults","hardware":false,"value":12,"scaled":0.1}]},
$ hone knowledge show mnist
workload     1 mnist
identity     aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
machine      EPYC, 2 cpus
learned      [..], from 3 trials
cluster      1, with 2 svm
takes        0.0123 s per step, 512 MB, 1.9 cpus

configurations
configuration  time per step    ±  windows  load
threads=1               best  4 %        6   0.5
threads=2              +69 %  5 %        4     0

profile
counter       of the      value  none 0, much 1
cycles        hardware    2e+09            0.80
cache-misses  hardware     0.01            0.30
branches      hardware  missing
page-faults   system         12            0.10
$ hone knowledge show 3
workload     3 bfs
identity     bbbbcccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc
machine      EPYC, 2 cpus
learned      [..], from 1 trial
takes        not measured

failed under, not tried again
threads=64

profile
none was taken
$ hone knowledge show aaaa --json | cut -c1-60
{"id":1,"best":{"threads":1},"gain":0.4099[..]
$ hone knowledge show bbbb
hone: 'bbbb' may be one of several workloads: 2, 3
? 1
# the same again is known; a later run of it is merged, whatever the level of its effects
$ hone knowledge import three.jsonl
0 new, 0 merged with what was known, 3 known already
$ hone knowledge import three.jsonl --json
{"new":0,"merged":0,"same":3}
$ head -1 three.jsonl | sed 's/10:00/13:00/; s/"ln_effect":0.3/"ln_effect":7.3/; s/"ln_effect":-0.2276/"ln_effect":6.7724/' > later.jsonl; hone knowledge import later.jsonl
0 new, 1 merged with what was known, 0 known already
$ hone knowledge show 1 | sed -n 4,5p
learned      [..], from 6 trials
cluster      1, with 2 svm
$ hone knowledge show 1 | grep -A3 ^configurations
configurations
configuration  time per step    ±  windows  load
threads=1               best  3 %     10.8   0.5
threads=2              +69 %  4 %      7.2     0
# out and in again
$ hone knowledge export all.jsonl
3 workloads written to all.jsonl
$ hone knowledge export | cmp - all.jsonl
$ hone --home other knowledge import all.jsonl
3 new, 0 merged with what was known, 0 known already
$ hone --home other knowledge export | cmp - all.jsonl
# forget says what it forgot; its id is not given again
$ hone knowledge forget 2
forgot workload 2, svm: 1 configuration from 1 trial
$ hone knowledge forget 2
hone: no workload '2' is known: 'hone knowledge ls' lists them
? 1
$ hone knowledge forget bfs --json
{"done":"forget","workloads":[{"id":3,"identity":"bbbbcccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc","name":"bfs"}]}
$ hone knowledge import three.jsonl
2 new, 1 merged with what was known, 0 known already
$ hone knowledge ls --json | grep -o '^{"id":[0-9]*'
{"id":1
{"id":4
{"id":5
$ hone knowledge forget --all
forgot workload 1, mnist: 2 configurations from 9 trials
forgot workload 4, svm: 1 configuration from 1 trial
forgot workload 5, bfs: 0 configurations from 1 trial
$ hone knowledge ls
nothing is known yet: trials with 'system:' parameters teach it as they run
# beside an engine it goes through it: here a trial is the one who asks
> spec.yaml
| name: teacher
| command: [sh, -c, 'hone knowledge import three.jsonl && hone knowledge forget svm && echo loss=1']
| objective: {metric: loss, goal: minimize}
| search: {trials: 1}
$ hone run spec.yaml > /dev/null; hone logs last
3 new, 0 merged with what was known, 0 known already
forgot workload 7, svm: 1 configuration from 1 trial
loss=1
$ hone knowledge ls --json | grep -o '"name":"[a-z]*","machine"'
"name":"mnist","machine"
"name":"bfs","machine"
# mistakes
$ hone knowledge forget
hone knowledge: 'forget' wants the ID of a workload, or --all
'hone help knowledge' tells more
? 2
$ hone knowledge forget 1 --all
hone knowledge: 'forget' wants the ID of a workload, or --all
'hone help knowledge' tells more
? 2
$ hone knowledge ls --all
hone knowledge: --all is for 'forget'
'hone help knowledge' tells more
? 2
$ hone knowledge learn
hone knowledge: 'learn' is none of ls, show, export, import, forget
'hone help knowledge' tells more
? 2
$ hone knowledge show
hone knowledge: 'show' wants the ID of a workload
'hone help knowledge' tells more
? 2
$ hone knowledge import
hone knowledge: 'import' wants a FILE
'hone help knowledge' tells more
? 2
$ hone knowledge ls 3
hone knowledge: '3' is one too many
'hone help knowledge' tells more
? 2
$ hone knowledge import missing.jsonl
hone: cannot read missing.jsonl: No such file or directory
? 1
$ : > empty; hone knowledge import empty
hone: empty has no workload in it
? 2
$ echo '{"identity":3' > cut; hone knowledge import cut
hone: cut:1: line 1, column 13: not valid JSON: '}' expected near end of file
? 2
$ head -c 100 /dev/zero > zero; hone knowledge import zero
hone: zero is no text of JSON lines
? 2
# sizes and frequencies as one types them; in JSON as they were
> sizes.jsonl
| {"identity":"dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd","name":"sizes","machine":"EPYC, 2 cpus","updated":"2026-11-15T10:00:00Z","runs":3,"cluster":0,"configurations":[{"configuration":{"frequency":1200000,"memory":419430400},"ln_effect":0.3,"deviation":0.05,"windows":4,"load":0}],"failed":[{"memory":209715200}]}
$ export HONE_HOME=sizes; hone knowledge import sizes.jsonl; hone knowledge ls | grep -o 'frequency.*M'; hone knowledge show sizes | grep =; hone knowledge ls --json | grep -o '"best":{[^}]*}'
1 new, 0 merged with what was known, 0 known already
frequency=1.2GHz memory=400M
frequency=1.2GHz memory=400M           best  5 %        4     0
memory=200M
"best":{"frequency":1200000,"memory":419430400}
