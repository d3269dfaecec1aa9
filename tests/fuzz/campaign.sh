#!/usr/bin/env bash
# Runs every fuzz target over its seeds for a number of executions each, and prints how many there were in all:
#
#     cmake --workflow --preset fuzz && tests/fuzz/campaign.sh build/fuzz 400000       # [SECONDS for each target]
#
# New inputs go to BUILD/corpus/NAME; a crash leaves BUILD/crashes/NAME-*, and the exit code is 1.
set -uo pipefail
build=$(cd "$1" && pwd)
runs=${2:-100000}
seconds=${3:-0}  # 0: no limit
corpus=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/corpus
mkdir -p "$build/crashes"
total=0
failed=0
for target in "$build"/tests/fuzz/*_fuzz; do
  name=$(basename "$target" _fuzz)
  mkdir -p "$build/corpus/$name"
  log=$build/corpus/$name.log
  "$target" -runs="$runs" -max_total_time="$seconds" -max_len=8192 -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$build/crashes/$name-" "$build/corpus/$name" "$corpus/$name" >"$log" 2>&1 || {
    failed=1
    printf '%s: failed, see %s\n' "$name" "$log"
  }
  executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  total=$((total + ${executed:-0}))
  printf '%-20s %9d executions\n' "$name" "${executed:-0}"
done
printf '%-20s %9d executions\n' 'in all' "$total"
exit "$failed"
