import SoraAV1
import SoraCodecs
import SoraH264
import SoraH265
import SoraMedia
import SoraVP8
import SoraVP9

/// A codec as it is measured: our module, and the tool of the same library with the same settings.
struct Peer: Sendable {
  /// What tells it from other peers of the same codec: the libraries.
  var label: String
  var kind: VideoCodecKind
  /// Bits of a sample, on both sides.
  var bitDepth = 8
  var encoder: any VideoCodecFactory
  /// The preferred one first: it also says what quality an encoder has reached.
  var decoders: [PeerDecoder]
  /// Names of libraries whose own allocations aren't ours.
  var libraries: [String]
  /// The library's speed that both sides use at a size.
  var speed: @Sendable (ClipSize) -> Int
  /// The speeds among which ours chooses while it runs, and what the tool calls each; none where it doesn't.
  var speeds: [Int] = []
  var speedName: @Sendable (Int) -> String = { "\($0)" }
  /// The extension of the file that the tool writes.
  var fileExtension: String
  /// The tool's arguments for encoding a clip into `output` with our settings.
  var encode: @Sendable (_ clip: Clip, _ speed: Int, _ output: String) -> [String]
  /// The tool's arguments that leave everything to the library's real-time defaults.
  var encodeWithDefaults: @Sendable (_ clip: Clip, _ output: String) -> [String]
}

/// A decoder of ours, and the tool that decodes the same file with one thread and writes nothing.
struct PeerDecoder: Sendable {
  var factory: any VideoCodecFactory
  var tool: @Sendable (_ input: String) -> [String]
  /// Whether the library takes its picture's memory back with the next call, so that ours has to copy what the tool
  /// leaves where it is.
  var copiesPictures = false
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

  static let all: [Peer] = [
    vp8, vp9, vp9.withTenBits("--profile=2", "--bit-depth=10"), av1,
    av1.withTenBits("--bit-depth=10"), h264, h265,
  ]

  /// The codec as a table names it.
  var name: String { kind.encodingName + (bitDepth == 8 ? "" : ", \(bitDepth) bits") }

  private func withTenBits(_ arguments: String...) -> Peer {
    var peer = self
    peer.bitDepth = 10
    peer.label += ", 10 bits"
    @Sendable func adding(_ line: [String]) -> [String] {
      line.prefix(1) + arguments + line.dropFirst()
    }
    peer.encode = { [encode] in adding(encode($0, $1, $2)) }
    peer.encodeWithDefaults = { [encodeWithDefaults] in adding(encodeWithDefaults($0, $1)) }
    return peer
  }

  static let vp8 = Peer(
    label: "libvpx", kind: .vp8, encoder: VP8CodecFactory(),
    decoders: [PeerDecoder(factory: VP8CodecFactory(), tool: vpxdec, copiesPictures: true)],
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
    })

  static let vp9 = Peer(
    label: "libvpx", kind: .vp9, encoder: VP9CodecFactory(),
    decoders: [PeerDecoder(factory: VP9CodecFactory(), tool: vpxdec)],
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
    })

  /// Tools of AV1 that `AV1Encoder` turns off, by their names in aomenc.
  private static let av1ToolsOff = [
    "tpl-model", "order-hint", "obmc", "warped-motion", "global-motion", "ref-frame-mvs",
    "cfl-intra", "smooth-intra", "angle-delta", "filter-intra", "dist-wtd-comp", "diff-wtd-comp",
    "dual-filter", "interintra-comp", "interintra-wedge", "intra-edge-filter", "intrabc",
    "masked-comp", "paeth-intra", "qm", "rect-partitions", "restoration", "smooth-interintra",
    "tx64", "palette",
  ].map { "--enable-\($0)=0" }

  static let av1 = Peer(
    label: "libaom", kind: .av1, encoder: AV1CodecFactory(),
    decoders: [PeerDecoder(factory: AV1CodecFactory(), tool: dav1d)],
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
    })

  /// What x265 is told at each of our speeds: the one before its fastest preset isn't a preset.
  private static func x265Speed(_ speed: Int) -> [String] {
    speed < 0
      ? ["--preset", "ultrafast", "--rd", "1", "--ctu", "16"] : ["--preset", presets[speed]]
  }

  /// Speeds of x264 and x265 by number, as far as they are used here.
  private static let presets = ["ultrafast", "superfast", "veryfast"]

  /// What x264 and x265 are given in common: constant bitrate with half a second of buffer, key frames only when asked
  /// for. The delimiters tell where a picture begins in the file; ours go without.
  private static func buffered(_ clip: Clip) -> [String] {
    [
      "--tune", "zerolatency", "--bitrate", rate(clip), "--vbv-maxrate", rate(clip),
      "--vbv-bufsize",
      "\(clip.size.bitsPerSecond / 2000)", "--vbv-init", "0.9", "--qpmin", "8", "--qpmax", "51",
      "--aud",
    ]
  }

  static let h264 = Peer(
    label: "x264", kind: .h264, encoder: X264EncoderFactory(),
    decoders: [
      PeerDecoder(factory: AVCodecDecoderFactory(.h264), tool: ffmpeg),
      PeerDecoder(factory: OpenH264CodecFactory(), tool: ffmpeg),
    ],
    libraries: ["libx264.so", "libopenh264.so", "libavcodec.so", "libavutil.so", "libstdc++.so"],
    speed: { $0.height <= 360 ? 2 : 1 }, fileExtension: "264",
    encode: { clip, speed, output in
      ["x264", "--preset", presets[speed]] + buffered(clip)
        + [
          "--threads", "1", "--keyint", "infinite", "--min-keyint", "1", "--no-scenecut",
          "--profile", "baseline", "--no-progress", "-o", output, clip.path,
        ]
    },
    encodeWithDefaults: { clip, output in
      [
        "x264", "--preset", "superfast", "--tune", "zerolatency", "--threads", "1", "--bitrate",
        rate(clip), "--aud", "--no-progress", "-o", output, clip.path,
      ]
    })

  static let h265 = Peer(
    label: "x265", kind: .h265, encoder: X265EncoderFactory(),
    decoders: [
      PeerDecoder(factory: AVCodecDecoderFactory(.h265), tool: ffmpeg),
      PeerDecoder(factory: DE265DecoderFactory(), tool: dec265),
    ],
    libraries: ["libx265.so", "libde265.so", "libavcodec.so", "libavutil.so", "libstdc++.so"],
    speed: { $0.height <= 360 ? 1 : 0 }, speeds: [-1, 0, 1, 2],
    speedName: { x265Speed($0).dropFirst().joined(separator: " ") }, fileExtension: "265",
    encode: { clip, speed, output in
      ["x265"] + x265Speed(speed) + buffered(clip)
        + [
          "--frame-threads", "1", "--pools", "none", "--no-wpp", "--lookahead-threads", "0",
          "--lookahead-slices", "0", "--keyint", "-1", "--no-scenecut", "--no-open-gop",
          "--profile", "main", "--repeat-headers", "--no-info", "--no-progress", "--input",
          clip.path, "-o", output,
        ]
    },
    encodeWithDefaults: { clip, output in
      [
        "x265", "--preset", "ultrafast", "--tune", "zerolatency", "--frame-threads", "1", "--pools",
        "none", "--bitrate", rate(clip), "--aud", "--no-progress", "--input", clip.path, "-o",
        output,
      ]
    })

  @Sendable private static func vpxdec(_ input: String) -> [String] {
    ["vpxdec", "--summary", "--noblit", "-t", "1", input]
  }

  @Sendable private static func dav1d(_ input: String) -> [String] {
    [
      "dav1d", "--threads", "1", "--framedelay", "1", "--muxer", "null", "-o", "/dev/null", "-i",
      input,
    ]
  }

  @Sendable private static func ffmpeg(_ input: String) -> [String] {
    [
      "ffmpeg", "-nostdin", "-hide_banner", "-benchmark", "-threads", "1", "-i", input, "-f",
      "null",
      "-",
    ]
  }

  @Sendable private static func dec265(_ input: String) -> [String] {
    ["libde265-dec265", "-q", "-t", "0", input]
  }
}
