#!tests/transcript
# The workloads of examples/system run alone and under Hone, and the same seed gives the same bits
# on any number of threads. (Live changes: tests/sdk/workloads_test.py.)
$ cp -r "$ROOT"/examples/system . && ln -s "$(dirname "$(command -v hone)")"/examples/system bin
$ sed -i "s,^command: .*/,command: ../bin/," system/svm.yaml system/logreg.yaml system/kmeans.yaml system/jacobi.yaml system/bfs.yaml
$ export OMP_WAIT_POLICY=passive; for p in svm logreg kmeans jacobi bfs; do bin/$p --steps 3 | sed "s/loss [0-9.e-]* threads [0-9]*$/loss/; s/^/$p /"; done
svm step 0 loss
svm step 1 loss
svm step 2 loss
logreg step 0 loss
logreg step 1 loss
logreg step 2 loss
kmeans step 0 loss
kmeans step 1 loss
kmeans step 2 loss
jacobi step 0 loss
jacobi step 1 loss
jacobi step 2 loss
bfs step 0 loss
bfs step 1 loss
bfs step 2 loss
$ export OMP_WAIT_POLICY=passive; for p in svm logreg kmeans jacobi bfs; do for t in 1 2 3; do HONE_METRICS=$PWD/$p.$t HONE_SYSTEM="{\"threads\": $t}" bin/$p --steps=4 --seed=7; done; done
$ for p in svm logreg kmeans jacobi bfs; do for t in 1 2 3; do grep -c "threads=$t,step=" $p.$t; sed -i '/^hone total/d; s/,threads=.*//' $p.$t; cmp $p.1 $p.$t; done; done | sort | uniq -c | tr -s ' '
 15 4
$ export OMP_NUM_THREADS=1; for p in svm logreg kmeans jacobi; do HONE_METRICS=$PWD/$p.other bin/$p --steps=4 --seed=8; sed -i '/^hone total/d; s/,threads=.*//' $p.other; cmp -s $p.1 $p.other; echo $?; done | uniq -c | tr -s ' '
 4 1
# Losses fall: the last is below the first.
$ for p in svm logreg kmeans jacobi bfs; do sed 's/.*loss=//' $p.1 | sed -n '1p;$p' | awk 'NR == 1 { first = $1 } END { print (NR == 2 && $1 < first) }'; done | uniq -c | tr -s ' '
 5 1
$ export OMP_NUM_THREADS=1; for p in svm logreg kmeans jacobi bfs; do hone run system/$p.yaml --trials 1 --set params.steps=3 | grep finished; hone export $p --metrics --csv | grep -c ,loss,; done
experiment 1 'svm' finished: 1 completed
3
experiment 2 'logreg' finished: 1 completed
3
experiment 3 'kmeans' finished: 1 completed
3
experiment 4 'jacobi' finished: 1 completed
3
experiment 5 'bfs' finished: 1 completed
3
# One centre is the mean after its first iteration; then another start follows.
$ OMP_NUM_THREADS=1 bin/kmeans --k=1 --steps=4 | awk '{ loss[NR] = $4 } END { print (loss[2] < loss[1]), (loss[4] == loss[2]) }'
1 1
# What is no setting, and what is out of range, is said in a sentence.
$ bin/svm --step=3
'--step=3' is no setting: give --name=value, --help lists the names
? 2
$ bin/svm --batch 0
batch must be an integer from 1 to 32768
? 2
$ bin/kmeans --k
k must be an integer from 1 to 256
? 2
$ bin/jacobi --weight=much
weight must be a number from 0.01 to 1
? 2
$ HONE_SYSTEM='{"threads": 0}' OMP_NUM_THREADS=1 bin/bfs --vertices=2 --steps=1
step 0 loss 1 threads 1
# PyTorch may be missing: then the program says so. With it, a seed gives the same losses again.
> cnn.sh
| set -e
| run() { PYTHONPATH=$ROOT/sdk/python HONE_SYSTEM='{"threads": 1}' /usr/bin/python3 "$ROOT"/examples/system/train_cnn.py --steps "$@"; }
| if /usr/bin/python3 -c 'import torch' 2>/dev/null; then
|     run 2 --batch 8 --channels 4 >one
|     run 2 --batch 8 --channels 4 | cmp - one
|     grep -c 'threads 1$' one | grep -qx 2
|     grep -q 'step 2 val_acc' one
| else
|     run 2 2>said && exit 1
|     grep -q 'apt install python3-torch' said
| fi
| echo as it should
$ sh cnn.sh
as it should
