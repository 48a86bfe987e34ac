#!tests/transcript
# SPDX-License-Identifier: MIT
# a finished experiment goes on with more trials; its search knows what was found
$ hone run --name more --trials 4 --parallel 1 --minimize loss --param x=1..99:int --set search.algorithm=random --set search.seed=1 -- sh -c 'echo loss={x}' | grep finished
experiment 1 'more' finished: 4 completed
$ hone resume more
hone: experiment 1 is finished: there is nothing to resume
? 2
$ hone resume more --trials +3 | grep finished
experiment 1 'more' finished: 7 completed
$ hone resume more --trials 9 | grep finished
experiment 1 'more' finished: 9 completed
$ hone ls more | grep -c completed
9
$ hone replay more
9 of 9 suggestions reproduced
# what is wrong
$ hone resume more --trials 9
hone: experiment 1 has a budget of 9 trials already: ask for more than that, or for +N more
? 2
$ hone resume more --trials 5
hone: experiment 1 has a budget of 9 trials already: ask for more than that, or for +N more
? 2
$ hone resume more --trials +0
hone resume: --trials wants +N for so many more, or N in all, not '+0'
'hone help resume' tells more
? 2
$ hone resume more --trials many
hone resume: --trials wants +N for so many more, or N in all, not 'many'
'hone help resume' tells more
? 2
$ hone resume more --trials -4
hone resume: --trials wants +N for so many more, or N in all, not '-4'
'hone help resume' tells more
? 2
$ hone resume nobody --trials +4
hone: no experiment called 'nobody' in [..]/.local/share/hone: 'hone ls' lists them
? 1
