import Foundation
import SoraCapture
import SoraMedia
import Testing

@Suite struct Y4MReaderTests {
  private func write(_ bytes: [UInt8]) throws -> String {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(UUID().uuidString).y4m")
    try Data(bytes).write(to: url)
    return url.path
  }

  @Test func picturesComeInOrderAndAgain() throws {
    var bytes = Array("YUV4MPEG2 W17 H16 F30000:1001 Ip A1:1 C420jpeg XYSCSS=420JPEG\n".utf8)
    for frame in 0..<3 {
      bytes += Array("FRAME Ixyz\n".utf8)
      bytes += [UInt8](repeating: UInt8(frame), count: 17 * 16 + 2 * 9 * 8)
    }
    let path = try write(bytes)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let reader = try Y4MReader(path: path)
    #expect(reader.width == 17 && reader.height == 16)
    #expect(abs(reader.framesPerSecond - 29.97) < 0.001)
    for _ in 0..<2 {
      for frame in 0..<3 {
        let picture = try #require(try reader.next())
        #expect(picture.plane(0).row(15)[16] == UInt8(frame))
        #expect(picture.plane(2).row(7)[8] == UInt8(frame))
      }
      #expect(try reader.next() == nil)
      reader.rewind()
    }
  }

  /// Two bytes a sample, little-endian; what a file has beyond 10 bits is cleared.
  @Test func samplesOfTenBitsAreRead() throws {
    var bytes = Array("YUV4MPEG2 W17 H16 F30:1 Ip A1:1 C420p10 XYSCSS=420P10\nFRAME\n".utf8)
    for sample in [UInt16](repeating: 0xFC00 | 401, count: 17 * 16)
      + [UInt16](repeating: 514, count: 2 * 9 * 8)
    {
      bytes += [UInt8(truncatingIfNeeded: sample), UInt8(sample >> 8)]
    }
    let path = try write(bytes)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let reader = try Y4MReader(path: path)
    #expect(reader.bitDepth == 10)
    let picture = try #require(try reader.next())
    #expect(picture.format == .i010)
    #expect(picture.plane(0).row(15).bindMemory(to: UInt16.self)[16] == 401)
    #expect(picture.plane(2).row(7).bindMemory(to: UInt16.self)[8] == 514)
    #expect(try reader.next() == nil)
  }

  @Test func whatIsNoFileIsTheReason() {
    let folder = FileManager.default.temporaryDirectory.path
    #expect(throws: Y4MError.cannotOpen(path: folder, reason: "Is a directory")) {
      _ = try Y4MReader(path: folder)
    }
  }

  /// Wherever in a frame a file is cut, it isn't whole.
  @Test(arguments: [1, 5, 6, 7, 300]) func aFileThatWasCutSaysSo(_ length: Int) throws {
    let frame = Array("FRAME\n".utf8) + [UInt8](repeating: 128, count: 16 * 16 * 3 / 2)
    let path = try write(Array("YUV4MPEG2 W16 H16\n".utf8) + frame + frame.prefix(length))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let reader = try Y4MReader(path: path)
    _ = try #require(try reader.next())
    #expect(throws: Y4MError.truncated(frame: 1)) { _ = try reader.next() }
    reader.rewind()
    #expect(try reader.next() != nil)
  }

  /// A disk that fails isn't a file that was cut. Behind the reader's file there is a folder once its header is read, from which nothing can be
  /// read; the frame is longer than what stdio has read ahead.
  @Test func whatTheSystemRefusesIsTheReason() throws {
    let frame = Array("FRAME\n".utf8) + [UInt8](repeating: 128, count: 64 * 64 * 3 / 2)
    let path = try write(Array("YUV4MPEG2 W64 H64\n".utf8) + frame + frame)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let reader = try Y4MReader(path: path)
    let links = "/proc/self/fd"
    let number = try #require(
      try FileManager.default.contentsOfDirectory(atPath: links).first {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(links)/\($0)")) == path
      }.flatMap { Int32($0) })
    let folder = open(FileManager.default.temporaryDirectory.path, O_RDONLY)
    defer { close(folder) }
    #expect(dup2(folder, number) == number)
    #expect(throws: Y4MError.cannotRead(frame: 0, reason: "Is a directory")) {
      _ = try reader.next()
    }
  }

  @Test func badFilesEndInTypedErrors() throws {
    #expect(throws: Y4MError.self) { _ = try Y4MReader(path: "/nonexistent/file.y4m") }
    func headerError(_ text: String) -> Y4MError? {
      do throws(Y4MError) {
        _ = try Y4MHeader(parsing: Array(text.utf8))
        return nil
      } catch { return error }
    }
    #expect(headerError("RIFF") == .notY4M)
    // FFmpeg's extension; what it calls "jpeg" is the place of chroma.
    for (text, expected) in [
      ("C420jpeg", nil), ("XCOLORRANGE=LIMITED", nil), ("XCOLORRANGE=FULL", true),
    ] as [(String, Bool?)] {
      let header = try Y4MHeader(parsing: Array("YUV4MPEG2 W64 H64 \(text)".utf8))
      #expect(header.colorSpace?.isFullRange == expected)
    }
    #expect(headerError("YUV4MPEG2 W64 H64 C444") == .unsupportedColourSpace("444"))
    #expect(headerError("YUV4MPEG2 W64 H64 F0:0") == .badFrameRate("0:0"))
    #expect(headerError("YUV4MPEG2 W64") == .missingSize)
    #expect(headerError("YUV4MPEG2 W9999999999999999999 H1") == .missingSize)
    #expect(headerError("YUV4MPEG2 W64 H20000") == .sizeOutOfRange(width: 64, height: 20000))
    let path = try write(Array("YUV4MPEG2 W16 H16\nFRAME\nshort".utf8))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let reader = try Y4MReader(path: path)
    #expect(throws: Y4MError.truncated(frame: 0)) { _ = try reader.next() }
  }

  @Test func mutatedHeadersNeverTrap() {
    let random = RandomSource(seed: 9)
    let original = Array("YUV4MPEG2 W640 H480 F30:1 Ip A1:1 C420mpeg2".utf8)
    for _ in 0..<10_000 {
      var line = original
      for _ in 0..<1 + random.next() % 6 {
        line[Int(random.next() % UInt64(line.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      _ = try? Y4MHeader(parsing: line)
    }
  }
}
