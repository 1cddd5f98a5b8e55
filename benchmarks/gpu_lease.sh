#!/bin/sh
# The GPU sizes of the stress cases in under 8 minutes, and one file of results.
#   benchmarks/gpu_lease.sh                  on a machine with a CUDA torch
#   DEVICE=cpu benchmarks/gpu_lease.sh quick small sizes, which show only that the script runs
# PYTHON, OUT (folder of the records) and SECONDS_ALLOWED may be set; paths are relative to the
# checkout. PYTHON needs this package and its dependencies. Steps run in the order of their size,
# each within what is left of the time; one that fails or has no time left is written down as such
# and the next goes on. The file of results is written anew after every step. A second run on the
# same machine keeps the cells that are finished.
set -u
cd "$(dirname "$0")/.." || exit 2

SIZE=${1:-full}
PYTHON=${PYTHON:-python3}
DEVICE=${DEVICE:-cuda}
OUT=${OUT:-build/gpu}
# What is left of 480 s is for a step that ends slowly, and for the last file of results.
SECONDS_ALLOWED=${SECONDS_ALLOWED:-460}
refuse() {
  echo "gpu_lease: $1" >&2
  exit 2
}
case $SIZE in
full | quick) ;;
*) refuse "expected quick or nothing, got '$SIZE'" ;;
esac
case $SECONDS_ALLOWED in
'' | *[!0-9]*) refuse "SECONDS_ALLOWED must be a whole number, got '$SECONDS_ALLOWED'" ;;
esac

# Bounds hold large float64 arrays beside the largest cell.
export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
BEGUN=$(date +%s)
"$PYTHON" -m benchmarks.lease "$OUT" --begin "$DEVICE"
case $? in
0) ;;
2) exit 2 ;;
*) refuse "'$PYTHON -m benchmarks.lease' must run: install the package with its dependencies" ;;
esac

# step NAME ARGUMENTS...: one stress command within the time that is left.
step() {
  name=$1
  shift
  left=$((SECONDS_ALLOWED - $(date +%s) + BEGUN))
  started=$(date +%s)
  if [ "$left" -lt 2 ]; then
    status=no-time
  else
    timeout -k 5 "$left" "$PYTHON" -m numerics.stress "$@" --device "$DEVICE" --out "$OUT" \
      >"$OUT/$name.log" 2>&1
    status=$?
  fi
  printf '%s\t%s\t%s\t%s\n' "$name" "$status" "$(($(date +%s) - started))" "$*" >>"$OUT/steps.tsv"
  echo "$name: status $status"
  "$PYTHON" -m benchmarks.lease "$OUT" >/dev/null
}

if [ "$SIZE" = quick ]; then
  step gates CW2 --n 40 --d 16 --heads 4 --dtype bfloat16 float32
  step distances RA7 --n 40 --d 16 --dtype float32
else
  step gates-small CW2 --n 4096 16384 --d 1024 --heads 16 --dtype bfloat16 float32 float64
  step edge CW2 --cell edge --n 1024 --d 1024 --heads 16 --dtype bfloat16 float32
  step distances RA7 --cell query-side symmetrised --n 16384 --d 128 --dtype float32
  step recurrences AP5 --n 16384 --d 64 --dtype float32
  step distances-full RA7 --n 65536 --d 128 --dtype float32
  step gates-full-bf16 CW2 --n 131072 --d 4096 --heads 32 --dtype bfloat16
  step gates-full-f32 CW2 --n 131072 --d 4096 --heads 32 --dtype float32
fi

"$PYTHON" -m benchmarks.lease "$OUT"
