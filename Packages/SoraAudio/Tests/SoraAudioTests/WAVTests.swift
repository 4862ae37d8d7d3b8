import Foundation
import SoraAudio
import SoraMedia
import Testing

@Suite struct WAVTests {
  private func temporary(_ body: (String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.path + "/wav-\(UUID().uuidString).wav"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  private func little<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }

  private func file(
    code: Int = 1, bits: Int, channels: Int = 1, rate: Int = 44_100, extensible: Bool = false,
    extra: [UInt8] = [], data: [UInt8]
  ) -> [UInt8] {
    var format = little(UInt16(extensible ? 0xFFFE : code)) + little(UInt16(channels))
    format += little(UInt32(rate)) + little(UInt32(rate * channels * bits / 8))
    format += little(UInt16(channels * bits / 8)) + little(UInt16(bits))
    if extensible {
      format += little(UInt16(22)) + little(UInt16(bits)) + little(UInt32(0))
      format += little(UInt16(code)) + [UInt8](repeating: 0, count: 14)
    }
    return Array("RIFF".utf8) + little(UInt32(0)) + Array("WAVE".utf8) + extra
      + Array("fmt ".utf8) + little(UInt32(format.count)) + format
      + Array("data".utf8) + little(UInt32(data.count)) + data
  }

  private func read(_ reader: WAVReader) throws -> [Int16] {
    var output: [Int16] = []
    var block = [Int16](repeating: 0, count: 1_000 * reader.channels)
    while true {
      let count = try block.withUnsafeMutableBufferPointer { try reader.read(into: $0) }
      if count == 0 { return output }
      output += block.prefix(count * reader.channels)
    }
  }

  @Test(arguments: [1, 2])
  func writtenSamplesAreReadBack(_ channels: Int) throws {
    try temporary { path in
      let samples = Signals.voice(count: 100_000)
      let writer = try WAVWriter(path: path, sampleRate: 48_000, channels: channels)
      for start in stride(from: 0, to: samples.count, by: 4_000) {
        try samples[start..<(start + 4_000)].withUnsafeBufferPointer { try writer.write($0) }
      }
      try writer.close()
      try writer.close()
      let reader = try WAVReader(path: path)
      #expect(reader.sampleRate == 48_000 && reader.channels == channels)
      #expect(reader.frameCount == 100_000 / channels)
      #expect(try read(reader) == samples)
      reader.seek(toFrame: reader.frameCount - 10)
      #expect(try read(reader) == samples.suffix(10 * channels))
      let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
      #expect(size == 44 + 200_000)
    }
  }

  /// Whoever reads a pipe may be slow, and a disk may be full for a while.
  @Test func aWriterThatFailedGoesOnWhereItStopped() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let (reading, writing) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    defer {
      close(reading)
      close(writing)
    }
    var bytes: [UInt8] = []
    func drain() {
      var block = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = readBytes(reading, &block, block.count)
        guard count > 0 else { return }
        bytes += block.prefix(count)
      }
    }
    let samples = Signals.voice(count: 210_000)
    let writer = try WAVWriter(descriptor: writing, sampleRate: 48_000, channels: 2)
    var failures = 0
    while writer.frameCount < samples.count / 2, failures < 100 {
      let rest = samples[(2 * writer.frameCount)...].prefix(9_600)
      do throws(WAVError) {
        try writer.write(rest.span)
      } catch {
        #expect(error == .system(call: "write", path: "descriptor \(writing)", errno: EAGAIN))
        failures += 1
        drain()
      }
    }
    drain()
    try writer.close()
    drain()
    #expect(failures > 2 && failures < 100)
    let data = bytes.dropFirst(44)
    #expect(data.count == 2 * samples.count)
    #expect(data.elementsEqual(samples.flatMap { little($0) }))
  }

  /// What the caller has written before stays what it is.
  @Test(arguments: [false, true]) func aDescriptorMayStandAnywhere(_ appends: Bool) throws {
    try temporary { path in
      let before = [UInt8](repeating: 7, count: 100)
      try Data(before).write(to: URL(fileURLWithPath: path))
      let descriptor = open(path, O_WRONLY | (appends ? O_APPEND : 0))
      try #require(descriptor >= 0 && lseek(descriptor, 0, SEEK_END) == 100)
      let writer = try WAVWriter(descriptor: descriptor, sampleRate: 48_000, channels: 1)
      try writer.write([Int16](repeating: 3, count: 480).span)
      try writer.close()
      close(descriptor)
      let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      #expect(Array(bytes.prefix(100)) == before && bytes.count == 100 + 44 + 960)
      // Of what is only appended to the header stays as it was.
      #expect(Array(bytes[140..<144]) == little(appends ? UInt32.max : 960))
    }
  }

  @Test func aFileThatWasNeverClosedIsRead() throws {
    try temporary { path in
      try Data(
        file(bits: 16, data: [1, 0, 2, 0, 3, 0]).enumerated().map {
          (40..<44).contains($0.offset) ? 0xFF : $0.element
        }
      ).write(to: URL(fileURLWithPath: path))
      #expect(try read(WAVReader(path: path)) == [1, 2, 3])
    }
  }

  @Test func aFileThatWasCutSaysWhatItsHeaderPromises() throws {
    try temporary { path in
      let whole = file(bits: 16, rate: 48_000, data: [UInt8](repeating: 1, count: 9_600))
      try Data(whole.dropLast(7_201)).write(to: URL(fileURLWithPath: path))
      let reader = try WAVReader(path: path)
      #expect(reader.frameCount == 1_199)
      #expect(reader.declaredFrameCount == 4_800)
      let source = try WAVSource(path: path)
      #expect(source.declaredDuration == .milliseconds(100))
      #expect(source.duration < .milliseconds(25))
      // One that was never closed promises nothing.
      try Data(whole.prefix(40) + [0xFF, 0xFF, 0xFF, 0xFF] + whole.suffix(100))
        .write(to: URL(fileURLWithPath: path))
      #expect(try WAVReader(path: path).declaredFrameCount == nil)
    }
  }

  @Test func everyEncodingIsConverted() throws {
    let list = Array("LIST".utf8) + little(UInt32(9_001)) + [UInt8](repeating: 7, count: 9_002)
    let float = little(Float(0.5).bitPattern) + little(Float(-2).bitPattern)
    let nan = little(Float.nan.bitPattern)
    let cases: [([UInt8], [Int16])] = [
      (file(bits: 8, data: [128, 255, 0]), [0, 32_512, -32_768]),
      (file(bits: 16, extra: list, data: [0, 128, 255, 127]), [-32_768, 32_767]),
      (file(bits: 24, data: [9, 0, 128, 9, 255, 127]), [-32_768, 32_767]),
      (file(bits: 32, data: [9, 9, 1, 0]), [1]),
      (file(code: 3, bits: 32, data: float + nan), [16_384, -32_768, 0]),
      (file(code: 3, bits: 32, extensible: true, data: float), [16_384, -32_768]),
      (file(bits: 16, channels: 2, extensible: true, data: [1, 0, 2, 0, 3]), [1, 2]),
    ]
    for (bytes, expected) in cases {
      try temporary { path in
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        #expect(try read(WAVReader(path: path)) == expected)
      }
    }
  }

  @Test func aFileBecomesASourceAt48Kilohertz() throws {
    try temporary { path in
      let tone = (0..<22_050).map { Int16(10_000 * sin(2 * Double.pi * 500 * Double($0) / 22_050)) }
      let writer = try WAVWriter(path: path, sampleRate: 22_050, channels: 1)
      try tone.withUnsafeBufferPointer { try writer.write($0) }
      try writer.close()
      for loops in [false, true] {
        let source = try WAVSource(path: path, channels: 2, loops: loops)
        var block = [Int16](repeating: 1, count: 960)
        var output: [Int16] = []
        var counts: [Int] = []
        for _ in 0..<250 {
          counts.append(try block.withUnsafeMutableBufferPointer { try source.read(into: $0) })
          output += block
        }
        let left = stride(from: 0, to: output.count, by: 2).map { output[$0] }
        #expect(Signals.toneSNR(Array(left[2_400..<45_000]), frequency: 500) > 60)
        #expect(loops ? counts.allSatisfy { $0 == 480 } : counts.last == 0)
        if !loops { #expect(abs(counts.reduce(0, +) - 48_000) <= 4) }
      }
    }
  }

  @Test func errorsNameTheField() throws {
    func error(_ bytes: [UInt8]) -> WAVError? {
      do {
        _ = try bytes.withUnsafeBytes { try WAVHeader(parsing: $0) }
        return nil
      } catch {
        return error as? WAVError
      }
    }
    #expect(error(Array("OggS and more text".utf8)) == .notWAVE)
    #expect(error(Array("RIFF".utf8)) == .truncatedHeader)
    #expect(
      error(file(code: 85, bits: 16, data: [0, 0])) == .unsupported(field: "format code", value: 85)
    )
    #expect(
      error(file(bits: 12, data: [0, 0])) == .unsupported(field: "bits a sample", value: 12))
    #expect(
      error(file(bits: 16, channels: 6, data: [0, 0]))
        == .unsupported(field: "number of channels", value: 6))
    #expect(
      error(file(bits: 16, rate: 1, data: [0, 0])) == .unsupported(field: "sample rate", value: 1))
    #expect(error(file(bits: 16, data: [0])) == .noData)
    #expect(throws: WAVError.system(call: "open", path: "/nonexistent.wav", errno: 2)) {
      _ = try WAVReader(path: "/nonexistent.wav")
    }
    #expect(throws: WAVError.unsupported(field: "number of channels", value: 3)) {
      _ = try WAVWriter(path: "/nonexistent.wav", sampleRate: 48_000, channels: 3)
    }
  }

  @Test func mutatedHeadersNeverTrap() throws {
    let random = RandomSource(seed: 41)
    let seeds = [
      file(bits: 16, data: [1, 2, 3, 4]),
      file(code: 3, bits: 32, extensible: true, data: [0, 0, 0, 0]),
      file(
        bits: 24, channels: 2, extra: Array("LIST".utf8) + little(UInt32(2)) + [0, 0], data: [1]),
    ]
    var output = [Int16](repeating: 0, count: 64)
    var parsed = 0
    for round in 0..<12_000 {
      var bytes = seeds[round % seeds.count]
      for _ in 0...(random.next() % 5) {
        bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      if round % 7 == 0 { bytes.removeLast(Int(random.next() % UInt64(bytes.count))) }
      bytes.withUnsafeBytes { bytes in
        guard let header = try? WAVHeader(parsing: bytes) else { return }
        parsed += 1
        guard header.dataOffset <= bytes.count else { return }
        output.withUnsafeMutableBufferPointer {
          _ = header.convert(
            UnsafeRawBufferPointer(rebasing: bytes[header.dataOffset...]), into: $0)
        }
      }
    }
    #expect(parsed > 100)
  }
}

/// The system's `read`, which a suite's own hides.
private func readBytes(
  _ descriptor: Int32, _ room: UnsafeMutableRawPointer, _ count: Int
) -> Int {
  read(descriptor, room, count)
}
