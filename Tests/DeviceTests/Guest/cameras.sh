# Runs in the guest: every scenario of `DeviceClient`, each under a line that names it. The test beside it says what must be seen.
# /exchange holds the client, and films of the stamped pattern as a camera would give them.
client=/tmp/client
cp /exchange/DeviceClient "$client"

try() {
  echo "== $1"
  shift
  timeout 120 "$@"
  echo "-- $?"
}

# Fills a loopback camera with a film until the function's caller ends it; ready once the camera has a format.
fill() {
  ffmpeg -nostdin -loglevel error -re -stream_loop -1 -i "$1" -c copy -f v4l2 "$2" > /tmp/fill.log 2>&1 &
  filler=$!
  await_format "$2" "$3"
}

# Waits until a camera offers a format.
await_format() {
  for _ in $(seq 100); do
    v4l2-ctl -d "$1" --list-formats 2> /dev/null | grep -q "'$2'" && return
    sleep 0.1
  done
  echo "nothing fills $1: $(tail -2 /tmp/fill.log)"
}

# Waits until a file has so many lines with a pattern, while a process runs.
lines() {
  for _ in $(seq 300); do
    found=$(grep -sc "$2" "$1")
    [ "${found:-0}" -ge "$3" ] && return
    kill -0 "$4" 2> /dev/null || return 1
    sleep 0.1
  done
  return 1
}

# A server of the test's own on a port; ready once it says so.
serve() {
  /tmp/sora serve --port "$1" > /tmp/serve.log 2>&1 &
  server=$!
  lines /tmp/serve.log "$1" 1 "$server"
}

# Ends it.
end_server() {
  kill "$server"
  wait "$server" 2> /dev/null
}

# The slow starters first, so that they start while others run.
fill /exchange/film.avi /dev/video40 MJPG; jpegs=$filler
fill /exchange/film.ts /dev/video41 H264; units=$filler

try list "$client" list /dev/video0
try controls "$client" controls /dev/video0
try formats "$client" formats /dev/video0
try planes "$client" formats /dev/video1
try colors "$client" colors /dev/video1
try pace "$client" pace /dev/video0
try held "$client" held /dev/video0
try restart "$client" restart /dev/video0
try native "$client" native /dev/video0
try again "$client" again /dev/video0 /dev/video1

try capturer "$client" capturer /dev/video0

# An HDMI input scales to any size: the driver tells a range in place of a list.
v4l2-ctl -d /dev/video0 -i 3 > /dev/null
try range "$client" list /dev/video0
try ranged "$client" held /dev/video0
v4l2-ctl -d /dev/video0 -i 0 > /dev/null

try jpeg "$client" stamps /dev/video40 MJPG
try h264 "$client" encoded /dev/video41 H264

# A camera that encodes, published without encoding again, and recorded at the other end: its pictures are those of the film.
pass_through() { # CODEC DEVICE FILM UNITS-OF-PICTURES BITSTREAM-FILTER
  echo "== passthrough-$1"
  serve 5001
  /tmp/sora publish ws://127.0.0.1:5001/signaling --channel "$1" --video "camera:$2" --audio none --video-codec "$1" \
    --resolution 320x180 --duration 60 --json > /tmp/publish.log 2>&1 &
  publisher=$!
  timeout 60 /tmp/sora play ws://127.0.0.1:5001/signaling --channel "$1" --audio none --duration 4 --json --record /tmp/got.mp4 \
    > /tmp/play.log 2>&1
  status=$?
  awk '{ print "cpu " ($14 + $15) }' "/proc/$publisher/stat"
  kill -INT "$publisher"
  wait "$publisher"
  tail -1 /tmp/publish.log
  end_server
  for film in "$3" /tmp/got.mp4; do
    ffmpeg -nostdin -loglevel error -i "$film" -c copy -bsf:v "$5,filter_units=pass_types=$4" -f framemd5 - |
      awk -F ', *' -v name="$(basename "$film")" '!/^#/ { print name, $6 }'
  done
  rm -f /tmp/got.mp4
  echo "-- $status"
}
cp /exchange/sora /tmp/sora
pass_through h264 /dev/video41 /exchange/film.ts 1-5 h264_mp4toannexb
kill "$units"

# H.265: ffmpeg's output to V4L2 doesn't have it.
"$client" feed /dev/video42 /exchange/units & units=$!
await_format /dev/video42 HEVC
try h265 "$client" encoded /dev/video42 HEVC
pass_through h265 /dev/video42 /exchange/film265.ts 0-31 hevc_mp4toannexb
kill "$units"

echo "== stall"
"$client" stall /dev/video40 > /tmp/stall &
stalled=$!
for _ in $(seq 100); do grep -q running /tmp/stall && break; sleep 0.1; done
kill -STOP "$jpegs"
for _ in $(seq 100); do grep -q event /tmp/stall && break; sleep 0.1; done
kill -CONT "$jpegs"
wait "$stalled"
status=$?
cat /tmp/stall
echo "-- $status"
kill "$jpegs"

# What a frame costs each program: the time of all its threads, as the scheduler counts it, in two seconds of one that takes pictures. In
# turns, so that others of the machine outside disturb them alike.
echo "== cpu"
soracamera() { exec "$client" cpu /dev/video0 NV12; }
v4l2_ctl() { exec v4l2-ctl -d /dev/video0 --stream-mmap=5 --stream-count=2000; }
ffmpeg_null() {
  exec ffmpeg -nostdin -loglevel error -f v4l2 -input_format nv12 -video_size 640x360 -framerate 25 -i /dev/video0 -f null -
}
nanoseconds_of() { awk '{ sum += $1 } END { printf "%.0f", sum }' /proc/"$1"/task/*/schedstat; }
# A name and microseconds a frame, at 25 per second.
frame_of() {
  "$1" > /tmp/out 2>&1 &
  program=$!
  # The driver's memory is mapped just before it fills it.
  for _ in $(seq 100); do grep -q /dev/video "/proc/$program/maps" && break; sleep 0.1; done
  sleep 1
  before=$(nanoseconds_of "$program")
  sleep 2
  echo "$1 $((($(nanoseconds_of "$program") - before) / 50000))"
  kill "$program"
  wait "$program" 2> /dev/null
}
v4l2-ctl -d /dev/video0 -v width=640,height=360,pixelformat=NV12 -p 25 > /dev/null
for _ in 1 2 3 4 5; do for program in soracamera v4l2_ctl ffmpeg_null; do frame_of "$program"; done; done
echo "-- 0"

# The whole way: a camera published, and played beside it.
echo "== tool"
cp /exchange/sora /tmp/sora
/tmp/sora devices
/tmp/sora devices --json --controls
serve 5000
/tmp/sora publish ws://127.0.0.1:5000/signaling --channel camera --video camera --audio none --resolution 320x180 --fps 10 \
  --video-codec vp8 --duration 40 > /tmp/publish.log 2>&1 &
publisher=$!
timeout 60 /tmp/sora play ws://127.0.0.1:5000/signaling --channel camera --audio none --duration 8 --json
status=$?
kill -INT "$publisher"
wait "$publisher" || tail -3 /tmp/publish.log
end_server
echo "-- $status"

# What a publisher of a camera holds for itself, in kilobytes: once it has sent some pictures.
echo "== memory"
serve 5003
/tmp/sora publish ws://127.0.0.1:5003/signaling --channel memory --video camera --audio none --resolution 1280x720 --fps 10 \
  --video-codec vp8 --duration 60 --json > /tmp/publish.log 2>&1 &
publisher=$!
lines /tmp/publish.log '"frames":[1-9][0-9]' 1 "$publisher"
status=$?
awk '/^Private_/ { sum += $2 } END { printf "{\"type\":\"memory\",\"kilobytes\":%d}\n", sum }' "/proc/$publisher/smaps_rollup"
grep '"frames":[1-9][0-9]' /tmp/publish.log | head -1
kill -INT "$publisher"
wait "$publisher"
end_server
echo "-- $status"

# A sound card whose ends are joined, and that goes and comes back while it sounds.
echo "== sound"
"$client" sound Loopback > /tmp/sound &
sounding=$!
for _ in $(seq 300); do grep -q running /tmp/sound && break; kill -0 "$sounding" 2> /dev/null || break; sleep 0.1; done
# Ends only when all who have the card open let go of it.
echo snd_aloop.0 > /sys/bus/platform/drivers/snd_aloop/unbind &
unbinding=$!
for _ in $(seq 200); do grep -q gone /tmp/sound && break; kill -0 "$sounding" 2> /dev/null || break; sleep 0.1; done
wait "$unbinding"
echo snd_aloop.0 > /sys/bus/platform/drivers/snd_aloop/bind
wait "$sounding"
status=$?
cat /tmp/sound
echo "-- $status"

echo "== errors"
"$client" open /dev/video99
"$client" open /dev/null
cp -a /dev/video0 /tmp/closed && chmod 600 /tmp/closed && setpriv --reuid=65534 --clear-groups "$client" open /tmp/closed
v4l2-ctl -d /dev/video0 --stream-mmap=5 --stream-count=1000 > /dev/null 2> /tmp/user &
user=$!
lines /tmp/user '<' 1 "$user"
"$client" open /dev/video0
kill "$user"
wait "$user" 2> /dev/null
echo "-- 0"

# Calls that fail once each, pictures that end with an error, and the camera after them.
echo "== injected"
for call in reqbufs qbuf streamon; do
  v4l2-ctl -d /dev/video0 -c "inject_vidioc_${call}_error=1"
  "$client" open /dev/video0
done
"$client" lose /dev/video0 > /tmp/lose &
loser=$!
lines /tmp/lose running 1 "$loser"
v4l2-ctl -d /dev/video0 -c inject_fatal_streaming_error=1
wait "$loser"
cat /tmp/lose
"$client" open /dev/video0
echo "-- $?"

echo "== monitor"
mkfifo /tmp/stop
"$client" monitor /dev < /tmp/stop > /tmp/monitor &
watcher=$!
exec 3> /tmp/stop
for _ in $(seq 100); do grep -q watching /tmp/monitor && break; sleep 0.1; done
try unplug "$client" unplug /dev/video1

# The driver lets its device go while pictures come, as with a plug that is pulled.
echo "== pull"
"$client" lose /dev/video0 > /tmp/lose &
loser=$!
for _ in $(seq 100); do grep -q running /tmp/lose && break; sleep 0.1; done
echo vivid.0 > /sys/bus/platform/drivers/vivid/unbind
wait "$loser"
status=$?
cat /tmp/lose
echo "-- $status"

echo "== plug"
for _ in $(seq 100); do grep -q '"cameras"' /tmp/monitor && break; sleep 0.1; done
echo vivid.0 > /sys/bus/platform/drivers/vivid/bind
for _ in $(seq 100); do [ "$(grep -c '"cameras"' /tmp/monitor)" -ge 2 ] && break; sleep 0.1; done
exec 3>&-
wait "$watcher"
status=$?
cat /tmp/monitor
echo "-- $status"

# A camera is pulled out while the command publishes it: the command says so, once, and its call goes on.
echo "== pulled"
serve 5002
/tmp/sora publish ws://127.0.0.1:5002/signaling --channel pulled --video camera:/dev/video1 --resolution 320x180 --fps 10 \
  --video-codec vp8 --duration 60 --json > /tmp/publish.log 2> /tmp/publish.err &
publisher=$!
lines /tmp/publish.log '"frames":[1-9]' 1 "$publisher"
echo vivid.0 > /sys/bus/platform/drivers/vivid/unbind
lines /tmp/publish.err unplugged 1 "$publisher"
told=$(grep -c '"type":"stats"' /tmp/publish.log)
lines /tmp/publish.log '"type":"stats"' $((told + 3)) "$publisher"
status=$?
kill -INT "$publisher"
wait "$publisher"
echo "{\"type\":\"pulled\",\"ended\":$?}"
cat /tmp/publish.err
grep '"type":"stats"' /tmp/publish.log | tail -1
echo vivid.0 > /sys/bus/platform/drivers/vivid/bind
end_server
echo "-- $status"
