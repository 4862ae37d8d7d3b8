import CodecTestSupport
import Foundation
import SoraCodecs
import SoraMedia
import Testing

/// Our decoders give what ffmpeg gives, bit for bit.
@Suite struct ReferenceDecoderTests {
  /// What ffmpeg makes of a byte stream.
  private func reference(_ coded: URL) throws -> [UInt8] {
    let output = coded.appendingPathExtension("i420")
    #expect(
      try run(
        "ffmpeg",
        [
          "-loglevel", "error", "-f", "h264", "-i", coded.path, "-f", "rawvideo", "-pix_fmt",
          "yuv420p", "-vsync", "passthrough", output.path,
        ]) == 0)
    return [UInt8](try Data(contentsOf: output))
  }

  private func decode(_ units: [[UInt8]], _ decoding: Decoding) throws -> (bytes: [UInt8], Int) {
    let decoder = try decoding.make()
    var bytes: [UInt8] = []
    var count = 0
    for unit in units {
      guard let picture = try decoder.decode(unknownFrame(unit)) else { continue }
      #expect(!decoder.isLastFrameCorrupted)
      bytes += Pictures.bytes(picture.buffer)
      count += 1
    }
    return (bytes, count)
  }

  /// `held` pictures may still be in the decoder at the end, because others could be shown before them.
  private func compare(
    _ coded: URL, count: Int, held: Int = 0, with decoders: [Decoding] = Decoding.allCases
  ) throws {
    let units = try AccessUnits.read(coded)
    #expect(units.count == count)
    let expected = try reference(coded)
    for decoding in decoders {
      let (bytes, shown) = try decode(units, decoding)
      #expect(shown >= count - held && shown <= count, "\(decoding) showed \(shown)")
      #expect(expected.starts(with: bytes) && !bytes.isEmpty, "\(decoding)")
    }
  }

  static let encoders = [
    "--profile baseline --slices 4 --ref 3 --keyint 9",
    "--profile baseline --constrained-intra --no-deblock --partitions all",
    "--profile main --bframes 0 --ref 4 --weightp 2",
    "--profile main --bframes 0 --no-cabac --slice-max-size 700",
    "--profile main --bframes 0 --intra-refresh --keyint 8 --deblock 3:-3",
    "--profile high --bframes 0 --8x8dct --cqm jvt --slices 3 --qp 24",
    "--profile high --bframes 0 --no-cabac --ref 2 --crf 40",
    "--profile high --bframes 0 --aud --qpmax 51 --bitrate 60",
  ]

  @Test(
    .enabled(
      if: tool("x264") != nil && tool("ffmpeg") != nil,
      "x264 or ffmpeg isn't installed (Debian's packages x264, ffmpeg)"), arguments: encoders)
  func agreesOnStreamsOfX264(_ options: String) throws {
    try withTemporaryFolder { folder in
      let source = folder.appendingPathComponent("source.y4m")
      let coded = folder.appendingPathComponent("coded.264")
      try writeY4M(source, width: 230, height: 122, count: 20)
      let arguments =
        options.split(separator: " ").map(String.init)
        + ["--threads", "1", "--preset", "medium", "-o", coded.path, source.path]
      #expect(try run("x264", arguments) == 0)
      try compare(coded, count: 20)
    }
  }

  @Test(
    .enabled(
      if: tool("x264") != nil && tool("ffmpeg") != nil,
      "x264 or ffmpeg isn't installed (Debian's packages x264, ffmpeg)"),
    arguments: [
      "--profile main --bframes 2 --b-pyramid none --b-adapt 0",
      "--profile high --bframes 3 --b-pyramid normal --weightb --ref 3 --direct auto",
    ])
  func agreesOnReorderedPictures(_ options: String) throws {
    try withTemporaryFolder { folder in
      let source = folder.appendingPathComponent("source.y4m")
      let coded = folder.appendingPathComponent("coded.264")
      try writeY4M(source, width: 176, height: 144, count: 24)
      let arguments =
        options.split(separator: " ").map(String.init)
        + ["--threads", "1", "-o", coded.path, source.path]
      #expect(try run("x264", arguments) == 0)
      try compare(coded, count: 24, held: 4, with: Decoding.allCases.filter(\.takesReordering))
    }
  }

  @Test(
    .enabled(if: tool("ffmpeg") != nil, "ffmpeg isn't installed (Debian's package ffmpeg)"),
    arguments: Encoding.allCases)
  func agreesOnOurStreams(_ encoding: Encoding) throws {
    for (width, height) in [(320, 240), (174, 142)] {
      for (profile, mode) in [("42e01f", "0"), ("64001f", "1")] {
        let encoder = try encoding.make(
          VideoEncoderSettings(
            width: width, height: height, targetBitsPerSecond: 600_000, allowsFrameDropping: false,
            formatParameters: ["profile-level-id": profile, "packetization-mode": mode]))
        var stream = Data()
        for index in 0..<16 {
          let encoded = try #require(
            try encoder.encode(
              Pictures.frame(width, height, index: index), forceKeyFrame: index == 11,
              rtpTimestamp: 0))
          stream += encoded.payload.bytes
        }
        try withTemporaryFolder { folder in
          let coded = folder.appendingPathComponent("coded.264")
          try stream.write(to: coded)
          try compare(coded, count: 16)
        }
      }
    }
  }

  /// Pictures change their size within the stream, at key frames.
  @Test(
    .enabled(if: tool("ffmpeg") != nil, "ffmpeg isn't installed (Debian's package ffmpeg)"),
    arguments: Encoding.allCases)
  func agreesWhereSizesChange(_ encoding: Encoding) throws {
    try withTemporaryFolder { folder in
      var units: [[UInt8]] = []
      var expected: [UInt8] = []
      let encoder = try encoding.make(
        VideoEncoderSettings(
          width: 320, height: 180, targetBitsPerSecond: 600_000, allowsFrameDropping: false))
      for (part, (width, height)) in [(320, 180), (160, 90), (352, 288)].enumerated() {
        var stream: [UInt8] = []
        for index in 0..<6 {
          let encoded = try #require(
            try encoder.encode(
              Pictures.frame(width, height, index: index), forceKeyFrame: false, rtpTimestamp: 0))
          units.append(Array(encoded.payload.bytes))
          stream += encoded.payload.bytes
        }
        let coded = folder.appendingPathComponent("\(part).264")
        try Data(stream).write(to: coded)
        expected += try reference(coded)
      }
      for decoding in Decoding.allCases {
        let (bytes, count) = try decode(units, decoding)
        #expect(count == 18 && bytes == expected, "\(decoding)")
      }
    }
  }
}
