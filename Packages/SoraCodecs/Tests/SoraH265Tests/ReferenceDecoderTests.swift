import CodecTestSupport
import Foundation
import SoraCodecs
import SoraMedia
import SoraX265
import Testing

/// Bytes of pictures as other decoders write them.
@Suite struct ReferenceDecoderTests {
  /// Decodes access units with ours.
  private func decode(_ units: [[UInt8]], _ implementation: Decoder) throws -> (
    bytes: [UInt8], count: Int
  ) {
    let decoder = try implementation.make()
    var bytes: [UInt8] = []
    var count = 0
    for unit in units {
      guard let decoded = try decoder.decode(unknownFrame(unit)) else { continue }
      #expect(!decoder.isLastFrameCorrupted, "picture \(count)")
      bytes += Pictures.bytes(decoded.buffer)
      count += 1
    }
    return (bytes, count)
  }

  private func decodeWithFFmpeg(_ stream: URL, _ folder: URL) throws -> [UInt8] {
    let output = folder.appendingPathComponent("reference-ffmpeg.yuv")
    let status = try run(
      "ffmpeg",
      [
        "-loglevel", "error", "-y", "-f", "hevc", "-i", stream.path, "-f", "rawvideo", "-fps_mode",
        "passthrough", output.path,
      ])
    #expect(status == 0)
    return [UInt8](try Data(contentsOf: output))
  }

  private func decodeWithDec265(_ stream: URL, _ folder: URL) throws -> [UInt8] {
    let output = folder.appendingPathComponent("reference-dec265.yuv")
    #expect(try run("libde265-dec265", ["-q", "-o", output.path, stream.path]) == 0)
    return [UInt8](try Data(contentsOf: output))
  }

  static let needsFFmpeg = "ffmpeg or x265 isn't installed (Debian's packages ffmpeg, x265)"
  static let hasFFmpeg = tool("ffmpeg") != nil && tool("x265") != nil

  @Test(
    .enabled(
      if: hasFFmpeg && tool("libde265-dec265") != nil,
      "ffmpeg or libde265-dec265 isn't installed (Debian's packages ffmpeg, libde265-examples)"),
    arguments: [(320, 240), (174, 142), (1280, 720)])
  func othersAgreeOnOurStreams(_ width: Int, _ height: Int) throws {
    let encoder = try x265.encoder(width, height, bits: 600_000)
    let units = try (0..<10).map { index in
      Array(
        try #require(
          try encoder.encode(
            Pictures.frame(width, height, index: index), forceKeyFrame: index == 6, rtpTimestamp: 0)
        ).payload.bytes)
    }
    try withTemporaryFolder { folder in
      let stream = folder.appendingPathComponent("stream.265")
      try Data(units.joined()).write(to: stream)
      let reference = try decodeWithFFmpeg(stream, folder)
      #expect(reference.count == 10 * width * height * 3 / 2)
      let others = try decodeWithDec265(stream, folder) == reference
      #expect(others)
      for implementation in Decoder.allCases {
        let isEqual = try decode(units, implementation).bytes == reference
        #expect(isEqual, "\(implementation)")
      }
    }
  }

  /// Whose pictures come in the order in which they are coded.
  static let options = [
    "--preset ultrafast --tune zerolatency --slices 3",
    "--preset medium --bframes 0 --ctu 64 --ref 4 --pools 2 --wpp --hash 1 --aud",
    "--preset fast --bframes 0 --ctu 16 --min-cu-size 8 --no-sao --no-deblock --ref 1 --no-wpp",
    "--preset fast --bframes 0 --amp --rect --tskip --weightp --ref 5 --max-merge 5",
    "--preset veryfast --bframes 0 --lossless",
    "--preset veryfast --bframes 0 --scaling-list default --keyint 5 --repeat-headers",
    "--preset veryfast --bframes 0 --constrained-intra --intra-refresh --cu-lossless",
    "--preset veryfast --bframes 0 --qg-size 8 --aq-mode 3 --cbqpoffs 5 --crqpoffs -4",
  ]

  /// Whose pictures are reordered: those that a decoder keeps back at the end don't come.
  static let reordered = [
    "--preset fast --bframes 4 --b-adapt 0 --b-pyramid --ref 4",
    "--preset fast --bframes 3 --b-adapt 0 --open-gop --keyint 6 --min-keyint 6 --repeat-headers",
    "--preset veryfast --bframes 2 --b-adapt 0 --temporal-layers --weightb",
  ]

  private func encode(_ options: String, _ folder: URL, width: Int, height: Int, count: Int) throws
    -> URL
  {
    let source = folder.appendingPathComponent("source.y4m")
    let coded = folder.appendingPathComponent("coded-\(width).265")
    try writeY4M(source, width: width, height: height, count: count)
    let status = try run(
      "x265", options.split(separator: " ").map(String.init) + [source.path, "-o", coded.path])
    #expect(status == 0)
    return coded
  }

  @Test(.enabled(if: hasFFmpeg, Comment(rawValue: needsFFmpeg)), arguments: options)
  func agreeWithFFmpegOnStreamsOfX265(_ options: String) throws {
    try withTemporaryFolder { folder in
      let coded = try encode(options, folder, width: 338, height: 190, count: 12)
      let reference = try decodeWithFFmpeg(coded, folder)
      let units = AnnexB.accessUnits([UInt8](try Data(contentsOf: coded)))
      for implementation in Decoder.allCases {
        let (bytes, count) = try decode(units, implementation)
        #expect(count == 12, "\(implementation)")
        let isEqual = bytes == reference
        #expect(isEqual, "\(implementation)")
      }
    }
  }

  @Test(.enabled(if: hasFFmpeg, Comment(rawValue: needsFFmpeg)), arguments: reordered)
  func agreeWithFFmpegInOutputOrder(_ options: String) throws {
    try withTemporaryFolder { folder in
      let coded = try encode(options, folder, width: 226, height: 130, count: 20)
      let reference = try decodeWithFFmpeg(coded, folder)
      #expect(reference.count == 20 * 226 * 130 * 3 / 2)
      let units = AnnexB.accessUnits([UInt8](try Data(contentsOf: coded)))
      // libde265, its own tool too, gets the leading pictures of open groups wrong. No call has them.
      for implementation in Decoder.allCases
      where implementation != .libde265 || !options.contains("--open-gop") {
        let (bytes, count) = try decode(units, implementation)
        #expect(count >= 14, "\(implementation)")
        let isEqual = bytes.elementsEqual(reference.prefix(bytes.count))
        #expect(isEqual, "\(implementation)")
      }
    }
  }

  @Test(.enabled(if: hasFFmpeg, Comment(rawValue: needsFFmpeg)), arguments: Decoder.allCases)
  func aStreamMayChangeItsSize(_ implementation: Decoder) throws {
    try withTemporaryFolder { folder in
      var units: [[UInt8]] = []
      var reference: [UInt8] = []
      for (width, height) in [(130, 70), (322, 182), (64, 64)] {
        let coded = try encode(
          "--preset veryfast --tune zerolatency", folder, width: width, height: height, count: 4)
        reference += try decodeWithFFmpeg(coded, folder)
        units += AnnexB.accessUnits([UInt8](try Data(contentsOf: coded)))
      }
      #expect(units.count == 12)
      let isEqual = try decode(units, implementation).bytes == reference
      #expect(isEqual)
    }
  }
}
