#!tests/transcript
# SPDX-License-Identifier: MIT
# what looks like a secret under env: reaches the program, and nobody who looks at the spec
> spec.yaml
| command: [sh, -c, 'echo "loss=$(printf %s "$API_TOKEN" | wc -c)"; echo "mode=$MODE"']
| env: {API_TOKEN: hunter2, MODE: fast}
| objective: loss
| params: {env: [1]}
$ hone run spec.yaml > out; hone logs 1.1
loss=7
mode=fast
$ hone show 1 --json | grep -o -e '"env":{"API[^}]*}' -e hunter2
"env":{"API_TOKEN":"•••","MODE":"fast"}
$ hone report 1 -o report.html > out; grep -o -e '"env":{"API[^}]*}' -e hunter2 report.html
"env":{"API_TOKEN":"•••","MODE":"fast"}
# it is told as it was to who runs it again
$ hone rerun 1.1 > out; hone logs 2.1
loss=7
mode=fast
$ hone run spec.yaml --set env.MODE=slow --set env.API_TOKEN=hunter22 > out; hone diff 1 3 | grep '^ *env\.' | tr -s ' '
 env.MODE fast slow
