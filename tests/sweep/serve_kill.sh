#!/bin/sh
# SPDX-License-Identifier: MIT
# hone serve, killed under load SWEEP_ROUNDS times: nothing acknowledged is lost. In `make test` the
# test of the server does it a few times.
if [ "${SWEEP_ROUNDS:-0}" -lt 100 ]; then
    echo "1..0 # SKIP tests/bad/serve_test.py does the short one"
    exit 0
fi
SERVE_ROUNDS=$SWEEP_ROUNDS exec "$(dirname "$0")/../bad/serve_test.py" what_was_acknowledged_survives_any_death
