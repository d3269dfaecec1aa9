#!/bin/bash
# Measures all that the suite can on the GPU at hand: builds where nvcc is, runs every family, then what needs PyTorch, within a
# time; a part that fails is told and the rest goes on.
#
#     validation/gpu/measure.sh OUT [SECONDS]      # 540 unless told; exit 1 when a part failed, 3 without a GPU
set -u
out=${1:?usage: measure.sh OUT [SECONDS]}
seconds=${2:-540}
here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../build/gpu}
[[ $seconds =~ ^[0-9]+$ ]] || { echo "error: '$seconds' is no number of seconds" >&2; exit 2; }
end=$((SECONDS + seconds))
failed=

mkdir -p "$out" || exit 2
nvidia-smi -L 2>/dev/null | grep -q '^GPU' || { echo "error: there is no GPU here (nvidia-smi names none)" >&2; exit 3; }
if command -v nvcc >/dev/null; then
  capability=$(nvidia-smi --id=0 --query-gpu=compute_cap --format=csv,noheader | tr -d '. ')
  cmake -S "$here" -B "$build" -DCMAKE_CUDA_ARCHITECTURES="${capability:-90}" >"$out/build.log" 2>&1 &&
    cmake --build "$build" --parallel >>"$out/build.log" 2>&1 || { tail -20 "$out/build.log"; failed="$failed build"; }
fi

# Two thirds of what is left for the suite itself where PyTorch has its part to do, all of it otherwise.
torch=$(python3 -c 'import torch; print(torch.cuda.is_available())' 2>/dev/null)
left=$((end - SECONDS))
[ "$torch" = True ] && left=$((left * 2 / 3)) || echo "attention, layers and training steps are left out: python3 has no PyTorch with a GPU"
"$build/measure_gpu" --out "$out" --budget "$left" || failed="$failed measure_gpu"
if [ "$torch" = True ]; then
  for script in attention.py train_step.py; do
    [ $((end - SECONDS)) -gt 0 ] || { failed="$failed $script(no-time-left)"; continue; }
    timeout $((end - SECONDS)) python3 -B "$here/$script" --out "$out" || failed="$failed $script"
  done
fi
ls -l "$out"
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
