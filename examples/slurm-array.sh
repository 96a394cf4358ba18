#!/bin/bash
# A sweep as a Slurm array: each task runs one shard, and a job that waits for all of them merges their tables.
#
#     examples/slurm-array.sh SHARDS OUT.csv ARGUMENTS…
#     examples/slurm-array.sh 16 runs.csv --set stations=2..64*2 --seeds 20 --duration 10s
#
# ARGUMENTS are those of `ethbus sweep`, without --out and --shard. OUT.csv must be in a folder that all nodes see, and `ethbus` in
# PATH there, or named by the variable ETHBUS. Options for sbatch itself, like a time limit, go into SBATCH_OPTIONS.
#
# A task that is stopped at its time limit keeps its rows: give the same command again, and it goes on. The merge runs only
# when every shard is done.

set -euo pipefail

ethbus=${ETHBUS:-ethbus}

# Slurm runs this same file as each task of the array.
if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
    out=$1
    shift
    # exec: so that Slurm's signals reach the sweep, which then ends with whole rows.
    exec "$ethbus" sweep "$@" --shard auto --jobs "${SLURM_CPUS_PER_TASK:-1}" --out "$out.shard-{shard}"
fi

if [ $# -lt 2 ] || ! [ "$1" -ge 1 ] 2> /dev/null; then
    sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
shards=$1 out=$(realpath "$2")
shift 2
read -ra options <<< "${SBATCH_OPTIONS:-}"

array=$(sbatch --parsable "${options[@]}" --job-name=sweep --array="1-$shards" "$0" "$out" "$@")
tables=()
for number in $(seq "$shards"); do tables+=("$out.shard-$number"); done
merge=$(sbatch --parsable "${options[@]}" --job-name=merge --dependency="afterok:${array%%;*}" --kill-on-invalid-dep=yes \
    --wrap "$(printf '%q ' "$ethbus" sweep merge --out "$out" "${tables[@]}")")
echo "array ${array%%;*}, merge ${merge%%;*}"
