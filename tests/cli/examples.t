#!tests/transcript
# The examples do what their READMEs say. (quadratic: tour.t; fashion: make demo.)
$ cp -r "$ROOT"/examples/echo "$ROOT"/examples/sklearn-digits .
$ hone run echo/echo.yaml | grep finished
experiment 1 'echo' finished: [..] completed
$ hone logs 1.1 | grep -c HONE_TRIAL
1
$ hone run sklearn-digits/digits.yaml --trials 2 | grep finished
experiment 2 'digits' finished: 2 completed
$ hone export 2 --metrics --csv | grep -c test_accuracy > count; [ $(cat count) -ge 2 ]
