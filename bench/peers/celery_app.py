# SPDX-License-Identifier: MIT
"""The Celery application of the bench: one task that runs a program. Used by its worker and by
celery_noop.py."""
import os
import subprocess

import celery

app = celery.Celery("celery_app", broker=os.environ["BENCH_BROKER"], backend="rpc://")
app.conf.worker_hijack_root_logger = False


@app.task
def trial(program, i):
    return subprocess.run([program, f"--i={i}"], check=False).returncode
