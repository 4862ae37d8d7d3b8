import Foundation
import SoraMedia
import SoraView
import Testing

@Suite struct RGBImageTests {
  /// The primaries of BT.601 in limited range, and what they are in full-range RGB.
  @Test(
    arguments: [
      (16, 128, 128, [0, 0, 0]), (235, 128, 128, [255, 255, 255]), (81, 90, 240, [255, 0, 0]),
      (145, 54, 34, [0, 255, 0]), (41, 240, 110, [0, 0, 255]),
    ] as [(UInt8, UInt8, UInt8, [Int])])
  func colorsComeOut(y: UInt8, u: UInt8, v: UInt8, expected: [Int]) {
    for format in PixelFormat.allCases {
      let image = RGBImage(solid(5, 3, y, u, v, format))
      #expect(image.bytes.count == 45)
      for channel in 0..<3 { #expect(abs(Int(image.bytes[42 + channel]) - expected[channel]) <= 2) }
    }
  }
}

@Suite struct ColorSpaceImageTests {
  /// Red, white and a brown in each space, by ITU-T H.273's equations: the same colours come out of all.
  @Test(arguments: [VideoColorSpace.Matrix.bt601, .bt709], [false, true])
  func colorsComeOut(_ matrix: VideoColorSpace.Matrix, _ isFullRange: Bool) {
    let (red, blue) = matrix == .bt601 ? (0.299, 0.114) : (0.2126, 0.0722)
    let space = VideoColorSpace(matrix: matrix, isFullRange: isFullRange)
    for color in [[1, 0, 0], [1, 1, 1], [0.6, 0.4, 0.2], [0.1, 0.3, 0.9]] as [[Double]] {
      let luma = red * color[0] + (1 - red - blue) * color[1] + blue * color[2]
      let u = (color[2] - luma) / (2 * (1 - blue))
      let v = (color[0] - luma) / (2 * (1 - red))
      let samples =
        isFullRange
        ? [255 * luma, 255 * u + 128, 255 * v + 128]
        : [219 * luma + 16, 224 * u + 128, 224 * v + 128]
      let bytes = samples.map { UInt8(min(max($0.rounded(), 0), 255)) }
      let seen = RGBImage(solid(4, 4, bytes[0], bytes[1], bytes[2]), colorSpace: space)[1, 1]
      for (a, b) in zip(seen, color) { #expect(abs(Double(a) - b * 255) < 3) }
    }
  }
}

@Suite struct PNGWriterTests {
  /// Python's own zlib and struct take the file apart: an independent reader.
  @Test func anIndependentReaderSeesTheSamePixels() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).png").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try PNGWriter.write(solid(33, 17, 81, 90, 240), to: path)
    let script = """
      import struct, sys, zlib
      data = open(sys.argv[1], 'rb').read()
      assert data[:8] == b'\\x89PNG\\r\\n\\x1a\\n'
      at, idat, names = 8, b'', []
      while at < len(data):
          size, = struct.unpack('>I', data[at:at+4]); name = data[at+4:at+8]; body = data[at+8:at+8+size]
          assert struct.unpack('>I', data[at+8+size:at+12+size])[0] == zlib.crc32(name + body)
          names.append(name); at += 12 + size
          if name == b'IHDR': width, height, depth, colour = struct.unpack('>IIBB', body[:10])
          if name == b'IDAT': idat += body
      raw = zlib.decompress(idat); row = width * 3; above = bytes(row); pixels = []
      for y in range(height):
          assert raw[y * (row + 1)] == 2
          line = bytes((a + b) & 255 for a, b in zip(raw[y * (row + 1) + 1:(y + 1) * (row + 1)], above)); above = line
          pixels.append(line)
      assert (width, height, depth, colour) == (33, 17, 8, 2) and names[-1] == b'IEND'
      assert all(line == pixels[0] for line in pixels)
      print(*pixels[0][:3])
      """
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", script, path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let values = output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    #expect(values.count == 3 && values[0] >= 253 && values[1] <= 2 && values[2] <= 2)
  }

  @Test func aPathThatCannotBeWrittenIsATypedError() {
    #expect(throws: PictureFileError.self) {
      try PNGWriter.write(solid(16, 16, 0, 0, 0), to: "/nonexistent/directory/x.png")
    }
    #expect(throws: PictureFileError.self) {
      _ = try Y4MWriter(path: "/nonexistent/directory/x.y4m", framesPerSecond: 30)
    }
  }
}

@Suite struct Y4MWriterTests {
  @Test func bothLayoutsGiveTheSameFile() throws {
    var files: [Data] = []
    for format in [PixelFormat.i420, .nv12] {
      let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).y4m").path
      defer { try? FileManager.default.removeItem(atPath: path) }
      let writer = try Y4MWriter(path: path, framesPerSecond: 25)
      try writer.write(solid(17, 15, 100, 90, 200, format))
      try writer.write(solid(64, 64, 0, 0, 0, format))
      try writer.write(solid(17, 15, 50, 60, 70, format))
      try writer.flush()
      #expect(writer.framesWritten == 2 && writer.framesOfAnotherSize == 1)
      files.append(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
    #expect(files[0] == files[1])
    let header = Array("YUV4MPEG2 W17 H15 F25:1 Ip A1:1 C420jpeg\nFRAME\n".utf8)
    #expect(Array(files[0].prefix(header.count)) == header)
    #expect(files[0].count == header.count + 2 * (17 * 15 + 2 * 9 * 8) + 6)
    #expect(files[0][header.count] == 100)
    #expect(files[0][header.count + 17 * 15] == 90)
  }

  /// The first picture's bits a sample are those of the file.
  @Test func tenBitsStayTenBits() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).y4m").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let writer = try Y4MWriter(path: path, framesPerSecond: 25)
    try writer.write(solid(17, 15, 100, 90, 200, .i010))
    try writer.write(solid(17, 15, 101, 90, 200, .nv12))
    try writer.flush()
    let file = try Data(contentsOf: URL(fileURLWithPath: path))
    let header = Array("YUV4MPEG2 W17 H15 F25:1 Ip A1:1 C420p10 XYSCSS=420P10\nFRAME\n".utf8)
    #expect(Array(file.prefix(header.count)) == header)
    let picture = 2 * (17 * 15 + 2 * 9 * 8)
    #expect(file.count == header.count + 2 * picture + 6)
    // 400 and 404, little-endian.
    #expect(Array(file[header.count..<header.count + 2]) == [0x90, 0x01])
    #expect(Array(file[(header.count + picture + 6)...].prefix(2)) == [0x94, 0x01])
  }

  @Test(arguments: [(25, "25:1"), (29.97, "30000:1001"), (12.5, "12500:1000"), (0, "1:1000")])
  func ratesAreRatios(_ rate: Double, _ ratio: String) throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).y4m").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let writer = try Y4MWriter(path: path, framesPerSecond: rate)
    try writer.write(solid(16, 16, 0, 0, 0))
    try writer.flush()
    let header = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(40)
    #expect(String(decoding: header, as: UTF8.self).contains(" F\(ratio) "))
  }

  @Test func aFullDiskIsNamed() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).y4m").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/full")
    let writer = try Y4MWriter(path: path, framesPerSecond: 30)
    let error = #expect(throws: PictureFileError.self) {
      for _ in 0..<10 { try writer.write(solid(64, 64, 0, 0, 0)) }
      try writer.flush()
    }
    #expect(error?.reason == "No space left on device")
  }
}
