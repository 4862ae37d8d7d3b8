import CodecTestSupport
import Foundation
import SoraCodecs
import SoraMedia
import SoraVP8
import Testing

@Suite struct ReferenceDecoderTests {
  @Test(
    .enabled(
      if: tool("vpxdec") != nil, "vpxdec isn't installed (Debian's package vpx-tools)"),
    arguments: [(320, 240), (175, 143), (1280, 720)])
  func agreesWithVpxdecBitForBit(_ width: Int, _ height: Int) throws {
    let encoder = try VP8CodecFactory().makeEncoder(
      VideoEncoderSettings(
        width: width, height: height, targetBitsPerSecond: 600_000, allowsFrameDropping: false))
    let decoder = try VP8Decoder()
    var stream: [[UInt8]] = []
    var ours: [UInt8] = []
    for index in 0..<20 {
      let frame = try #require(
        try encoder.encode(
          Pictures.frame(width, height, index: index), forceKeyFrame: index == 11, rtpTimestamp: 0))
      stream.append(Array(frame.payload.bytes))
      ours += Pictures.bytes(try #require(try decoder.decode(frame)).buffer)
    }
    try withTemporaryFolder { folder in
      let input = folder.appendingPathComponent("in.ivf")
      let output = folder.appendingPathComponent("out.i420")
      try IVF.write(stream, fourCC: "VP80", width: width, height: height).write(to: input)
      #expect(try run("vpxdec", ["--i420", "-o", output.path, input.path]) == 0)
      #expect(try [UInt8](Data(contentsOf: output)) == ours)
    }
  }
}
