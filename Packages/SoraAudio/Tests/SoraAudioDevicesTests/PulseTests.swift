import Dispatch
import Foundation
import SoraAudioDevices
import SoraClock
import SoraMedia
import SoundServer
import Synchronization
import Testing

/// Through real sound servers with null sinks: both that speak PulseAudio's protocol.
@Suite(
  .serialized,
  .enabled(if: SoundServer.areAllInstalled, "\(SoundServer.allRequirement)"),
  .timeLimit(.minutes(2)))
struct PulseTests {
  @Test(arguments: SoundServer.System.allCases)
  func lists(on system: SoundServer.System) throws {
    let server = try SoundServer(system)
    let devices = try server.backend.devices()
    #expect(devices.filter { $0.direction == .output }.map(\.id) == ["t", "mic"])
    #expect(devices.filter { $0.direction == .input }.map(\.id) == ["t.monitor", "mic.monitor"])
    #expect(devices.filter { $0.direction == .input }.allSatisfy { $0.isMonitor })
    #expect(devices.standard(.output)?.id == "t" && devices.standard(.input)?.id == "mic.monitor")
    #expect(devices.first?.sampleRate == 48_000 && devices.first?.channels == 2)
    #expect(try devices.device(named: "mic", .output).id == "mic")
  }

  /// As loud in one channel as it is in two.
  @Test(arguments: SoundServer.System.allCases)
  func toneGoesThrough(on system: SoundServer.System) async throws {
    let server = try SoundServer(system)
    let heard = Heard()
    let devices = try server.backend.devices()
    let capture = try AudioCapture(
      server.backend, devices.device(named: "t.monitor", .input), channels: 1,
      deliver: { heard.add($0) }, notify: { _ in })
    let playback = try player(server.backend)
    await wait { heard.hears(440) }
    // Two seconds of nothing but the tone: a gap or a click would show. Where the machine was too busy to fill a buffer, they are others.
    var overruns: Int
    repeat {
      // What was late is on its way for a while.
      heard.clear()
      await wait { heard.samples.count > 24_000 }
      overruns = capture.statistics.overruns + playback.statistics.overruns
      heard.clear()
      await wait { heard.samples.count > 96_000 }
    } while overruns != capture.statistics.overruns + playback.statistics.overruns
      && !Task.isCancelled
    let samples = heard.samples
    let amplitude = Sine.amplitude(of: 440, in: samples.prefix(96_000))
    let energy = samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(samples.count)
    let residue = 10 * log10(max(1e-9, energy - amplitude * amplitude / 2) / energy)
    let (input, output) = (capture.statistics, playback.statistics)
    print(
      "tone: amplitude \(amplitude) of \(Sine.amplitude), all else \(residue) dB;",
      "latency in \(input.latency as Any), out \(output.latency as Any), held \(output.buffer);",
      "overruns \(input.overruns) and \(output.overruns)")
    playback.stop()
    capture.stop()
    let count = heard.samples.count
    #expect(abs(amplitude - Sine.amplitude) < Sine.amplitude * 0.03)
    #expect(input.samples > 96_000 && output.samples > 96_000)
    #expect(input.latency.map { $0 < .milliseconds(500) } == true)
    #expect(heard.samples.count == count, "nothing comes after the stop")
  }

  /// From `fill` to `deliver`, by a click that the app plays and hears.
  @Test(arguments: SoundServer.System.allCases)
  func latencyFromEndToEnd(on system: SoundServer.System) async throws {
    let server = try SoundServer(system)
    let played = Mutex<Instant?>(nil)
    let delays = Log<Duration>()
    let monitor = try server.backend.devices().device(named: "t.monitor", .input)
    let capture = try AudioCapture(
      server.backend, monitor, channels: 1,
      deliver: { frame in
        guard frame.samples.contains(where: { $0 > 4_000 }) else { return }
        let since = played.withLock { played in
          defer { played = nil }
          return played
        }
        if let since { delays.append(SystemClock.now - since) }
      }, notify: { _ in })
    let count = Mutex(0)
    let playback = try AudioPlayback(server.backend, nil, channels: 1) { frame in
      let turn = count.withLock { count in
        count += 1
        return count
      }
      guard turn % 25 == 0 else { return }
      frame.samples[0] = 20_000
      frame.samples[1] = 20_000
      frame.samples[2] = 20_000
      played.withLock { $0 = SystemClock.now }
    } notify: { _ in
    }
    await wait { delays.elements.count >= 20 }
    let sorted = delays.elements.sorted()
    print(
      "from fill to deliver: p50 \(sorted[sorted.count / 2]), p95 \(sorted[sorted.count * 95 / 100]),",
      "overruns \(playback.statistics.overruns), held \(playback.statistics.buffer)")
    #expect(sorted[sorted.count / 2] < .milliseconds(400))
    playback.stop()
    capture.stop()
  }

  @Test(arguments: SoundServer.System.allCases)
  func lostAndRestored(on system: SoundServer.System) async throws {
    let server = try SoundServer(system)
    let module = try server.control("load-module", "module-null-sink", "sink_name=headset")
    let devices = try server.backend.devices()
    let (heard, inLog, outLog) = (
      Heard(), Log<AudioStreamEvent>(), Log<AudioStreamEvent>()
    )
    let capture = try AudioCapture(
      server.backend, devices.device(named: "headset.monitor", .input), channels: 1,
      deliver: { heard.add($0) }, notify: { inLog.append($0) })
    let playback = try player(
      server.backend, devices.device(named: "headset", .output), log: outLog)
    await wait { heard.hears(440) }
    try server.control("unload-module", module)
    await wait { !inLog.elements.isEmpty && !outLog.elements.isEmpty }
    #expect(outLog.elements == [.lost(.unplugged(device: "headset"))])
    try server.control("load-module", "module-null-sink", "sink_name=headset")
    await wait { inLog.elements.count == 2 && outLog.elements.count == 2 }
    heard.clear()
    await wait { heard.hears(440) }
    #expect(inLog.elements.last == .restored && outLog.elements.last == .restored)
    #expect(playback.statistics.losses == 1 && capture.statistics.losses == 1)
    playback.stop()
    capture.stop()
  }

  /// A stream without a device of its own goes where the default goes.
  @Test(arguments: SoundServer.System.allCases)
  func defaultMoves(on system: SoundServer.System) async throws {
    let server = try SoundServer(system)
    // With two channels: into one PipeWire makes two of them 3 dB louder.
    try server.control("load-module", "module-null-sink", "sink_name=desk", "rate=48000")
    await wait {
      (try? server.control("set-default-source", "desk.monitor")) != nil
        && (try? server.backend.devices().standard(.input)?.id) == "desk.monitor"
    }
    let heard = Heard()
    let capture = try AudioCapture(
      server.backend, nil, channels: 1, deliver: { heard.add($0) }, notify: { _ in })
    let playback = try player(server.backend, hertz: 600)
    await wait { playback.statistics.samples > 9_600 }
    #expect(!heard.hears(600))
    try server.control("set-default-sink", "desk")
    await wait { heard.hears(600) }
    // Not on its way to another level. Where the machine is busy, a block that comes late may disturb what is heard for a moment.
    heard.clear()
    await wait { heard.samples.count > 24_000 && heard.hears(600) }
    playback.stop()
    capture.stop()
  }

  @Test(arguments: SoundServer.System.allCases)
  func changesAreTold(on system: SoundServer.System) async throws {
    let server = try SoundServer(system)
    let changes = Log<[AudioDevice]>()
    let monitor = try AudioDeviceMonitor(server.backend, queue: DispatchQueue(label: "test")) {
      changes.append($0)
    }
    let module = try server.control("load-module", "module-null-sink", "sink_name=headset")
    await wait {
      changes.elements.last?.contains { $0.id == "headset" && $0.direction == .output } == true
    }
    try server.control("set-default-sink", "headset")
    await wait { changes.elements.last?.standard(.output)?.id == "headset" }
    try server.control("unload-module", module)
    await wait { changes.elements.last?.standard(.output)?.id != "headset" }
    server.end()
    await wait { changes.elements.last?.isEmpty == true }
    withExtendedLifetime(monitor) {}
  }

  @Test(arguments: SoundServer.System.allCases)
  func errorsSayWhatToDo(on system: SoundServer.System) throws {
    #expect {
      try PulseBackend(server: "unix:/nowhere/native").devices()
    } throws: { error in
      guard case AudioDeviceError.noServer = error else { return false }
      return "\(error)".contains("PULSE_SERVER")
    }
    let server = try SoundServer(system)
    let wanted = AudioDevice(
      id: "nothing", name: "nothing", direction: .output, system: .pulseAudio)
    #expect(
      throws: AudioDeviceError.noDevice(
        name: "nothing", direction: .output, known: ["t", "mic"])
    ) {
      try AudioPlayback(server.backend, wanted, channels: 2, fill: { _ in }, notify: { _ in })
    }
  }

  /// A server that doesn't know who asks: over TCP a secret file says so, and this one's is another.
  @Test func serverThatRefuses() throws {
    let server = try SoundServer()
    let secret = server.folder.appendingPathComponent("secret")
    try Data((0..<256).map { UInt8($0) }).write(to: secret)
    let port = try freePort()
    try server.control(
      "load-module", "module-native-protocol-tcp", "port=\(port)", "listen=127.0.0.1",
      "auth-anonymous=0", "auth-cookie=\(secret.path)")
    let backend = PulseBackend(server: "tcp:127.0.0.1:\(port)")
    #expect {
      try AudioCapture(backend, nil, channels: 1, deliver: { _ in }, notify: { _ in })
    } throws: { error in
      guard case AudioDeviceError.noPermission("PulseAudio", _) = error else { return false }
      return "\(error)".contains("sound server")
    }
    // Who may goes on.
    #expect(try server.backend.devices().count == 4)
  }

  /// A port that nobody listens on.
  private func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
      }
    }
    try #require(code == 0)
    return UInt16(bigEndian: address.sin_port)
  }

  @Test(arguments: SoundServer.System.allCases)
  func serverThatEnds(on system: SoundServer.System) async throws {
    let server = try SoundServer(system)
    let log = Log<AudioStreamEvent>()
    let playback = try player(server.backend, log: log)
    server.end()
    await wait { !log.elements.isEmpty }
    #expect(log.elements == [.lost(.serverGone(.pulseAudio))])
    playback.stop()
  }
}
