#!/bin/sh
# SPDX-License-Identifier: MIT
# The writer of the store of series, killed SWEEP_ROUNDS times. In `make test` its own test does so.
if [ "${SWEEP_ROUNDS:-0}" -lt 100 ]; then
    echo "1..0 # SKIP src/series/db_kill_test.c does the short one"
    exit 0
fi
SERIES_ROUNDS=$SWEEP_ROUNDS exec "${HONE_BUILD:-build}/src/series/db_kill_test"
