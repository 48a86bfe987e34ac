# SPDX-License-Identifier: MIT
"""No-op tasks through Celery: celery_noop.py COUNT PROGRAM. The worker and the broker run already.

Prints the seconds from the first submission to the last result, and this process's own share of
the processor in that time.
"""
import json
import sys
import time

import celery
from celery_app import trial

count, program = int(sys.argv[1]), sys.argv[2]
trial.delay(program, 0).get(timeout=60)  # the worker is there
began, cpu = time.monotonic(), time.process_time()
results = celery.group(trial.s(program, i) for i in range(count)).apply_async().get(timeout=600)
assert results == [0] * count
print(json.dumps({"wall": time.monotonic() - began, "cpu": time.process_time() - cpu,
                  "version": celery.__version__}))
