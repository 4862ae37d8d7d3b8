#!/usr/bin/env bash
# conffile.sh SORA: prints the settings of the packaged server: all that there are, as comments, and what a service needs besides.
set -euo pipefail
"$1" serve --print-config
cat << 'SETTINGS'

# --- Of the package ---

# Behind a proxy on this machine. For clients of the network itself: "0.0.0.0", tls-cert and tls-key.
host = "127.0.0.1"
port = 5000
log-format = "json"
log-level = "info"
drain-time = 30
SETTINGS
