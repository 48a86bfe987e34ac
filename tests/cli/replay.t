#!tests/transcript
# SPDX-License-Identifier: MIT
# the same seed and the same results, the same suggestions: also with several at once
$ for a in auto random bayes; do hone run --name $a --trials 20 --parallel 2 --minimize loss --param x=-2..2 --param n=1..9:int --set search.seed=3 --set search.algorithm=$a --set knowledge=off -- sh -c 'echo loss=$(( ({n} - 4) * ({n} - 4) ))' > out; hone replay $a; done
20 of 20 suggestions reproduced
20 of 20 suggestions reproduced
20 of 20 suggestions reproduced
$ hone replay random --json
{"experiment":2,"suggestions":20,"reproduced":20,"exact":true,"kernel":null,"kernel_here":null}
# what was not the search's doing is found: a setting that was changed afterwards
$ python3 -c 'import sqlite3, struct; db = sqlite3.connect(".local/share/hone/hone.db"); db.execute("UPDATE trial SET point = ? WHERE experiment = 2 AND number = 7", (struct.pack("dd", 0.5, 3),)); db.commit()'; hone replay random
6 of 20 suggestions reproduced
the first that comes out otherwise is trial 2.7
? 1
# what others would have done with recorded results
$ python3 -c 'print("x,y"); [print(x / 10, (x / 10 - 0.4) ** 2, sep=",") for x in range(-20, 21, 2)]' > t.csv; hone import t.csv --objective y > out
$ hone replay t --search random,sobol --stop none --seeds 2
search       stop  trials to best  best at 25%   50%  100%
as recorded                    13         2.56  0.36     0
random       none             8.5         0.02  0.02     0
sobol        none              13          0.1   0.1     0
over 21 recorded settings; mean of 2 seeds
A search can choose only among the settings that were run here, the nearest to what it wants: what it would have found beyond them is not known.
$ hone replay t --search random --stop none,median --seeds 1 --json
[{"search":"as recorded","stop":"","seeds":1,"reached":1,"trials_to_best":13,"steps_to_best":13,"stopped":0,"best_25":2.5600000000000005,"best_50":0.3600000000000001,"best_100":0},{"search":"random","stop":"none","seeds":1,"reached":1,"trials_to_best":16,"steps_to_best":16,"stopped":0,"best_25":0.04000000000000001,"best_50":0.03999999999999998,"best_100":0},{"search":"random","stop":"median","seeds":1,"reached":1,"trials_to_best":16,"steps_to_best":16,"stopped":0,"best_25":0.04000000000000001,"best_50":0.03999999999999998,"best_100":0}]
$ hone replay t
hone: the search of experiment 4 has suggested nothing
? 1
$ hone replay t --search rnd
hone replay: there is no search 'rnd'[..]
'hone help replay' tells more
? 2
$ hone replay t --stop medium
hone replay: there is no rule 'medium', did you mean 'median'?
'hone help replay' tells more
? 2
$ hone replay t --seeds 0
hone replay: --seeds wants a whole number from 1 to 1000, not '0'
'hone help replay' tells more
? 2
$ hone replay t --search random --seeds 0
hone replay: --seeds wants a whole number from 1 to 1000, not '0'
'hone help replay' tells more
? 2
# with curves, a rule saves steps
> curves.py
| import sys
| x = float(sys.argv[1])
| for step in range(10): print(f"step {step} loss={x * x + 1 / (step + 1)}")
$ hone run --name curves --trials 12 --parallel 1 --minimize loss --param x=-2..2 --set search.seed=1 --set search.algorithm=random --set search.stop=none --set knowledge=off -- python3 curves.py {x} > out; hone replay curves --search random --stop none,median --seeds 2
search       stop    trials to best  steps  stopped  best at 25%       50%      100%
as recorded                       8     80        0     0.655704  0.556577  0.125848
random       none                 8     80        0     0.392583   0.34302  0.125848
random       median               8     80        3     0.392583   0.34302  0.125848
over 12 recorded settings of 120 steps; mean of 2 seeds
A search can choose only among the settings that were run here, the nearest to what it wants: what it would have found beyond them is not known.
# ... also with its numbers
$ hone replay curves --search random --stop 'median,{curve: 5%},{asha: {eta: 4, min: 2}}' --seeds 1 --json | grep -o '"stop":"[^"]*"'
"stop":""
"stop":"median"
"stop":"{curve: 5%}"
"stop":"{asha: {eta: 4, min: 2}}"
$ hone replay curves --stop '{curve: 90%}'
hone replay: --stop: 'search.stop: curve' takes a chance above 0 and up to 50%, like 2%, not '90%'
'hone help replay' tells more
? 2
# too little to choose from
$ head -2 t.csv > one.csv; hone import one.csv --objective y > out; hone replay one --search random
hone: experiment 6 has too few completed trials to choose from
? 1
