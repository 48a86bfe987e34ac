#!tests/transcript
# a home written by a newer version is refused and left as it was
$ hone run --home h --name x -- true > /dev/null
$ printf '\0\0\0\143' | dd of=h/hone.db bs=1 seek=60 conv=notrunc status=none; sha256sum h/hone.db > before; ls -A h > names
$ hone ls --home h
hone: [..]newer[..]
? 1
$ hone tag 1 x --home h
hone: [..]newer[..]
? 1
$ hone run --home h -- true
hone: [..]newer[..]
? 1
$ sha256sum --check --quiet before && ls -A h | diff names -
