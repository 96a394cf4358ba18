#!/bin/sh
# A sweep in GNU parallel: each job is one row of the grid, and all jobs write to one folder of Parquet files.
#
#     examples/clusters/parallel.sh runs/ --set stations=2..64*2 --seeds 20 --duration 10s
#
# The arguments after the folder are those of `ethbus sweep`. A row that is there already is not run again. Ran with GNU
# parallel 20221122.
set -eu
ethbus=${ETHBUS:-ethbus} out=$1
shift
count=$("$ethbus" sweep "$@" --list | tail -n +2 | wc -l)
seq "$count" | parallel "$ethbus" sweep "$@" --jobs 1 --row '{}' --out "$out"
"$ethbus" sweep status "$out"
