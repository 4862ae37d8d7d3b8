#!/usr/bin/env bash
# Runs packages' unit tests under the address sanitizer, then under the thread sanitizer, one build at a time.
#
# SANITIZE_PACKAGES: which packages. SANITIZERS: which sanitizers. SANITIZE_SCRATCH: where to build.
set -uo pipefail
cd "$(dirname "$0")/.."

read -ra packages <<<"${SANITIZE_PACKAGES:-SoraTransport SoraAudio SoraCodecs SoraWebRTC}"
read -ra sanitizers <<<"${SANITIZERS:-address thread}"
scratch=${SANITIZE_SCRATCH:-.build/sanitize}
mkdir -p "$scratch"
scratch=$(realpath "$scratch")

# The backtrace handler can hang in a process that a sanitizer has already ended. The test runner itself leaks a few
# hundred bytes at exit; leaks are looked for by the fuzz targets.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0

failures=0
for sanitizer in "${sanitizers[@]}"; do
  for package in "${packages[@]}"; do
    log=$scratch/$sanitizer-$package.log
    started=$SECONDS
    # A folder for each sanitizer: objects of different instrumentation must not meet.
    if timeout -k 5 1800 "${SWIFT:-swift}" test --package-path "Packages/$package" \
      --sanitize="$sanitizer" --scratch-path "$scratch/$sanitizer" >"$log" 2>&1; then
      result=ok
    else
      result=FAILED
      failures=$((failures + 1))
    fi
    printf '%-8s %-14s %-6s %4d s  %s\n' "$sanitizer" "$package" "$result" $((SECONDS - started)) \
      "$(grep -aoE 'Test run with [0-9]+ tests.*' "$log" | tail -1)"
    if [ $result = FAILED ]; then
      grep -aE 'error:|✘|WARNING: ThreadSanitizer|ERROR: AddressSanitizer|SUMMARY' "$log" | sort -u | head -20
      echo "all of it: $log"
    fi
  done
done
exit $((failures > 0))
