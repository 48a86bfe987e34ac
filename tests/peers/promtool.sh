#!/bin/sh
# SPDX-License-Identifier: MIT
# What Prometheus' own tool says of our pages: `promtool check metrics` reads them and has nothing
# to complain about. PROMTOOL names it if it is not in the path. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2

promtool=${PROMTOOL:-promtool}
writer=${HONE_BUILD:-build}/src/api/prometheus_test
if ! command -v "$promtool" >/dev/null; then
    echo "1..0 # SKIP no promtool here (Debian's package prometheus has it)"
    exit 0
fi
if [ ! -x "$writer" ]; then
    echo "1..0 # SKIP $writer is not built (make tests)"
    exit 0
fi
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT

check() { # NAME FILE EXPECTED
    if said=$("$promtool" check metrics <"$2" 2>&1) && [ -z "$said" ]; then found=good; else found=bad; fi
    if [ $found = "$3" ]; then echo "ok - $1"; else
        echo "not ok - $1"
        echo "$said" | sed 's/^/# /' | head -5
        failed=1
    fi
}
failed=0
echo "1..2"
PROMETHEUS_PAGE=$dir/page "$writer" >/dev/null || failed=1
[ -s "$dir/page" ] || failed=1
check "the fullest page is good" "$dir/page" good
{
    cat "$dir/page"
    echo 'hone_up{a="b} 1'
} >"$dir/broken"
check "a broken one would be seen" "$dir/broken" bad
exit $failed
