#!/bin/bash
# Measures everything that the suite supports on this GPU: builds where nvcc is, runs every family in a process of its own,
# then the scripts that need PyTorch, within a time. A family that fails, hangs or is missing is reported in one line and the
# rest continues; a second run continues where the first one ended.
#
#     validation/gpu/measure.sh OUT [SECONDS]      # 540 by default; exit 1 when a family failed, 3 without a GPU,
#                                                  # 4 without failures when the time was too short for all
#     MEASURE_GPU=PROGRAM validation/gpu/measure.sh OUT   # a program that was built elsewhere
set -u
out=${1:?usage: measure.sh OUT [SECONDS]}
seconds=${2:-540}
here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../build/gpu}
program=${MEASURE_GPU:-}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "error: '$seconds' is no number of seconds" >&2; exit 2; }
end=$((SECONDS + seconds))
failed=
unfinished=

mkdir -p "$out" || exit 2
nvidia-smi -L 2>/dev/null | grep -q '^GPU' || { echo "error: there is no GPU here (nvidia-smi names none)" >&2; exit 3; }
left() { echo $((end - SECONDS)); }
say() { echo "$((SECONDS + seconds - end)) s: $*"; }

# A part: its name, its share of the seconds that are left, and the command, which gets its time limit and is
# ended soon after that.
part() {
  local name=$1 share=$2
  shift 2
  local budget=$(($(left) * share / 100))
  [ "$budget" -ge 2 ] || { say "$name: no time is left for it"; unfinished="$unfinished $name"; return; }
  timeout -k 5 $((budget + 15)) "$@" --budget "$budget"
  local code=$?
  case $code in
    0) ;;
    4) unfinished="$unfinished $name" ;;
    124 | 137) say "$name: did not end in its time ($budget s) and was ended"; failed="$failed $name" ;;
    *) say "$name: failed with exit code $code"; failed="$failed $name" ;;
  esac
}

if [ -z "$program" ]; then
  command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
  if command -v nvcc >/dev/null && command -v cmake >/dev/null; then
    capability=$(nvidia-smi --id=0 --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ')
    [[ $capability =~ ^[0-9]+$ ]] || capability=90
    { timeout $((seconds / 2)) cmake -S "$here" -B "$build" -DCMAKE_CUDA_ARCHITECTURES="$capability" &&
      timeout $((seconds / 2)) cmake --build "$build" --parallel; } >"$out/build.log" 2>&1 ||
      { tail -20 "$out/build.log"; failed="$failed build"; }
    say "built for compute capability $capability"
  else
    say "build: there is no nvcc or no cmake here"
    failed="$failed build"
  fi
  program=$build/measure_gpu
fi

torch=$(timeout 120 python3 -c 'import torch; print(torch.cuda.is_available())' 2>/dev/null)
[ "$torch" = True ] || say "attention, layers and training steps are left out: python3 has no PyTorch with a GPU"

# The most valuable comes first. Shares are of the remaining time, so that unused time of one part goes to the next ones.
if [ -x "$program" ]; then
  scale=$([ "$torch" = True ] && echo 100 || echo 160)
  for family in launches:8 gemm:28 memory:14 primitives:24 interference:24 host_copies:14 offload:14 grouped_gemm:16 \
    elementwise:20 training:18; do
    share=$((${family#*:} * scale / 100))
    part "${family%:*}" "$share" "$program" --out "$out" --families "${family%:*}"
  done
else
  say "measure_gpu: there is no program '$program'"
  failed="$failed measure_gpu"
fi
if [ "$torch" = True ]; then
  part attention.py 35 python3 -B "$here/attention.py" --out "$out"
  part train_step.py 95 python3 -B "$here/train_step.py" --out "$out"
fi
ls -l "$out"
[ -z "$unfinished" ] || say "not finished, run again to continue:$unfinished"
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
[ -z "$unfinished" ] || exit 4
