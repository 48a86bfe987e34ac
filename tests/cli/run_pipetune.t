#!tests/transcript
# SPDX-License-Identifier: MIT
# PipeTune's pipetune.conf with its BigDL application file becomes spark-submit commands
> pipetune.conf
| {"bigdlConf": "app.json",
|  "systemParameters": {"cores": [16, 8], "memory": ["8g", "4g"]},
|  "hyperParameters": {"batchSize": [32, 64], "learningRate": [0.1]},
|  "nodes": ["n1"], "powerMeter": "pdu"}
> app.json
| {"master": "spark://m:7077", "driver_memory": "10g", "total_executor_cores": 8,
|  "executor_cores": 2, "executor_memory": "4g", "py_files": "a.zip", "properties_file": "",
|  "conf": "lenet.py", "extras": {"action": "train", "batchSize": 128}}
# it is refused while there is no spark-submit
$ PATH="$(dirname "$(command -v hone)"):/bin" hone run pipetune.conf
pipetune.conf is read as PipeTune's pipetune.conf
executor_cores: left out where cores vary; Spark spreads them over its nodes
nodes: left out; Spark's master knows its nodes
powerMeter: left out; Hone looks for power meters itself
hone: the program 'spark-submit' is not in PATH: is it installed?
? 2
> spark-submit
| #!/bin/sh
| echo "$*"
| echo "accuracy: 0.9"
$ chmod +x spark-submit; PATH="$PWD:$PATH" hone run pipetune.conf --set search.parallel=1 --seed 1
pipetune.conf is read as PipeTune's pipetune.conf
executor_cores: left out where cores vary; Spark spreads them over its nodes
nodes: left out; Spark's master knows its nodes
powerMeter: left out; Hone looks for power meters itself
experiment 1 started: pipetune
trial 1.1 completed after [..]: 0.9 (best so far)  batchSize=32
trial 1.2 completed after [..]: 0.9  batchSize=64
experiment 1 'pipetune' finished: 2 completed

best trials
trial  accuracy  [..]time  parameters
  1.1       0.9  [..]  batchSize=32
  1.2       0.9  [..]  batchSize=64

results are in [..]
next: hone ls 1 · hone show 1.1 · hone export 1 --csv
$ hone logs last.1; hone logs last.2
--master spark://m:7077 --driver-memory 10g --total-executor-cores 16 --executor-memory 8g --py-files a.zip lenet.py --action train --batchSize 32 --learningRate 0.1
accuracy: 0.9
--master spark://m:7077 --driver-memory 10g --total-executor-cores 16 --executor-memory 8g --py-files a.zip lenet.py --action train --batchSize 64 --learningRate 0.1
accuracy: 0.9
$ hone best last --json | grep -o '"value":[^,]*'
"value":0.9
