#!tests/transcript
# nobody has one at first, and looking makes nothing
$ hone token
no tokens yet: 'hone token add NAME' makes one
$ hone token ls --json
[]
$ find . -name hone
# a token is printed once, and only its hash is kept; no server is needed
$ hone token add ann > ann; wc -c < ann
49
$ grep -c '^hone_[A-Za-z0-9_-]*$' ann
1
$ hone token add bob --role viewer --expires 90d --json
{"token":"hone_[..]","user":"bob","role":"viewer","expires":"20[..]Z"}
$ hone token
id  user  role    kind   [..]age  ends in
 1  ann   user    token  [..]  never
 2  bob   viewer  token  [..]  90d00h
$ hone token ls --json | sed 's/"created.*//'
[{"id":1,"kind":"token","user":"ann","role":"user",
$ grep -rc "$(cat ann)" .local | grep -v ':0$'
? 1
# by id, or all of a user
$ hone token add ann >/dev/null; hone token rm 2
1 removed
$ hone token rm ann --json
{"removed":2}
$ hone token
no tokens yet: 'hone token add NAME' makes one
# what is wrong is said
$ hone token rm ann
hone: no token ann: 'hone token ls' lists them
? 1
$ hone token add 'a b'
hone token: 'a b' is no name of a user: 1 to 64 letters, digits and _ . @ + -
'hone help token' tells more
? 2
$ hone token add ann --role root
hone token: 'root' is no role: viewer, user or admin
'hone help token' tells more
? 2
$ hone token add ann --expires 0
hone token: --expires 0 is no duration: 12h, 90d or 52w would be
'hone help token' tells more
? 2
$ hone token add
hone token: 'add' wants the name of a user
'hone help token' tells more
? 2
$ hone token ls --role user
hone token: --role and --expires are for 'add'
'hone help token' tells more
? 2
$ hone token make
hone token: 'make' is none of add, ls, rm
'hone help token' tells more
? 2
# links are given out by a server
$ hone open
hone: nothing serves [..]: 'hone serve' does, and 'hone run' while it runs
? 1
