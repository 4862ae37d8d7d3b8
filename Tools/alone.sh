#!/bin/bash
# Builds fresh packages outside of the repository that import one product each, while the libraries of all other codecs
# are hidden from the compiler and the linker, and runs them:
#   SoraVP9 alone needs libvpx and nothing else;
#   WebRTC without the trait GPL needs neither x264, x265 nor libavcodec, and still offers H.264;
#   SoraSCTP alone needs no library at all, not even OpenSSL.
# In a mount namespace of its own, so that nothing of the machine changes.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
if [ "${1:-}" != --inside ]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  for needs in ${ALONE:-vp9 free sctp}; do
    if [ "$(id -u)" = 0 ]; then namespace=(unshare --mount); else namespace=(unshare --map-root-user --mount); fi
    "${namespace[@]}" "$0" --inside "$needs" "$scratch"
  done
  exit
fi
needs=$2
scratch=$3

# Hides headers and libraries: a folder under an empty one, a file under an empty file.
hide() {
  local path
  for path in "$@"; do
    [ -e "$path" ] || continue
    if [ -d "$path" ]; then mount -t tmpfs none "$path"; else mount --bind /dev/null "$(readlink -f "$path")"; fi
  done
}

gpl=(/usr/include/x264.h /usr/include/x264_config.h /usr/include/x265.h /usr/include/x265_config.h
  /usr/include/*/libavcodec /usr/include/*/libavutil /usr/lib/*/libx264.so* /usr/lib/*/libx265.so*
  /usr/lib/*/libavcodec.so* /usr/lib/*/libavutil.so*)
others=(/usr/include/aom /usr/include/dav1d /usr/include/opus /usr/include/wels /usr/include/libde265
  /usr/include/libyuv /usr/include/libyuv.h /usr/lib/*/libaom.so* /usr/lib/*/libdav1d.so* /usr/lib/*/libopus.so*
  /usr/lib/*/libopenh264.so* /usr/lib/*/libde265.so* /usr/lib/*/libyuv.so*)

write_package() { # NAME TRAITS PRODUCTS...
  local name=$1 traits=$2
  shift 2
  mkdir -p "$scratch/$name/Sources/$name"
  {
    echo '// swift-tools-version: 6.2'
    echo 'import PackageDescription'
    echo "let package = Package(name: \"$name\","
    echo "  dependencies: [.package(name: \"Sora\", path: \"$root\"$traits)],"
    echo "  targets: [.executableTarget(name: \"$name\", dependencies: ["
    printf '    .product(name: "%s", package: "Sora"),\n' "$@"
    echo '  ])])'
  } > "$scratch/$name/Package.swift"
  cat > "$scratch/$name/Sources/$name/main.swift"
}

build() { # NAME, prints where the program is
  swift build --package-path "$scratch/$1" >&2
  echo "$scratch/$1/.build/debug/$1"
}

# The names alone: an address may well have 264 or 265 in it.
linked() { ldd "$1" | awk '{ print $1 }'; }

case $needs in
  vp9)
    hide "${gpl[@]}" "${others[@]}"
    write_package VP9Alone '' SoraVP9 SoraCodecs << 'END'
import SoraCodecs
import SoraVP9

let encoder = try VP9CodecFactory().makeEncoder(VideoEncoderSettings(width: 320, height: 180))
print(encoder.kind, encoder.implementationName)
END
    program=$(build VP9Alone)
    "$program" | grep '^VP9 libvpx'
    if linked "$program" | grep -E 'aom|dav1d|264|265|avcodec|opus|yuv'; then
      echo "alone.sh: SoraVP9 links another codec's library" >&2
      exit 1
    fi
    ;;
  free)
    hide "${gpl[@]}"
    write_package WithoutGPL ', traits: []' WebRTC SoraCodecs << 'END'
import SoraCodecs
import WebRTC

for capability in RTCPeerConnectionFactory().videoCodecs.capabilities {
  print(capability.kind, capability.implementation, capability.canEncode, capability.canDecode)
}
END
    program=$(build WithoutGPL)
    "$program" | tee "$scratch/codecs.txt"
    grep -qi '^H264 openh264 true' "$scratch/codecs.txt"
    if linked "$program" | grep -E 'x264|x265|avcodec'; then
      echo "alone.sh: a GPL library is linked without the trait" >&2
      exit 1
    fi
    ;;
  sctp)
    hide "${gpl[@]}" "${others[@]}" /usr/include/openssl /usr/include/srtp2 /usr/include/vpx
    write_package SCTPAlone '' SoraSCTP SoraMedia << 'END'
import SoraMedia
import SoraSCTP

let ends = (0..<2).map { SCTPAssociation(random: RandomSource(seed: UInt64($0))) }
let now = Instant.zero
let payload: [UInt8] = [42]
ends[0].connect(at: now)
try ends[0].send(payload.span.bytes, on: 0, ppid: 53, at: now)
for _ in 0..<10 {
  for (end, other) in zip(ends, ends.reversed()) {
    end.drainPackets(at: now) { packet in
      other.receive(packet, at: now)
      return true
    }
  }
}
while let event = ends[1].nextEvent() {
  if case .message(let message) = event { print("came:", message.payload) }
}
END
    program=$(build SCTPAlone)
    "$program" | grep -Fx 'came: [42]'
    if linked "$program" | grep -E 'ssl|crypto|srtp|vpx|aom|dav1d|264|265|avcodec|opus|yuv'; then
      echo "alone.sh: SoraSCTP links a library that it doesn't need" >&2
      exit 1
    fi
    ;;
esac
