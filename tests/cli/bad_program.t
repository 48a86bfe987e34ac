#!tests/transcript
# SPDX-License-Identifier: MIT
# a program that is not there, or cannot run, is refused before anything is kept
$ hone run -- ./nothere
hone: the program './nothere' does not exist: there is no [..]/nothere; is the path right, seen from the spec's folder?
? 2
$ hone run -- nothere
hone: the program 'nothere' is not in PATH: is it installed?
? 2
$ touch noexec; hone run -- ./noexec
hone: the program './noexec' is not executable: 'chmod +x [..]/noexec', or name its interpreter before it (python3 ./noexec)
? 2
$ mkdir folder; hone run -- ./folder
hone: the program './folder' is a folder: name a file in it
? 2
$ echo true > here; chmod +x here; hone run -- here
hone: the program 'here' is not in PATH: './here' names the one beside the spec
? 2
$ hone run --set 'command=[]'
hone run: name a spec file, or give the program after --
'hone help run' tells more
? 2
$ hone run -- ''
hone: no program to run: give its command after --, or a spec with 'command'
? 2
$ hone ls
no experiments yet in [..]/.local/share/hone: 'hone init' writes a spec, 'hone run' runs it
# an interpreter that is not there shows only when it starts
$ printf '#!/no/such/python\n' > script; chmod +x script; hone run -- ./script
experiment 1 started: script
trial 1.1 failed after [..]
    cannot start './script': no such file or directory (is the path right, and the interpreter in its first line?)
experiment 1 'script' failed (the program could not be started): 0 completed, 1 failed
  cannot start './script': no such file or directory (is the path right, and the interpreter in its first line?)

results are in [..]
next: hone ls 1 · hone logs 1.1
? 1
$ printf 'just words' > text; chmod +x text; hone run -- ./text
experiment 2 started: text
trial 2.1 failed after [..]
    cannot start './text': exec format error (does its first line name an interpreter, as #!/bin/sh?)
experiment 2 'text' failed (the program could not be started): 0 completed, 1 failed
  cannot start './text': exec format error (does its first line name an interpreter, as #!/bin/sh?)

results are in [..]
next: hone ls 2 · hone logs 2.1
? 1
# one that goes away between two trials fails those, with the sentence
> gone.yaml
| command: ./gone
| params: {x: [1, 2]}
| search: {algorithm: grid, parallel: 1}
$ printf '#!/bin/sh\nrm gone\n' > gone; chmod +x gone; hone run gone.yaml
experiment 3 started: gone
trial 3.1 completed after [..]  x=1
trial 3.2 failed after [..]  x=2
    cannot start './gone': no such file or directory (is the path right, and the interpreter in its first line?)
experiment 3 'gone' failed (the program could not be started): 1 completed, 1 failed
  cannot start './gone': no such file or directory (is the path right, and the interpreter in its first line?)

results are in [..]
next: hone ls 3 · hone logs 3.1
? 1
# the current folder is gone
$ mkdir away; cd away; rm -r "$PWD"; hone run --name x -- true
hone: the current folder is gone: go to one that exists
? 2
$ mkdir away; cd away; rm -r "$PWD"; hone run ../gone.yaml
hone: the current folder is gone: go to one that exists
? 2
$ mkdir away; cd away; rm -r "$PWD"; hone ls --json | grep -c trial
3
