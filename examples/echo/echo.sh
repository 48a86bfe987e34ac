#!/bin/sh
# Prints what a trial sees: its arguments, its place, its variables, its files.
echo "arguments:"
for argument in "$@"; do
    printf '  %s\n' "$argument"
done
echo "folder:"
printf '  %s\n' "$(pwd)"
echo "variables:"
env | grep -E '^(HONE_|CUDA_VISIBLE_DEVICES=|OMP_NUM_THREADS=|PYTHONUNBUFFERED=|RANK=|WORLD_SIZE=|GREETING=)' |
    LC_ALL=C sort | sed 's/^/  /'
echo "parameters:"
if [ -n "${HONE_PARAMS:-}" ]; then
    sed 's/^/  /' "$HONE_PARAMS"
    echo
fi
# What a program writes here is a metric at once; the file is made by its first line.
if [ -n "${HONE_METRICS:-}" ]; then
    echo "train size=$#,step=0i" >>"$HONE_METRICS"
fi
