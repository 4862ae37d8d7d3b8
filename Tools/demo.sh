#!/usr/bin/env bash
# Builds the command, serves, publishes 720p30 VP8 and Opus, plays it back for ten seconds, and shows how good it was.
# DEMO_KEEP=1 goes on publishing afterwards, to be watched in a browser, until Ctrl-C.
set -euo pipefail
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
configuration=${CONFIGURATION:-release}
folder=demo
seconds=10
server=
publisher=
player=

# Ends what was started here, politely first; a second signal ends the command at once.
stop() {
  trap - EXIT INT TERM
  local pid
  for pid in $player $publisher $server; do
    kill -TERM "$pid" 2> /dev/null || continue
    timeout 5 tail --pid="$pid" -f /dev/null || kill -KILL "$pid" 2> /dev/null || true
  done
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
  echo "demo: $1" >&2
  for log in "$folder"/*.log; do
    if [ -s "$log" ]; then
      echo "--- $log" >&2
      tail -n 20 "$log" >&2
    fi
  done
  exit 1
}

# wait_for SECONDS PID FILE PATTERN: prints the first line of FILE that matches. Fails when PID ends without, or in vain.
wait_for() {
  grep -m 1 -E "$4" < <(timeout "$1" tail --pid="$2" -n +1 -f "$3")
}

echo "building (the first time takes some minutes)"
"$swift" build -c "$configuration" --product sora
sora=$("$swift" build -c "$configuration" --show-bin-path)/sora

mkdir -p "$folder"
rm -f "$folder"/*.log "$folder"/snapshot.png
: > "$folder/serve.log"
: > "$folder/publish.log"

"$sora" serve --port 0 --json > "$folder/serve.log" 2> "$folder/serve-errors.log" &
server=$!
ready=$(wait_for 20 "$server" "$folder/serve.log" '"type":"ready"') || fail "the server isn't ready"
url=$(sed -E 's/.*"url":"([^"]*)".*/\1/' <<< "$ready")
page=$(sed -E 's/.*"httpUrl":"([^"]*)".*/\1/' <<< "$ready")?channel=sora
echo "serving $url"

"$sora" publish "$url" --channel sora --resolution 1280x720 --fps 30 --json \
  > "$folder/publish.log" 2> "$folder/publish-errors.log" &
publisher=$!
wait_for 20 "$server" "$folder/serve.log" '"type":"join"' > /dev/null || fail "the publisher didn't join"

# In the background, so that a signal reaches this script while it plays. The table goes to standard output.
"$sora" play "$url" --channel sora --duration "$seconds" --snapshot "$folder/snapshot.png" \
  --expect-psnr 30 > "$folder/summary.txt" &
player=$!
result=0
wait "$player" || result=$?
player=
echo
cat "$folder/summary.txt"
[ "$result" = 0 ] || fail "the call did not arrive as it should"
kill -0 "$publisher" 2> /dev/null || fail "the publisher ended early"

echo
echo "a picture of it: $folder/snapshot.png"
if [ "${DEMO_KEEP:-0}" = 1 ]; then
  echo "watch it in a browser: $page (Watch). Ctrl-C ends it."
  wait "$publisher" || true
else
  echo "to watch in a browser, run DEMO_KEEP=1 make demo, and open the page that it names: $page"
fi
