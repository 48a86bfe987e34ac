#!tests/transcript
# a home that may only be read can be looked at; a change is refused with the reason
$ hone run --home h --name x -- true > /dev/null && cp "$(command -v hone)" hone && chmod 755 . && chmod -R a+rX,a-w h
> as_user
| if [ "$(id -u)" = 0 ]; then exec setpriv --reuid 65534 --clear-groups "$@"; fi
| exec "$@"
$ sh as_user ./hone ls --home h
experiment  name  [..]state [..]
         1  x     [..]finished [..]
$ sh as_user ./hone show 1.1 --home h | head -2
trial        1.1 of x
state        completed
$ sh as_user ./hone star 1 --home h
hone: [..]h[..]
? 1
$ sh as_user ./hone run --home h -- true
hone: [..]h[..]
? 1
$ sh as_user ./hone doctor --home h | grep ^home
home [..]wrong    [..]/h: [..]; choose another with --home or HONE_HOME
$ chmod -R u+w h
