#!tests/transcript
# SPDX-License-Identifier: MIT
# what is no text is kept to the byte, and what counts is found in it
$ hone run --minimize loss -- sh -c 'head -c 100000 /dev/urandom | tee bytes; printf "\n\0\377\033[2J\nstep 1 loss=0.5\n\200"' | head -2
experiment 1 started: sh
trial 1.1 completed after [..]: 0.5 (best so far)
$ hone logs last | head -c 100000 | cmp - bytes
# no newline at the end
$ hone run --minimize loss -- printf 'loss: 0.25' | head -2
experiment 2 started: printf
trial 2.1 completed after [..]: 0.25 (best so far)
# nothing at all is fine without an objective
$ hone run -- true | head -2
experiment 3 started: true
trial 3.1 completed after [..]
$ hone logs last
# and is told with one
$ hone run --minimize loss -- true | head -3
experiment 4 started: true
trial 4.1 failed after [..]
    ended without reporting the objective 'loss': nothing was recognised in its output
$ hone run --minimize loss -- sh -c 'echo "acc: 0.5"; echo "lr=0.1"' | head -3
experiment 5 started: sh
trial 5.1 failed after [..]
    ended without reporting the objective 'loss': it reported acc, lr
$ hone run --home other --minimize loss -- sh -c 'echo "LOSS: 0.5"; echo "lr=0.1"' | sed -n 3p
    ended without reporting the objective 'loss': it reported LOSS, lr; did you mean 'LOSS'?
$ hone ls last --json | grep -o '"state":"[^"]*","reason":"[^"]*"'
"state":"failed","reason":"no_metric"
# a program that closes its output goes on
$ hone run -- sh -c 'echo before; exec >&- 2>&-; echo after; touch done' | head -2; ls done; hone logs last
experiment 6 started: sh
trial 6.1 completed after [..]
done
before
# control characters of a failing program do not reach the terminal
$ hone run -- sh -c 'printf "\033[31mred\007\n" >&2; exit 3' | head -4 | cat -v
experiment 7 started: sh
trial 7.1 failed after [..]
    exit status 3
    red?
# loud programs
$ hone run --set limits.output=1M -- sh -c 'yes 0123456789abcde | head -c 3000000; echo the end' | head -2
experiment 8 started: sh
trial 8.1 completed after [..]
$ hone logs last | tail -1
hone: 1.9 MB of output were dropped here by limits.output
the end
$ hone logs last > whole; wc -c < whole
hone: 1.9 MB of output were dropped here by limits.output
1050312
$ hone show last.1 | grep 'exit 0'
      1  [..]exit 0, 1.9 MB of output dropped by limits.output
