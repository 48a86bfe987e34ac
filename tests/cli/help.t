#!tests/transcript
# alone it says what to type first
$ hone
hone trains your model while it searches its hyperparameters

to begin, in the folder of your training program:
...
'hone help' lists all commands, 'hone doctor' says what this machine allows
# help lists every command
$ hone help
...
commands:
...
  ls [EXPERIMENT]                 list the experiments, or the trials of one
...
  2              wrong usage or spec; nothing was changed
...
$ hone --help | head -1
hone trains your model while it searches its hyperparameters
# and explains one, in both spellings
$ hone help best
hone best EXPERIMENT
  the best trials of an experiment
...
options:
  --number N, -n N       [..]
  --where EXPR, -w EXPR  [..]
  --home DIR        [..]
  --server URL      [..]
  --token-file FILE [..]
  --ca FILE         [..]
  --json            [..]
  --help, -h        [..]
$ hone best --help | head -2
hone best EXPERIMENT
  the best trials of an experiment
$ hone help bset
hone help: there is no command 'bset', did you mean 'best'?
'hone help' lists the commands
? 2
# every command has a page
$ for c in init check run submit attach stop pause resume queue ls show logs best compare diff rerun export tag note star rm gc doctor help version; do hone help $c | head -1; done
hone init [FILE] [-- COMMAND]
hone check [FILE] [-- COMMAND]
hone run [..]
hone submit [FILE] [-- COMMAND]
hone attach [..]
hone stop [..]
hone pause [EXPERIMENT]
hone resume [..]
hone queue [EXPERIMENT]
hone ls [EXPERIMENT]
hone show EXPERIMENT|TRIAL
hone logs TRIAL
hone best EXPERIMENT
hone compare EXPERIMENT…|TRIAL…
hone diff A B
hone rerun [..]
hone export EXPERIMENT
hone tag EXPERIMENT|TRIAL TAG…
hone note EXPERIMENT|TRIAL [TEXT]
hone star EXPERIMENT|TRIAL
hone rm EXPERIMENT|TRIAL
hone gc
hone doctor
hone help [COMMAND]
hone version
# documents made from the same tables
$ hone help --man | head -2
.TH HONE 1 "" "hone [..]" "User Commands"
.SH NAME
$ hone help --completion > c.bash && bash -c '. ./c.bash; COMP_WORDS=(hone be) COMP_CWORD=1; _hone; echo $COMPREPLY'
best
$ bash -c '. ./c.bash; COMP_WORDS=(hone export --me) COMP_CWORD=2; _hone; echo $COMPREPLY'
--metrics
# For scripts: the commands as JSON.
$ hone help --json | python3 -c 'import json,sys; print(sorted(c["name"] for c in json.load(sys.stdin))[:4])'
['attach', 'best', 'check', 'compare']
$ hone help run --json | python3 -c 'import json,sys; c, = json.load(sys.stdin); print(c["name"], [o["name"] for o in c["options"]][-1])'
run port
