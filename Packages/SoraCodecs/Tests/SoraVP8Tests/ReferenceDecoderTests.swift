import Foundation
import SoraCodecs
import SoraMedia
import SoraVP8
import Testing

/// Where a tool of this name lies on the search path.
private func tool(_ name: String) -> String? {
  let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
  return path.split(separator: ":").map { "\($0)/\(name)" }.first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
}

@Suite struct ReferenceDecoderTests {
  /// IVF: a 32-byte file header, then each frame behind a 12-byte header.
  private func ivf(_ frames: [[UInt8]], width: Int, height: Int) -> Data {
    func little<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
      withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }
    var data = Data("DKIF".utf8)
    data += little(UInt16(0)) + little(UInt16(32)) + Array("VP80".utf8)
    data += little(UInt16(width)) + little(UInt16(height)) + little(UInt32(30)) + little(UInt32(1))
    data += little(UInt32(frames.count)) + little(UInt32(0))
    for (index, frame) in frames.enumerated() {
      data += little(UInt32(frame.count)) + little(UInt64(index)) + frame
    }
    return data
  }

  @Test(
    .enabled(
      if: tool("vpxdec") != nil, "vpxdec isn't installed (Debian's package vpx-tools)"),
    arguments: [(320, 240), (175, 143), (1280, 720)])
  func agreesWithVpxdecBitForBit(_ width: Int, _ height: Int) throws {
    let encoder = try VP8Encoder(
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
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "vp8-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let input = folder.appendingPathComponent("in.ivf")
    let output = folder.appendingPathComponent("out.i420")
    try ivf(stream, width: width, height: height).write(to: input)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(tool("vpxdec")))
    process.arguments = ["--i420", "-o", output.path, input.path]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let theirs = try [UInt8](Data(contentsOf: output))
    #expect(theirs == ours)
  }
}
