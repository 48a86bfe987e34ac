#!tests/transcript
# an empty home is no mistake for ls, and nothing is made by looking
$ hone ls
no experiments yet in [..]/.local/share/hone: 'hone init' writes a spec, 'hone run' runs it
$ hone ls --json
[]
$ hone gc
nothing to free
$ hone show last
hone: no experiments yet in [..]/.local/share/hone
? 1
$ hone best x
hone: no experiments yet in [..]
? 1
$ hone tag 1 x
hone: no experiments yet in [..]
? 1
$ find . -name hone
# --home, HONE_HOME, .hone, XDG, in this order
$ mkdir .hone && hone ls | sed "s|$HOME||"
no experiments yet in /.hone: 'hone init' writes a spec, 'hone run' runs it
$ HONE_HOME=v hone ls | sed "s|$HOME||"
no experiments yet in /v: 'hone init' writes a spec, 'hone run' runs it
$ HONE_HOME=v hone ls --home g | sed "s|$HOME||"
no experiments yet in /g: 'hone init' writes a spec, 'hone run' runs it
$ HONE_HOME=v hone --home=/abs ls
no experiments yet in /abs: 'hone init' writes a spec, 'hone run' runs it
$ rmdir .hone; XDG_DATA_HOME=/x hone ls
no experiments yet in /x/hone: 'hone init' writes a spec, 'hone run' runs it
