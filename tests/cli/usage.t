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
