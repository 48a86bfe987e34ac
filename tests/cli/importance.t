#!tests/transcript
# SPDX-License-Identifier: MIT
# y depends on x and, a little, on the choice; z is noise
$ python3 -c 'print("x,c,z,y"); [print(i * 37 % 101 / 101, "ab"[i % 2], i * 53 % 97 / 97, (i * 37 % 101 / 101 - 0.3) ** 2 * 9 + i % 2, sep=",") for i in range(80)]' > t.csv; hone import t.csv --objective y > out
$ hone importance t | head -5
what explains the spread of y over 80 results
parameter  share      likely
x            74%  70% to 76%  █████████████████▊
c            20%  18% to 22%  ████▉
z             0%    0% to 0%
$ hone importance t --json | grep -o '"results":80'
"results":80
$ hone importance t --objective q
hone: 'q' is no objective, but: y
? 1
$ head -5 t.csv > few.csv; hone import few.csv --objective y > out; hone importance few
hone: 4 results of experiment 2 tell nothing yet: it takes 8 completed trials
? 1
