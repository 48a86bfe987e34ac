#!tests/transcript
# SPDX-License-Identifier: MIT
# programs run in the spec's folder
$ mkdir -p there; echo data > there/data
> there/spec.yaml
| command: sh -c 'cat data; pwd'
$ hone run there/spec.yaml > /dev/null; hone logs last | sed "s|$HOME||"
data
/there
# workdir: trial is for those that write fixed file names
$ hone run there/spec.yaml --set workdir=trial --set 'command=[sh, -c, "echo x > out; pwd"]' > /dev/null; hone logs last | sed "s|$HOME/||"; test ! -e there/out
.local/share/hone/experiments/2/1.1/work
# code: {isolate: true} runs in a checkout of the recorded code
$ hone run there/spec.yaml --set code.isolate=true --set 'command=[sh, -c, "cat data; echo x > out; pwd"]' > /dev/null; hone logs last | sed "s|$HOME/||"; test ! -e there/out
data
.local/share/hone/checkouts/[..]
# rerun: the same parameters and the old code, after the file was changed
$ mkdir code; echo 'echo "old $*"; echo loss=0.5' > code/train.sh
> code/spec.yaml
| name: old
| command: sh train.sh
| params: {lr: {min: 0.0, max: 1.0}, batch: [32, 64]}
| objective: loss
| search: {trials: 2, seed: 5, parallel: 1}
$ cd code && hone run spec.yaml > /dev/null && hone logs old.2 > ../before && echo 'echo "new $*"; echo loss=0.1' > train.sh
$ hone rerun old.2 | grep -e best -e finished
trial 5.1 completed after [..]: 0.5 (best so far)  lr=0.35422 batch=32
experiment 5 'old-rerun' finished: 1 completed
best trials
$ hone logs last.1 | diff before - && head -1 before
old --lr=0.3542205308711276 --batch=32
$ hone diff 4.2 5.1 | grep -e ^parameters -e "^  value" -e ^code || echo the same
the same
# gpus: each trial at the same time gets its own
> gpu.yaml
| command: sh gpu.sh
| params: {x: [1, 2]}
| resources: {gpus: 2}
> gpu.sh
| echo "$CUDA_VISIBLE_DEVICES"
| touch "seen${1#--x=}"
| until [ -e seen1 ] && [ -e seen2 ]; do sleep 0.02; done
> with_gpus
| HONE_NVML="$(dirname "$(command -v hone)")/tests/unit/fake_nvml.so" exec "$@"
$ sh with_gpus hone run gpu.yaml | grep finished; (hone logs last.1; hone logs last.2) | tr ',' '\n' | sort
experiment 6 'gpu' finished: 2 completed
GPU-a
GPU-b
GPU-c
GPU-d
# more than the machine has is refused
$ sh with_gpus hone run gpu.yaml --set resources.gpus=5
hone: a trial takes 5 GPUs, [..] has 4
? 2
