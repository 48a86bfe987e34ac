#!tests/transcript
# a mistyped command or option is answered with a guess and exit 2
$ hone shwo
hone: there is no command 'shwo', did you mean 'show'?
? 2
$ hone frobnicate
hone: there is no command 'frobnicate': 'hone help' lists them
? 2
$ hone ls --al
hone ls: unknown option '--al', did you mean '--all'?
'hone help ls' tells more
? 2
$ hone ls --limit
hone ls: option '--limit' needs a value: --limit N
'hone help ls' tells more
? 2
$ hone ls --limit=many
hone ls: --limit wants a whole number from 1 to 2147483647, not 'many'
'hone help ls' tells more
? 2
$ hone ls --state happy
hone ls: 'happy' is no state of experiments
'hone help ls' tells more
? 2
$ hone version --json=yes
hone version: option '--json' takes no value
'hone help version' tells more
? 2
$ hone show
hone show: an argument is missing: hone show EXPERIMENT|TRIAL
'hone help show' tells more
? 2
$ hone best a b
hone best: 'b' is one too many: hone best EXPERIMENT
'hone help best' tells more
? 2
$ hone tag 1 "two words"
hone tag: 'two words' is no tag: one word without commas, at most 64 bytes
'hone help tag' tells more
? 2
$ hone check
hone check: name a spec file, or give the program after --
'hone help check' tells more
? 2
$ hone run
hone run: name a spec file, or give the program after --
'hone help run' tells more
? 2
$ hone logs 1 -f --json
hone logs: --json and --follow do not go together
'hone help logs' tells more
? 2
# a program where a spec belongs
$ touch train.py train.R; hone run train.py
hone: train.py is a program, not a spec: hone run --minimize METRIC -- python3 train.py
? 2
$ hone check ./train.R
hone: ./train.R is a program, not a spec: hone check --minimize METRIC -- Rscript ./train.R
? 2
$ printf '#!/usr/bin/env lua\nx\n' > 'my model'; hone run 'my model'
hone: my model is a program, not a spec: hone run --minimize METRIC -- lua 'my model'
? 2
$ printf '\177ELF' > train; chmod +x train; hone run train --trials 3
hone: train is a program, not a spec: hone run --minimize METRIC -- ./train
? 2
# what ends like a spec is one, even where all files are executable
$ printf '#!/usr/bin/hone run\ncommand: "true"\n' > a.yaml; cp a.yaml a; chmod +x a.yaml a; hone check a.yaml | head -1; hone check a | head -1
experiment  a
experiment  a
# short spellings are answered by the name that was typed
$ hone check --trials abc -- true
hone: --trials abc: 'search.trials' must be a whole number of 1 or more, not 'abc'
? 2
$ hone check --parallel 0 -- true
hone: --parallel 0: [..]
? 2
$ hone check --time soon -- true
hone: --time soon: [..]
? 2
$ hone check --seed x --set search.trials=2 -- true
hone: --seed x: [..]
? 2
$ hone check --name 'two words' -- true
hone: --name two words: [..]
? 2
$ hone check --trials 3 --set search.trials=x -- true
hone: --set search.trials=x: [..]
? 2
