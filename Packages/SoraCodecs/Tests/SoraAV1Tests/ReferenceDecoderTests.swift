import CodecTestSupport
import Foundation
import SoraAV1
import SoraAV1Decoding
import SoraAV1Encoding
import SoraCodecs
import SoraMedia
import Testing

@Suite struct ReferenceDecoderTests {
  /// Decodes `frames` with ours and with two tools, and expects the same bytes.
  private func compare(_ frames: [[UInt8]], _ folder: URL, expected: Int, withAomdec: Bool = true)
    throws
  {
    let decoder = try AV1Decoder()
    var ours: [UInt8] = []
    var count = 0
    for bytes in frames {
      let frame = EncodedFrame(
        payload: EncodedBuffer(bytes), isKeyFrame: false, rtpTimestamp: 0, timestamp: .zero)
      guard let decoded = try decoder.decode(frame) else { continue }
      ours += Pictures.bytes(decoded.buffer)
      count += 1
    }
    #expect(count == expected)
    let input = folder.appendingPathComponent("compare.ivf")
    let output = folder.appendingPathComponent("compare.yuv")
    try IVF.write(frames, fourCC: "AV01", width: 16, height: 16).write(to: input)
    #expect(try run("dav1d", ["-q", "-i", input.path, "-o", output.path]) == 0)
    #expect(try [UInt8](Data(contentsOf: output)) == ours)
    guard withAomdec, tool("aomdec") != nil else { return }
    let second = folder.appendingPathComponent("second.yuv")
    #expect(try run("aomdec", ["--i420", "--rawvideo", "-o", second.path, input.path]) == 0)
    #expect(try [UInt8](Data(contentsOf: second)) == ours)
  }

  @Test(
    .enabled(if: tool("dav1d") != nil, "dav1d isn't installed (Debian's package dav1d)"),
    arguments: [(320, 240), (175, 143), (1280, 720)])
  func agreesWithTheToolsOnOurStreams(_ width: Int, _ height: Int) throws {
    let encoder = try AV1CodecFactory().makeEncoder(
      VideoEncoderSettings(
        width: width, height: height, targetBitsPerSecond: 600_000, allowsFrameDropping: false))
    let stream = try (0..<20).map { index in
      Array(
        try #require(
          try encoder.encode(
            Pictures.frame(width, height, index: index), forceKeyFrame: index == 11, rtpTimestamp: 0
          )
        ).payload.bytes)
    }
    try withTemporaryFolder { try compare(stream, $0, expected: 20) }
  }

  static let encoders = [
    "--rt --cpu-used=9 --aq-mode=3 --tile-columns=1 --kf-max-dist=7",
    "--good --cpu-used=6 --lag-in-frames=12 --threads=2",
    "--good --cpu-used=6 --lossless=1", "--good --cpu-used=6 --tune-content=screen",
    "--good --cpu-used=6 --film-grain-test=3",
    "--good --cpu-used=6 --superres-mode=1 --superres-denominator=12",
    "--rt --cpu-used=8 --error-resilient=1 --tile-rows=1 --enable-cdef=0",
  ]

  @Test(
    .enabled(
      if: tool("dav1d") != nil && tool("aomenc") != nil,
      "aomenc or dav1d isn't installed (Debian's packages aom-tools, dav1d)"), arguments: encoders)
  func agreesWithTheToolsOnStreamsOfAomenc(_ options: String) throws {
    try withTemporaryFolder { folder in
      let (width, height) = (530, 298)
      let source = folder.appendingPathComponent("source.y4m")
      let coded = folder.appendingPathComponent("coded.ivf")
      try writeY4M(source, width: width, height: height, count: 16)
      let arguments =
        options.split(separator: " ").map(String.init)
        + ["--ivf", "-o", coded.path, source.path]
      #expect(try run("aomenc", arguments) == 0)
      // Super-resolution of sizes that aren't multiples of eight: the two libraries' own tools differ.
      try compare(
        try IVF.read(Data(contentsOf: coded)), folder, expected: 16,
        withAomdec: !options.contains("superres"))
    }
  }

  @Test(
    .enabled(
      if: tool("dav1d") != nil && tool("SvtAv1EncApp") != nil,
      "SvtAv1EncApp or dav1d isn't installed (Debian's packages svt-av1, dav1d)"),
    arguments: ["--preset 12 --pred-struct 1", "--preset 10 --tile-columns 1"])
  func agreesWithTheToolsOnStreamsOfSVT(_ options: String) throws {
    try withTemporaryFolder { folder in
      let source = folder.appendingPathComponent("source.y4m")
      let coded = folder.appendingPathComponent("coded.ivf")
      try writeY4M(source, width: 640, height: 360, count: 16)
      let arguments =
        ["-i", source.path, "-b", coded.path] + options.split(separator: " ").map(String.init)
      #expect(try run("SvtAv1EncApp", arguments) == 0)
      try compare(try IVF.read(Data(contentsOf: coded)), folder, expected: 16)
    }
  }
}
