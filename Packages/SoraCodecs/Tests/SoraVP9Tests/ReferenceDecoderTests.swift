import CodecTestSupport
import Foundation
import SoraCodecs
import SoraMedia
import SoraVP9
import Testing

@Suite struct ReferenceDecoderTests {
  /// Decodes `frames` with ours and with vpxdec, and expects the same bytes.
  private func compare(_ frames: [[UInt8]], _ folder: URL, expected: Int, bitDepth: Int = 8) throws
  {
    let decoder = try VP9Decoder()
    var ours: [UInt8] = []
    var count = 0
    for bytes in frames {
      let frame = EncodedFrame(
        payload: EncodedBuffer(bytes), isKeyFrame: false, rtpTimestamp: 0, timestamp: .zero)
      guard let decoded = try decoder.decode(frame) else { continue }
      #expect(decoded.buffer.format.bitDepth == bitDepth)
      ours += Pictures.bytes(decoded.buffer)
      count += 1
    }
    #expect(count == expected)
    let input = folder.appendingPathComponent("compare.ivf")
    let output = folder.appendingPathComponent("compare.i420")
    try IVF.write(frames, fourCC: "VP90", width: 16, height: 16).write(to: input)
    #expect(try run("vpxdec", ["--i420", "--rawvideo", "-o", output.path, input.path]) == 0)
    #expect(try [UInt8](Data(contentsOf: output)) == ours)
  }

  @Test(
    .enabled(if: tool("vpxdec") != nil, "vpxdec isn't installed (Debian's package vpx-tools)"),
    arguments: [(320, 240), (175, 143), (1280, 720)], [8, 10])
  func agreesWithVpxdecOnOurStreams(_ size: (Int, Int), _ bitDepth: Int) throws {
    let (width, height) = size
    let encoder = try VP9CodecFactory().makeEncoder(
      VideoEncoderSettings(
        width: width, height: height, targetBitsPerSecond: 600_000, allowsFrameDropping: false,
        bitDepth: bitDepth))
    let stream = try (0..<20).map { index in
      Array(
        try #require(
          try encoder.encode(
            Pictures.frame(width, height, index: index), forceKeyFrame: index == 11, rtpTimestamp: 0
          )
        ).payload.bytes)
    }
    try withTemporaryFolder { try compare(stream, $0, expected: 20, bitDepth: bitDepth) }
  }

  @Test(
    .enabled(
      if: tool("vpxenc") != nil, "vpxenc isn't installed (Debian's package vpx-tools)"),
    arguments: [("bt709", VideoColorSpace.bt709), ("bt601", .bt601), ("unknown", .bt601)])
  func theStreamsColorsAreTold(_ name: String, _ expected: VideoColorSpace) throws {
    try withTemporaryFolder { folder in
      let source = folder.appendingPathComponent("source.y4m")
      let coded = folder.appendingPathComponent("coded.ivf")
      try writeY4M(source, width: 64, height: 48, count: 1)
      let options = ["--codec=vp9", "--ivf", "--lag-in-frames=0", "--color-space=\(name)"]
      #expect(try run("vpxenc", options + ["-o", coded.path, source.path]) == 0)
      let bytes = try #require(IVF.read(try Data(contentsOf: coded)).first)
      let frame = EncodedFrame(
        payload: EncodedBuffer(bytes), isKeyFrame: true, rtpTimestamp: 0, timestamp: .zero)
      #expect(try VP9Decoder().decode(frame)?.colorSpace == expected)
    }
  }

  static let encoders = [
    "--good --cpu-used=4 --lag-in-frames=12 --auto-alt-ref=1 --tile-columns=2 --threads=2",
    "--good --cpu-used=3 --frame-parallel=1 --error-resilient=1 --tile-rows=2",
    "--rt --cpu-used=7 --aq-mode=3 --kf-max-dist=7 --tile-columns=1",
    "--rt --cpu-used=8 --resize-allowed=1 --lag-in-frames=0 --target-bitrate=60 --end-usage=cbr",
    "--good --cpu-used=4 --lossless=1", "--good --cpu-used=4 --tune-content=screen --aq-mode=2",
  ]

  @Test(
    .enabled(
      if: tool("vpxdec") != nil && tool("vpxenc") != nil,
      "vpxenc and vpxdec aren't installed (Debian's package vpx-tools)"), arguments: encoders)
  func agreesWithVpxdecOnStreamsOfVpxenc(_ options: String) throws {
    try withTemporaryFolder { folder in
      let (width, height) = (530, 298)
      let source = folder.appendingPathComponent("source.y4m")
      let coded = folder.appendingPathComponent("coded.ivf")
      try writeY4M(source, width: width, height: height, count: 24)
      let arguments =
        options.split(separator: " ").map(String.init)
        + ["--codec=vp9", "--ivf", "-o", coded.path, source.path]
      #expect(try run("vpxenc", arguments) == 0)
      try compare(try IVF.read(Data(contentsOf: coded)), folder, expected: 24)
    }
  }

  @Test(
    .enabled(
      if: tool("vpxdec") != nil && tool("ffmpeg") != nil,
      "vpxdec or ffmpeg isn't installed (Debian's packages vpx-tools, ffmpeg)"),
    arguments: [(256, 144), (1023, 577)], [8, 10])
  func agreesWithVpxdecOnStreamsOfFFmpeg(_ size: (Int, Int), _ bitDepth: Int) throws {
    let (width, height) = size
    try withTemporaryFolder { folder in
      let coded = folder.appendingPathComponent("coded.ivf")
      let status = try run(
        "ffmpeg",
        [
          "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=size=\(width)x\(height):rate=30",
          "-frames:v", "20", "-pix_fmt", bitDepth == 8 ? "yuv420p" : "yuv420p10le", "-c:v",
          "libvpx-vp9", "-deadline", "good",
          "-cpu-used", "5", "-row-mt", "1", "-b:v", "500k", coded.path,
        ])
      #expect(status == 0)
      try compare(
        try IVF.read(Data(contentsOf: coded)), folder, expected: 20, bitDepth: bitDepth)
    }
  }
}
