#!tests/transcript
# the starting spec is a valid one
$ mkdir my.project && cd my.project && hone init -- python3 train.py --data 'my data'
wrote hone.yaml; edit it, then:
  hone check hone.yaml
  hone run hone.yaml
$ cd my.project && hone check hone.yaml | head -2
experiment  my-project
program     python3 train.py --data 'my data'
# it is what is meant where no file is named
$ cd my.project && hone check --trials 3 | head -1
note: no file is named: it is hone.yaml of this folder
experiment  my-project
$ cd my.project && hone run --param x=1..9 -- sh -c 'exit 0' | head -1
experiment 1 started: sh
$ cd my.project && hone run --set code=none --param x=1 --trials 0
note: no file is named: it is hone.yaml of this folder
hone: --trials 0: [..]
? 2
# and never overwrites
$ cd my.project && hone init
hone: hone.yaml is there already and stays as it is: name another file
? 1
$ cd my.project && hone init other.yaml --json
{"file":"other.yaml"}
$ hone init no/such/folder.yaml
hone: cannot write no/such/folder.yaml: No such file or directory
? 1
