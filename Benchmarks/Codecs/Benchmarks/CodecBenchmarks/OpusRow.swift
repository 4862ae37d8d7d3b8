import CSoraMallocCount
import Foundation
import SoraAudio

/// Opus beside `opusenc` and `opusdec`: two minutes of stereo sound in packets of 20 ms. A frame is a packet here.
enum OpusRow {
  private static let seconds = 120
  private static let bitsPerSecond = 64_000
  private static let packet = 960

  static func measure(_ plan: Plan, _ note: (Row) -> Void) throws {
    for library in ["libopus.so"] { _ = sora_malloc_exclude(library) }
    let samples = makeSound()
    let wav = "\(plan.folder)/sound.wav"
    let file = "\(plan.folder)/sound.opus"
    let writer = try WAVWriter(path: wav, sampleRate: 48_000, channels: 2)
    try samples.withUnsafeBufferPointer { try writer.write($0) }
    try writer.close()

    let (ours, packets) = try encode(samples)
    let arguments = [
      "opusenc", "--quiet", "--hard-cbr", "--bitrate", "\(bitsPerSecond / 1000)", "--framesize",
      "20",
      "--comp", "10", "--music", wav, file,
    ]
    let count = samples.count / 2 / packet
    var theirs = try Measuring.tool(arguments, frameCount: count)
    theirs.kilobitsPerSecond = Double(bitsPerSecond) / 1000
    try row("encode", "opusenc", ours, theirs)
    let decoded = try decode(packets)
    try row(
      "decode", "opusdec", decoded,
      try Measuring.tool(
        ["opusdec", "--quiet", "--no-dither", file, "\(plan.folder)/out.wav"], frameCount: count))

    func row(_ way: String, _ tool: String, _ ours: Figures, _ theirs: Figures) throws {
      let row = Row(
        codec: "opus", way: way, scene: "sound", size: "64k", tool: tool, ours: ours, theirs: theirs
      )
      note(row)
      try report(row, plan)
    }
  }

  /// A chord that moves, under noise: nothing that an encoder gets for free.
  private static func makeSound() -> [Int16] {
    var random = SplitMix(seed: 2)
    var samples: [Int16] = []
    samples.reserveCapacity(seconds * 96_000)
    for index in 0..<seconds * 48_000 {
      let time = Double(index) / 48_000
      let bend = 1 + 0.01 * sin(2 * .pi * 0.5 * time)
      let chord = sin(2 * .pi * 220 * bend * time) + sin(2 * .pi * 330 * time)
      let other = sin(2 * .pi * 440 * bend * time) + sin(2 * .pi * 275 * time)
      samples.append(Int16(clamping: Int(6_000 * chord) + 60 * Int(random.grain())))
      samples.append(Int16(clamping: Int(6_000 * other) + 60 * Int(random.grain())))
    }
    return samples
  }

  private static func encode(_ samples: [Int16]) throws -> (Figures, [[UInt8]]) {
    Usage.resetPeak()
    let resident = Usage.residentBytes
    let encoder = try OpusEncoder(
      OpusEncoderSettings(
        channels: 2, application: .audio, bitsPerSecond: bitsPerSecond, complexity: 10,
        frameDuration: .milliseconds20, usesInBandFEC: false,
        rateControl: .constant, signal: .music))
    var meter = Meter()
    var packets: [[UInt8]] = []
    var allocations: UInt64 = 0
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_500, alignment: 16)
    defer { room.deallocate() }
    let count = samples.count / 2 / packet
    try samples.withUnsafeBufferPointer { all in
      for index in 0..<count {
        let part = UnsafeBufferPointer(rebasing: all[index * packet * 2..<(index + 1) * packet * 2])
        let before = sora_malloc_count_of_own()
        meter.start()
        let length = try encoder.encode(part, into: room)
        meter.stop()
        if index >= count / 2 { allocations += sora_malloc_count_of_own() - before }
        packets.append(Array(room[0..<length]))
      }
    }
    var figures = meter.figures(count, above: resident)
    figures.allocations = Double(allocations) / Double(count / 2)
    let bytes = packets.reduce(0) { $0 + $1.count }
    figures.kilobitsPerSecond = Double(bytes) * 8 * 50 / Double(count) / 1000
    return (figures, packets)
  }

  private static func decode(_ packets: [[UInt8]]) throws -> Figures {
    Usage.resetPeak()
    let resident = Usage.residentBytes
    let decoder = try OpusDecoder(channels: 2)
    var meter = Meter()
    var allocations: UInt64 = 0
    let room = UnsafeMutableBufferPointer<Int16>.allocate(capacity: packet * 2)
    defer { room.deallocate() }
    for (index, packet) in packets.enumerated() {
      try packet.withUnsafeBytes { bytes in
        let before = sora_malloc_count_of_own()
        meter.start()
        _ = try decoder.decode(bytes, into: room)
        meter.stop()
        if index >= packets.count / 2 { allocations += sora_malloc_count_of_own() - before }
      }
    }
    var figures = meter.figures(packets.count, above: resident)
    figures.allocations = Double(allocations) / Double(packets.count / 2)
    return figures
  }
}
