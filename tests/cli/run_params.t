#!tests/transcript
# SPDX-License-Identifier: MIT
> words.sh
| for a in "$@"; do printf '[%s]' "$a"; done
| echo
# by name in the command; the rest is appended; braces can be literal
> names.yaml
| command: [sh, words.sh, '{a}-{a}', '{{a}}', '--x={b}', '--y', '{b}']
| params: {a: [1], b: [two words], c: 0.50, flag: true, off: false}
$ hone run names.yaml > /dev/null; hone logs last
[1-1][{a}][--x=two words][--y][two words][--c=0.50][--flag]
$ hone run names.yaml --set flags=value > /dev/null; hone logs last
[1-1][{a}][--x=two words][--y][two words][--c=0.50][--flag=true][--off=false]
# by the environment
> env.yaml
| command: sh -c 'printenv HONE_PARAM_LR HONE_PARAM_MY_NAME; echo $#'
| pass: env
| params: {lr: 1e-3, my-name: x}
$ hone run env.yaml > /dev/null; hone logs last
1e-3
x
0
# by the JSON file, which is there in any case
> file.yaml
| command: sh -c 'cat "$HONE_PARAMS"; echo $#' sh
| pass: file
| params: {lr: 1e-3, n: 3, name: 'a "b"', on: true}
$ hone run file.yaml > /dev/null; hone logs last
{"lr":1e-3,"n":3,"name":"a \"b\"","on":true}0
# a parameter that is not active is not passed
> when.yaml
| command: sh words.sh
| params:
|   opt: [sgd, adam]
|   momentum: {min: 0.5, max: 0.5, when: {opt: sgd}}
| search: {algorithm: grid, parallel: 1}
$ hone run when.yaml > /dev/null; hone logs last.1; hone logs last.2
[--opt=sgd][--momentum=0.5]
[--opt=adam]
# values arrive exactly: spaces, quotes, newlines, Unicode, dashes, nothing
> values.yaml
| command: sh words.sh
| params:
|   v: ['a b', "it's", 'say "x"', "two\nlines", 'größe 数', '-rf', '', '$HOME', '*', 'back\slash']
| search: {algorithm: grid, parallel: 1}
$ hone run values.yaml > /dev/null; for n in 1 2 3 4 5 6 7 8 9 10; do hone logs last.$n; done
[--v=a b]
[--v=it's]
[--v=say "x"]
[--v=two
lines]
[--v=größe 数]
[--v=-rf]
[--v=]
[--v=$HOME]
[--v=*]
[--v=back\slash]
$ hone export last --csv | cut -d, -f1,2,6-
trial,state,v,repeat_of
6.1,completed,a b,
6.2,completed,it's,
6.3,completed,"say ""x""",
6.4,completed,"two
lines",
6.5,completed,größe 数,
6.6,completed,-rf,
6.7,completed,,
6.8,completed,$HOME,
6.9,completed,*,
6.10,completed,back\slash,
# and in the file
$ hone run values.yaml --set pass=file --set 'command=[sh, -c, "cat $HONE_PARAMS; echo"]' > /dev/null; for n in 1 2 3 4 5 6 7 8 9 10; do hone logs last.$n; done
{"v":"a b"}
{"v":"it's"}
{"v":"say \"x\""}
{"v":"two\nlines"}
{"v":"größe 数"}
{"v":"-rf"}
{"v":""}
{"v":"$HOME"}
{"v":"*"}
{"v":"back\\slash"}
# names of parameters: dashes and dots are exact, the rest is refused with the place
$ hone run --param my-lr.x=1 -- sh words.sh > /dev/null; hone logs last
[--my-lr.x=1]
> space.yaml
| command: sh words.sh
| params: {"my lr": 1}
$ hone run space.yaml
hone: space.yaml:2:10: parameter name 'my lr' cannot be passed to a program; use letters, digits, '_', '-', '.', and begin with a letter or '_'
? 2
$ hone run --set "params={it's: 1}" -- sh words.sh
hone: --set params={it's: 1}: parameter name 'it's' cannot be passed to a program; use letters, digits, '_', '-', '.', and begin with a letter or '_'
? 2
$ hone run --set 'params={größe: 1}' -- sh words.sh
hone: --set params={größe: 1}: parameter name 'größe' cannot be passed to a program; use letters, digits, '_', '-', '.', and begin with a letter or '_'
? 2
$ hone run --set 'params={"": 1}' -- sh words.sh
hone: --set params={"": 1}: parameter name '' cannot be passed to a program; use letters, digits, '_', '-', '.', and begin with a letter or '_'
? 2
$ hone run --set 'params={-x: 1}' -- sh words.sh
hone: --set params={-x: 1}: parameter name '-x' cannot be passed to a program; use letters, digits, '_', '-', '.', and begin with a letter or '_'
? 2
$ hone run --param 'my lr=1' -- sh words.sh
hone: --param my lr=1: parameter name 'my lr' cannot be passed to a program; use letters, digits, '_', '-', '.', and begin with a letter or '_'
? 2
$ hone run --param =1 -- sh words.sh
hone: --param =1: must be NAME=VALUE
? 2
