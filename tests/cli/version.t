#!tests/transcript
$ hone version
hone [..].[..].[..]
$ hone version --json
{"version":"[..]"}
$ hone --version
hone [..].[..].[..]
$ hone --json --version
{"version":"[..]"}
$ hone --json version
{"version":"[..]"}
$ test -e .local || echo no home was made
no home was made
$ hone version > /dev/full
hone: cannot write to standard output: No space left on device
? 1
