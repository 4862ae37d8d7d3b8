import FuzzerEntry
import SoraAudio
import SoraCapture
import SoraMedia

#if canImport(Glibc)
  import Glibc
#endif

extension FuzzTarget {
  static var wav: FuzzTarget {
    func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
      let count = content.count
      return Seeds.text(name) + [UInt8(count & 0xFF), UInt8(count >> 8), 0, 0] + content
    }
    func seeds() -> [[UInt8]] {
      let pcm: [UInt8] = [1, 0, 2, 0, 0x80, 0xBB, 0, 0, 0, 0xEE, 2, 0, 4, 0, 16, 0]
      let float: [UInt8] = [3, 0, 1, 0, 0x40, 0x1F, 0, 0, 0, 0x7D, 0, 0, 4, 0, 32, 0]
      let head = Seeds.text("RIFF\u{64}\0\0\0WAVE")
      return [
        head + chunk("fmt ", pcm) + chunk("data", [1, 2, 3, 4, 5, 6, 7, 8]),
        head + chunk("LIST", [1, 2, 3]) + [0] + chunk("fmt ", float)
          + chunk("data", [0, 0, 0xC0, 0x7F, 0, 0, 0x80, 0x3F]),
      ]
    }
    return FuzzTarget("wav", maximumLength: 512, seeds: seeds()) { input in
      if let header = try? WAVHeader(parsing: input) {
        check(header.frameByteCount > 0 && header.dataOffset <= input.count, "an impossible header")
      }
      let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 64)
      defer { samples.deallocate() }
      withFile(input) { path in
        guard let reader = try? WAVReader(path: path) else { return }
        for _ in 0..<20 {
          guard let count = try? reader.read(into: samples), count > 0 else { break }
        }
        reader.seek(toFrame: 1)
        _ = try? reader.read(into: samples)
        guard let source = try? WAVSource(path: path) else { return }
        let block = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 960)
        defer { block.deallocate() }
        for _ in 0..<3 { _ = try? source.read(into: block) }
      }
    }
  }

  static var y4m: FuzzTarget {
    func seeds() -> [[UInt8]] {
      let picture = [UInt8](repeating: 7, count: 16 * 16 * 3 / 2)
      return [
        Seeds.text("YUV4MPEG2 W16 H16 F30:1 Ip A1:1 C420jpeg XYSCSS=420JPEG\nFRAME\n") + picture
          + Seeds.text("FRAME Ip\n") + picture
      ]
    }
    return FuzzTarget("y4m", maximumLength: 2048, seeds: seeds()) { input in
      withFile(input) { path in
        guard let reader = try? Y4MReader(path: path) else { return }
        _ = reader.framesPerSecond
        for _ in 0..<4 {
          guard let picture = try? reader.next() else { break }
          check(picture.width == reader.width, "a picture of another size")
        }
        reader.rewind()
        _ = try? reader.next()
      }
    }
  }

  /// A file that lives in memory, for readers that want a path.
  private static func withFile(_ content: UnsafeRawBufferPointer, _ body: (String) -> Void) {
    let descriptor = sora_fuzzer_memory_file()
    guard descriptor >= 0 else { return check(false, "no memory file") }
    defer { close(descriptor) }
    if let base = content.baseAddress { _ = Glibc.write(descriptor, base, content.count) }
    body("/proc/self/fd/\(descriptor)")
  }
}
