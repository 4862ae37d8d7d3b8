import Foundation
import SoraAudio
import Testing

/// Agreement with opus-tools, which reach libopus by another way: opusfile, floating point and a container.
@Suite(
  .enabled(
    if: FileManager.default.isExecutableFile(atPath: "/usr/bin/opusenc")
      && FileManager.default.isExecutableFile(atPath: "/usr/bin/opusdec"),
    "needs Debian's opus-tools"))
struct OpusToolsTests {
  private func run(_ tool: String, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/\(tool)")
    process.arguments = ["--quiet"] + arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(tool) \(arguments.joined(separator: " "))")
  }

  private func withFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "opus-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }

  private func samples(_ data: Data) -> [Int16] {
    let bytes = [UInt8](data)
    return stride(from: 0, to: bytes.count - 1, by: 2).map {
      Int16(truncatingIfNeeded: Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8)
    }
  }

  private func data(_ samples: [Int16]) -> Data {
    Data(samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] })
  }

  @Test(arguments: [
    (["--bitrate", "24", "--speech", "--framesize", "20"], 1),
    (["--bitrate", "96", "--music", "--framesize", "20", "--hard-cbr"], 2),
    (["--bitrate", "16", "--framesize", "60", "--comp", "3"], 1),
    (["--bitrate", "160", "--framesize", "2.5", "--cvbr"], 2),
    (["--bitrate", "32", "--framesize", "40", "--expect-loss", "20"], 2),
    (["--bitrate", "10", "--framesize", "20", "--speech"], 1),
  ])
  func decodesWhatOpusencMakesAsOpusdecDoes(_ options: [String], _ channels: Int) throws {
    try withFolder { folder in
      let voice = Signals.voice(count: 48_000 * 2)
      let audio =
        channels == 1 ? voice : Signals.interleaved(voice, Signals.tone(700, count: voice.count))
      let raw = folder.appendingPathComponent("in.raw")
      let file = folder.appendingPathComponent("a.opus")
      let decoded = folder.appendingPathComponent("out.raw")
      try data(audio).write(to: raw)
      try run(
        "opusenc",
        options + [
          "--raw", "--raw-rate", "48000", "--raw-chan", "\(channels)", raw.path, file.path,
        ]
      )
      try run("opusdec", ["--no-dither", "--rate", "48000", file.path, decoded.path])
      let theirs = samples(try Data(contentsOf: decoded))

      let stream = try OggOpus(parsing: [UInt8](Data(contentsOf: file)))
      #expect(stream.channels == channels)
      let ours = try OpusBench.decode(stream.packets, channels: channels)
      try compare(
        Array(ours[(stream.preSkip * channels)...]), theirs, count: audio.count)
    }
  }

  @Test(arguments: [
    OpusEncoderSettings(channels: 1, application: .voip, bitsPerSecond: 24_000),
    OpusEncoderSettings(channels: 2, bitsPerSecond: 96_000, rateControl: .variable),
    OpusEncoderSettings(
      channels: 2, bitsPerSecond: 64_000, frameDuration: .milliseconds120, usesInBandFEC: false),
    OpusEncoderSettings(
      channels: 1, application: .restrictedLowDelay, bitsPerSecond: 128_000,
      frameDuration: .milliseconds5, rateControl: .constant),
    OpusEncoderSettings(
      channels: 1, application: .voip, bitsPerSecond: 12_000, frameDuration: .milliseconds60,
      packetLossPercent: 20),
  ])
  func opusdecDecodesWhatWeMakeAsWeDo(_ settings: OpusEncoderSettings) throws {
    try withFolder { folder in
      let voice = Signals.voice(count: 48_000 * 2)
      let audio = settings.channels == 1 ? voice : voice.flatMap { [$0, $0] }
      let encoder = try OpusEncoder(settings)
      let packets = try OpusBench.encode(encoder, audio)
      let file = folder.appendingPathComponent("a.opus")
      let decoded = folder.appendingPathComponent("out.raw")
      let stream = OggOpus(
        channels: settings.channels, preSkip: encoder.lookahead, packets: packets)
      try Data(stream.bytes).write(to: file)
      try run("opusdec", ["--no-dither", "--rate", "48000", file.path, decoded.path])
      let theirs = samples(try Data(contentsOf: decoded))
      let ours = try OpusBench.decode(packets, channels: settings.channels)
      try compare(
        Array(ours[(encoder.lookahead * settings.channels)...]), theirs,
        count: ours.count - encoder.lookahead * settings.channels)
    }
  }

  /// Both round from floating point; exactly between two numbers they may choose differently.
  private func compare(_ ours: [Int16], _ theirs: [Int16], count: Int) throws {
    #expect(theirs.count == count)
    try #require(ours.count >= theirs.count)
    var worst = 0
    var different = 0
    for (a, b) in zip(ours, theirs) where a != b {
      different += 1
      worst = max(worst, abs(Int(a) - Int(b)))
    }
    #expect(worst <= 1)
    #expect(different <= theirs.count / 1_000, "\(different) of \(theirs.count) samples")
  }
}
