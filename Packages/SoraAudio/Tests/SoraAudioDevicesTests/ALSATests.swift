import Foundation
import SoraAudioDevices
import SoraMedia
import SoundServer
import Testing

/// ALSA with a configuration of these tests' own: without a card, but with plugins that end in nothing, in a file, or in a sound server.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ALSATests {
  private static let folder: URL = {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-alsa-\(UUID().uuidString.prefix(8))")
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }()

  private static let isInstalled = [
    "/usr/lib/x86_64-linux-gnu/libasound.so.2", "/usr/lib/aarch64-linux-gnu/libasound.so.2",
  ].contains { FileManager.default.fileExists(atPath: $0) }

  /// A file that not even root may read.
  private static let writeOnly = "/proc/sys/vm/compact_memory"
  private static let isClosed: Bool = {
    let descriptor = open(writeOnly, O_RDONLY)
    guard descriptor < 0 else {
      close(descriptor)
      return false
    }
    return errno == EACCES
  }()

  /// Everything the tests use, in one file: ALSA reads it once.
  private static func configure(server: String = "unix:/nowhere") throws {
    let text = """
      pcm.quiet {
        type null
        hint { show on description "Nothing" }
      }
      pcm.tofile {
        type plug
        slave.pcm {
          type file
          slave.pcm { type null }
          file "\(folder.path)/out.raw"
          format "raw"
        }
        hint { show on description "A file" }
      }
      pcm.closed {
        type file
        slave.pcm { type null }
        file "/dev/null"
        infile "\(writeOnly)"
        format "raw"
        hint { show on description "Not for us" }
      }
      pcm.server {
        type pulse
        server "\(server)"
        hint { show on description "A server" }
      }
      """
    let path = folder.appendingPathComponent("asound.conf")
    try text.write(to: path, atomically: true, encoding: .utf8)
    setenv("ALSA_CONFIG_PATH", path.path, 1)
  }

  private let backend = ALSABackend()

  private func device(_ id: String, _ direction: AudioDevice.Direction = .output) -> AudioDevice {
    AudioDevice(id: id, name: id, direction: direction, system: .alsa)
  }

  @Test(.enabled(if: isInstalled, "needs Debian's libasound2")) func lists() throws {
    try Self.configure()
    let devices = try backend.devices()
    #expect(devices.contains { $0.id == "tofile" && $0.name == "A file" })
    #expect(try devices.device(named: "nothing", .input).id == "quiet")
  }

  /// What has no clock of its own is held back, in both directions.
  @Test(.enabled(if: isInstalled, "needs Debian's libasound2"))
  func nothingRunsAhead() async throws {
    try Self.configure()
    let start = ContinuousClock.now
    let playback = try AudioPlayback(
      backend, device("quiet"), channels: 2, fill: { _ in }, notify: { _ in })
    let capture = try AudioCapture(
      backend, device("quiet", .input), channels: 1, deliver: { _ in }, notify: { _ in })
    await wait {
      playback.statistics.samples >= 24_000 && capture.statistics.samples >= 24_000
    }
    playback.stop()
    capture.stop()
    // Half a second, of which a quarter may be ahead.
    #expect(ContinuousClock.now - start >= .milliseconds(200))
  }

  @Test(.enabled(if: isInstalled, "needs Debian's libasound2")) func intoAFile() async throws {
    try Self.configure()
    let position = Log<Int>()
    let playback = try AudioPlayback(backend, device("tofile"), channels: 1) { frame in
      Sine.fill(&frame, hertz: 440, from: position.elements.count * 480)
      position.append(0)
    } notify: { _ in
    }
    await wait { playback.statistics.samples >= 48_000 }
    playback.stop()
    let bytes = try Data(contentsOf: Self.folder.appendingPathComponent("out.raw"))
    let samples = stride(from: 9_600, to: min(bytes.count, 57_600) - 1, by: 2).map {
      Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
    }
    #expect(samples.count > 20_000)
    #expect(abs(Sine.amplitude(of: 440, in: samples) - Sine.amplitude) < Sine.amplitude * 0.05)
  }

  @Test(
    .enabled(if: isInstalled && SoundServer.isInstalled, "\(SoundServer.requirement)"))
  func throughAServer() async throws {
    let server = try SoundServer()
    try Self.configure(server: server.address)
    let heard = Heard()
    let monitor = try server.backend.devices().device(named: "t.monitor", .input)
    let capture = try AudioCapture(
      server.backend, monitor, channels: 1, deliver: { heard.add($0) }, notify: { _ in })
    let position = Log<Int>()
    let playback = try AudioPlayback(backend, device("server"), channels: 2) { frame in
      Sine.fill(&frame, hertz: 440, from: position.elements.count * 480)
      position.append(0)
    } notify: { _ in
    }
    await wait { heard.hears(440) }
    print("ALSA through a server: latency \(playback.statistics.latency as Any)")
    playback.stop()
    capture.stop()
  }

  /// A microphone that may not be opened, and one whose server isn't there, while a loudspeaker plays.
  @Test(.enabled(if: isInstalled, "needs Debian's libasound2"))
  func refusedMicrophonesLeaveTheLoudspeakerAlone() async throws {
    try Self.configure()
    let events = Log<AudioStreamEvent>()
    let playback = try AudioPlayback(
      backend, device("quiet"), channels: 2, fill: { _ in }, notify: { events.append($0) })
    func open(_ id: String) throws {
      let capture = try AudioCapture(
        backend, device(id, .input), channels: 1, deliver: { _ in }, notify: { _ in })
      capture.stop()
    }
    if Self.isClosed {
      #expect(
        throws: AudioDeviceError.noPermission(device: "closed", reason: "Permission denied")
      ) { try open("closed") }
    }
    #expect {
      try open("server")
    } throws: { error in
      guard case AudioDeviceError.noServer(.alsa, _) = error else { return false }
      return "\(error)".contains("start one")
    }
    let before = playback.statistics.samples
    await wait { playback.statistics.samples > before + 9_600 }
    #expect(events.elements.isEmpty)
    try open("quiet")
    playback.stop()
  }

  @Test(.enabled(if: isInstalled, "needs Debian's libasound2")) func errorsSayWhatThereIs() throws {
    try Self.configure()
    #expect {
      try AudioPlayback(
        backend, device("headset"), channels: 2, fill: { _ in }, notify: { _ in })
    } throws: { error in
      guard case AudioDeviceError.noDevice("headset", .output, let known) = error else {
        return false
      }
      return known.contains("tofile") && "\(error)".contains("tofile")
    }
  }
}
