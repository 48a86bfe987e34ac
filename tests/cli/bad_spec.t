#!tests/transcript
# SPDX-License-Identifier: MIT
# an empty file
$ : > empty.yaml; hone run empty.yaml
hone: empty.yaml: the file is empty
? 2
$ printf '# only words\n' > comment.yaml; hone run comment.yaml
hone: comment.yaml: the file is empty
? 2
# malformed YAML
> open.yaml
| command: train
| params: {lr: [1, 2
$ hone run open.yaml
hone: open.yaml:3:1: flow sequence without a closing bracket
? 2
> tabs.yaml
| command: train
| params:
| 	lr: 1
$ hone run tabs.yaml
hone: tabs.yaml:3:1: tab character may not be used as indentation
? 2
> list.yaml
| - command
$ hone run list.yaml
hone: list.yaml:1:1: a spec is a mapping (name: value), not a list
? 2
> twice.yaml
| command: a
| command: b
$ hone run twice.yaml
hone: twice.yaml:2:1: the key 'command' stands here again; it was first on line 1
? 2
$ printf 'command: a\n\0\377\n' > bytes.yaml; hone run bytes.yaml
hone: bytes.yaml:2:1: a NUL byte; is this a text file?
? 2
$ printf 'command: [echo, "\377"]\n' > utf8.yaml; hone run utf8.yaml
hone: utf8.yaml:1:18: not valid UTF-8; is this a text file?
? 2
# a folder, no permission, not there
$ hone run .
hone: . is a folder, not a spec
? 2
$ hone run nothere.yaml
hone: cannot read nothere.yaml: No such file or directory
? 2
# a huge one
$ (echo 'command: true'; echo 'params:'; echo '  x:'; yes '    - 12345678' | head -n 800000) > huge.yaml; test $(wc -c < huge.yaml) -gt 10000000; hone run huge.yaml
hone: huge.yaml: larger than 4 MiB, too large for a file written by people
? 2
$ (printf 'command: "'; head -c 11000000 /dev/zero | tr '\0' x; echo '"') > long.yaml; hone run long.yaml
hone: long.yaml: larger than 4 MiB, too large for a file written by people
? 2
$ (printf 'params: '; head -c 100000 /dev/zero | tr '\0' '[') > deep.yaml; hone run deep.yaml
hone: deep.yaml:1:72: nested deeper than 64 levels
? 2
# aliases that explode
> bomb.yaml
| a: &a [x, x, x, x, x, x, x, x, x]
| b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]
| c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]
| d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]
| e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]
| f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]
| g: &g [*f, *f, *f, *f, *f, *f, *f, *f, *f]
| h: &h [*g, *g, *g, *g, *g, *g, *g, *g, *g]
| command: [*h]
$ hone run bomb.yaml
hone: bomb.yaml:6:8: more than 100000 values (aliases counted each time)
? 2
> circle.yaml
| command: &c [echo, *c]
$ hone run circle.yaml
hone: circle.yaml:1:20: the alias *c stands inside of what it names
? 2
# a space without a setting
$ hone run --set 'params={x: []}' -- true
hone: --set params={x: []}: parameter 'x': the list is empty, so there is nothing to try
? 2
$ hone run --set 'params={x: {range: [5, 5, 1]}}' -- true
hone: --set params={x: {range: [5, 5, 1]}}: parameter 'x': range is empty: it is [start, end, step] without the end
? 2
$ hone run --set 'params={x: {min: 2, max: 1}}' -- true
hone: --set params={x: {min: 2, max: 1}}: parameter 'x': min 2 is above max 1
? 2
$ hone run --set 'params={x: {min: nan, max: 1}}' -- true
hone: --set params={x: {min: nan, max: 1}}: parameter 'x': 'min' must be a number, not 'nan'
? 2
$ hone run --param x=5..1 -- true
hone: --param x=5..1: parameter 'x': min 5 is above max 1
? 2
$ hone run --param x= -- true
hone: --param x=: the value is missing
? 2
$ hone run --trials 0 -- true
hone: --trials 0: 'search.trials' must be a whole number of 1 or more, not '0'
? 2
# nothing of it was kept
$ hone ls
no experiments yet in [..]
