#!/usr/bin/env bash
# product.sh NAME...: builds products of the root's manifest for release.
#
# SORA_IS_BUILT: all of them are there (`make build`), and nothing has changed since. SwiftPM needs a dozen seconds for each to find
# that out by itself.
set -euo pipefail
cd "$(dirname "$0")/.."
for product in "$@"; do
  if [ -n "${SORA_IS_BUILT:-}" ] && [ -x ".build/release/$product" ]; then continue; fi
  "${SWIFT:-swift}" build -c release --product "$product"
done
