#!tests/transcript
# SPDX-License-Identifier: MIT
# mlframework's parameters.yml: scalars, lists, half-open tuples, flags; every combination is a trial
> parameters.yml
| epoch: 5
| lr: 0.01
| name: "two words"
| batch: [32, 64]
| drop: !!python/tuple [0.1, 0.3, 0.1]
| unit: !!python/tuple [1, 3]
| verbose: true
| quiet: false
> train.sh
| for a in "$@"; do printf '[%s]' "$a"; done
| echo
$ hone run parameters.yml --set search.parallel=1 -- sh train.sh | grep -e read -e finished
parameters.yml is read as mlframework's parameters.yml: every combination is a trial
experiment 1 'parameters' finished: 8 completed
$ for n in 1 2 3 4 5 6 7 8; do hone logs last.$n; done
[--epoch=5][--lr=0.01][--name=two words][--batch=32][--drop=0.1][--unit=1][--verbose]
[--epoch=5][--lr=0.01][--name=two words][--batch=32][--drop=0.1][--unit=2][--verbose]
[--epoch=5][--lr=0.01][--name=two words][--batch=32][--drop=0.2][--unit=1][--verbose]
[--epoch=5][--lr=0.01][--name=two words][--batch=32][--drop=0.2][--unit=2][--verbose]
[--epoch=5][--lr=0.01][--name=two words][--batch=64][--drop=0.1][--unit=1][--verbose]
[--epoch=5][--lr=0.01][--name=two words][--batch=64][--drop=0.1][--unit=2][--verbose]
[--epoch=5][--lr=0.01][--name=two words][--batch=64][--drop=0.2][--unit=1][--verbose]
[--epoch=5][--lr=0.01][--name=two words][--batch=64][--drop=0.2][--unit=2][--verbose]
# without a program it is explained
$ hone run parameters.yml
hone: parameters.yml:1:1: this has no key of a Hone spec, so it is read as mlframework's parameters.yml; give the program after --: hone run parameters.yml -- python3 train.py
? 2
