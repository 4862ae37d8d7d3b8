#!/usr/bin/env bash
# Builds the fuzz targets and runs each for a while, from the corpus in the repository.
#
#   Tests/Fuzz/run.sh [TARGET...]            all targets, or some
#   Tests/Fuzz/run.sh --list                 the targets' names
#   Tests/Fuzz/run.sh --seeds                writes the seeds of the corpus anew
#   Tests/Fuzz/run.sh --replay TARGET FILE   runs one input, such as a finding
#
# FUZZ_SECONDS: how long a target runs (8). FUZZ_SEED: where libFuzzer's choices start (1, so that short runs try the same
# inputs each time); 0 for others each time. FUZZ_JOBS: how many run at a time (one a core). FUZZ_SCRATCH: where to build
# and keep what is found (.build/fuzz).
set -euo pipefail
cd "$(dirname "$0")"

SWIFT=${SWIFT:-swift}
SECONDS_EACH=${FUZZ_SECONDS:-8}
SEED=${FUZZ_SEED:-1}
JOBS=${FUZZ_JOBS:-$(nproc)}
SCRATCH=${FUZZ_SCRATCH:-$PWD/../../.build/fuzz}
mkdir -p "$SCRATCH"
SCRATCH=$(realpath "$SCRATCH")

# The handler that prints Swift's backtraces can hang in a process that libFuzzer has already given up.
export SWIFT_BACKTRACE=enable=no

# libFuzzer without a main of its own: Swift executables bring theirs. `-sanitize=fuzzer` goes to the compiler alone
# (it instruments every module, the packages' too); given to the driver it would link that main.
resources=$("${SWIFT}c" -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
library=$(ls "$resources"/../clang/*/lib/linux/libclang_rt.fuzzer_no_main-"$(uname -m)".a 2>/dev/null | head -1)
if [ -z "$library" ]; then
  echo "the Swift toolchain has no libFuzzer for $(uname -m)" >&2
  exit 1
fi

build() {
  local log=$SCRATCH/build.log
  if ! "$SWIFT" build --package-path . --scratch-path "$SCRATCH/build" -c release --product Fuzz \
    --sanitize=address -Xswiftc -Xfrontend -Xswiftc -sanitize=fuzzer,address \
    -Xlinker "$library" -Xlinker -lstdc++ "$@" >"$log" 2>&1; then
    grep -E 'error:' "$log" >&2 || cat "$log" >&2
    exit 1
  fi
}

fuzz=$SCRATCH/build/release/Fuzz

# One target; says in one line how it went.
run_one() {
  local target=$1 log=$SCRATCH/$1.log failure=$SCRATCH/$1.failure status=0
  rm -f "$failure"
  mkdir -p "$SCRATCH/corpus/$target" "$SCRATCH/findings"
  timeout -k 5 $((SECONDS_EACH + 60)) "$fuzz" "$target" -max_total_time="$SECONDS_EACH" -seed="$SEED" \
    -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=512 -print_final_stats=1 \
    -artifact_prefix="$SCRATCH/findings/$target-" \
    "$SCRATCH/corpus/$target" "corpus/$target" >"$log" 2>&1 || status=$?
  if [ $status -eq 0 ]; then
    printf '%-26s %9s inputs, %5s edges\n' "$target" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
      "$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)"
  else
    {
      printf '%-26s FAILED (status %s)\n' "$target" "$status"
      grep -aE 'Fatal error|SUMMARY|ALARM|Test unit written|^Base64' "$log" || tail -5 "$log"
      echo "try again: Tests/Fuzz/run.sh --replay $target FILE"
    } | tee "$failure"
  fi
  return $status
}

if [ "${1:-}" = --run-one ]; then
  run_one "$2"
  exit
fi

started=$SECONDS
build
echo "built in $((SECONDS - started)) s"

case "${1:-}" in
  --list) "$fuzz" list ;;
  --seeds)
    rm -f corpus/*/seed-*
    "$fuzz" seeds corpus
    ;;
  --replay) exec timeout -k 5 120 "$fuzz" "$2" "$3" ;;
  *)
    if [ $# -eq 0 ]; then mapfile -t targets < <("$fuzz" list); else targets=("$@"); fi
    # Fails when one of them failed, after the others are done, and says last which.
    if ! printf '%s\n' "${targets[@]}" | xargs -P "$JOBS" -n 1 ./run.sh --run-one; then
      for target in "${targets[@]}"; do cat "$SCRATCH/$target.failure" 2>/dev/null || true; done
      exit 1
    fi
    echo "${#targets[@]} targets in $((SECONDS - started)) s"
    ;;
esac
