#!/usr/bin/env bash
# Runs packages' unit tests under the address sanitizer, then under the thread sanitizer, one build at a time.
#
# The thread sanitizer doesn't see into Swift's libraries, and so neither how a contended `Mutex` is passed on (a futex) nor
# that an object is uniquely referenced only after the others have released it: it would report what these order. The
# tests are linked with Tools/sanitizer/edges.c, which tells it of just those edges and hides no access; check.swift
# shows first that what is ordered passes and that a race is found. Actors, Dispatch and pthreads it knows by itself.
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
# Tests take several times as long, and their time limits count what others that run at once take of the cores.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-$(nproc)}

swift=${SWIFT:-swift}
edges=$scratch/edges.o

# Builds what the thread sanitizer needs to know, and tries it.
prepare_thread() {
  local log=$scratch/thread-check.log check=$scratch/thread-check resources
  resources=$("${swift}c" -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
  if ! { "$resources/../../bin/clang" -O1 -fPIC -Wall -c Tools/sanitizer/edges.c -o "$edges" &&
    "${swift}c" -sanitize=thread -swift-version 6 -Xlinker "$edges" Tools/sanitizer/check.swift -o "$check"; } \
    >"$log" 2>&1; then
    cat "$log"
    return 1
  fi
  if ! "$check" >"$log" 2>&1; then
    grep -aE 'WARNING|SUMMARY' "$log" || cat "$log"
    echo "thread sanitizer: reports what is in order: $log"
    return 1
  fi
  if "$check" race >"$log" 2>&1 || ! grep -aq 'WARNING: ThreadSanitizer' "$log"; then
    echo "thread sanitizer: misses a race: $log"
    return 1
  fi
}

failures=0
for sanitizer in "${sanitizers[@]}"; do
  [ "$sanitizer" != thread ] || prepare_thread || exit 1
  for package in "${packages[@]}"; do
    options=()
    if [ "$sanitizer" = thread ]; then
      options=(-Xlinker "$edges")
      # The parts that have threads: layers, and pictures that a library's threads give back; sockets, timers and what is sent by
      # them. The rest are sums over pixels, and hours of virtual time, on one thread, slower by so much here that the limit ends them.
      [ "$package" != SoraCodecs ] || options+=(--filter 'SoraSimulcastTests|ReferenceDecoderTests')
      [ "$package" != SoraTransport ] ||
        options+=(--filter '^Sora(Transport|ICE|DTLS|SRTP|SCTP|SCTPInterop|DataChannel)Tests')
    fi
    log=$scratch/$sanitizer-$package.log
    started=$SECONDS
    # A folder for each sanitizer: objects of different instrumentation must not meet.
    if timeout -k 5 1800 "$swift" test --package-path "Packages/$package" \
      --sanitize="$sanitizer" --scratch-path "$scratch/$sanitizer" "${options[@]}" >"$log" 2>&1; then
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
