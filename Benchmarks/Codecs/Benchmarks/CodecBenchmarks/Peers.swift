import SoraAV1
import SoraCodecs
import SoraMedia
import SoraVP8
import SoraVP9

/// A codec as it is measured: our module, and the tool of the same library with the same settings.
struct Peer: Sendable {
  /// What tells it from other peers of the same codec: the libraries.
  var label: String
  var kind: VideoCodecKind
  var factory: any VideoCodecFactory
  var decoder: any VideoCodecFactory
  /// Names of libraries whose own allocations aren't ours.
  var libraries: [String]
  /// The library's speed that both sides use at a size.
  var speed: @Sendable (ClipSize) -> Int
  /// The extension of the file that the tool writes.
  var fileExtension: String
  /// The tool's arguments for encoding `input` into `output` with our settings; nil where this peer only decodes.
  var encode: (@Sendable (_ clip: Clip, _ speed: Int, _ output: String) -> [String])?
  /// The tool's arguments that leave everything to the library's real-time defaults.
  var encodeWithDefaults: (@Sendable (_ clip: Clip, _ output: String) -> [String])?
  /// The tool's arguments for decoding `input` with one thread and writing nothing.
  var decode: @Sendable (_ input: String) -> [String]
}

extension Peer {
  static func rate(_ clip: Clip) -> String { "\(clip.size.bitsPerSecond / 1000)" }

  /// What VP8, VP9 and AV1 are given in common. A key frame's limit is that of `setKeyFrameLimit` in the encoders.
  private static func constantBitrate(_ clip: Clip, shoot: (under: Int, over: Int)) -> [String] {
    [
      "--rt", "--threads=1", "--lag-in-frames=0", "--end-usage=cbr",
      "--target-bitrate=\(rate(clip))",
      "--drop-frame=0", "--min-q=2", "--max-q=56", "--undershoot-pct=\(shoot.under)",
      "--overshoot-pct=\(shoot.over)", "--buf-sz=1000", "--buf-initial-sz=500",
      "--buf-optimal-sz=600", "--max-intra-rate=900", "--disable-kf", "--kf-max-dist=99999",
      "--ivf",
    ]
  }

  static let all: [Peer] = [vp8, vp9, av1]

  static let vp8 = Peer(
    label: "libvpx", kind: .vp8, factory: VP8CodecFactory(), decoder: VP8CodecFactory(),
    libraries: ["libvpx.so"],
    speed: { $0.height <= 288 ? -4 : $0.height <= 720 ? -6 : -8 }, fileExtension: "ivf",
    encode: { clip, speed, output in
      ["vpxenc", "--codec=vp8", "--cpu-used=\(speed)"]
        + constantBitrate(clip, shoot: (100, 15))
        + [
          "--resize-allowed=0", "--static-thresh=1", "--noise-sensitivity=0", "--token-parts=0",
          "--auto-alt-ref=0", "-o", output, clip.path,
        ]
    },
    encodeWithDefaults: { clip, output in
      [
        "vpxenc", "--codec=vp8", "--rt", "--threads=1", "--end-usage=cbr", "--lag-in-frames=0",
        "--target-bitrate=\(rate(clip))", "--ivf", "-o", output, clip.path,
      ]
    },
    decode: { ["vpxdec", "--summary", "--noblit", "-t", "1", $0] })

  static let vp9 = Peer(
    label: "libvpx", kind: .vp9, factory: VP9CodecFactory(), decoder: VP9CodecFactory(),
    libraries: ["libvpx.so"],
    speed: { $0.height <= 360 ? 5 : $0.height <= 720 ? 8 : 9 }, fileExtension: "ivf",
    encode: { clip, speed, output in
      ["vpxenc", "--codec=vp9", "--cpu-used=\(speed)"]
        + constantBitrate(clip, shoot: (50, 50))
        + [
          "--static-thresh=1", "--noise-sensitivity=0", "--aq-mode=3", "--row-mt=0",
          "--tile-columns=0", "--frame-parallel=0", "--auto-alt-ref=0", "--tune-content=default",
          "-o", output, clip.path,
        ]
    },
    encodeWithDefaults: { clip, output in
      [
        "vpxenc", "--codec=vp9", "--rt", "--cpu-used=8", "--threads=1", "--end-usage=cbr",
        "--lag-in-frames=0", "--target-bitrate=\(rate(clip))", "--ivf", "-o", output, clip.path,
      ]
    },
    decode: { ["vpxdec", "--summary", "--noblit", "-t", "1", $0] })

  /// Tools of AV1 that `AV1Encoder` turns off, by their names in aomenc.
  private static let av1ToolsOff = [
    "tpl-model", "order-hint", "obmc", "warped-motion", "global-motion", "ref-frame-mvs",
    "cfl-intra", "smooth-intra", "angle-delta", "filter-intra", "dist-wtd-comp", "diff-wtd-comp",
    "dual-filter", "interintra-comp", "interintra-wedge", "intra-edge-filter", "intrabc",
    "masked-comp", "paeth-intra", "qm", "rect-partitions", "restoration", "smooth-interintra",
    "tx64", "palette",
  ].map { "--enable-\($0)=0" }

  static let av1 = Peer(
    label: "libaom, dav1d", kind: .av1, factory: AV1CodecFactory(), decoder: AV1CodecFactory(),
    libraries: ["libaom.so", "libdav1d.so"],
    speed: { $0.height <= 360 ? 8 : $0.height <= 540 ? 9 : 10 }, fileExtension: "ivf",
    encode: { clip, speed, output in
      ["aomenc", "--passes=1", "--cpu-used=\(speed)"]
        + constantBitrate(clip, shoot: (50, 50)) + av1ToolsOff
        + [
          "--aq-mode=3", "--row-mt=0", "--tile-columns=0", "--tune-content=default",
          "--enable-cdef=1", "--coeff-cost-upd-freq=3", "--mode-cost-upd-freq=3",
          "--mv-cost-upd-freq=3", "--dv-cost-upd-freq=3", "--deltaq-mode=0",
          "--noise-sensitivity=0", "--max-reference-frames=3", "--use-intra-default-tx-only=1",
          "--disable-trellis-quant=1", "-o", output, clip.path,
        ]
    },
    encodeWithDefaults: { clip, output in
      [
        "aomenc", "--passes=1", "--rt", "--cpu-used=10", "--threads=1", "--end-usage=cbr",
        "--lag-in-frames=0", "--target-bitrate=\(rate(clip))", "--ivf", "-o", output, clip.path,
      ]
    },
    decode: {
      [
        "dav1d", "--threads", "1", "--framedelay", "1", "--muxer", "null", "-o", "/dev/null", "-i",
        $0,
      ]
    })
}
