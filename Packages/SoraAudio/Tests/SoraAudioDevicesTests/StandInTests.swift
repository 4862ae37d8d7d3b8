import Dispatch
import SoraAudioDevices
import SoraClock
import SoraMedia
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct StandInTests {
  @Test func framesAreTenMilliseconds() async throws {
    let system = StandIn()
    let frames = Log<AudioFrame>()
    let capture = try AudioCapture(
      system, nil, channels: 2, deliver: { frames.append($0) }, notify: { _ in })
    let port = try #require(system.port(0))
    for _ in 0..<3 { port.change { $0.available += 700 } }
    await wait { frames.elements.count == 4 }
    #expect(frames.elements.allSatisfy { $0.frameCount == 480 && $0.channels == 2 })
    let times = frames.elements.map(\.timestamp)
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == .milliseconds(10) })
    capture.stop()
    #expect(port.state.withLock { $0.isClosed })
  }

  /// A frame's time is when its first sample will be heard: after the device's delay, and after what was given before it.
  @Test func playbackTellsWhenItWillBeHeard() async throws {
    let system = StandIn()
    let times = Log<(heard: Instant, told: Instant)>()
    let playback = try AudioPlayback(
      system, nil, channels: 2, fill: { times.append(($0.timestamp, SystemClock.now)) },
      notify: { _ in })
    let port = try #require(system.port(0))
    for delay in [Duration.milliseconds(10), .milliseconds(70)] {
      let count = times.elements.count
      let before = SystemClock.now
      port.change { state in
        state.delay = delay
        state.available = 480
      }
      await wait { times.elements.count > count && port.available == 0 }
      // Less than two frames wait to be written.
      let (heard, told) = times.elements[count]
      #expect(heard >= before + delay && heard < told + delay + .milliseconds(20))
    }
    playback.stop()
  }

  @Test func refusalIsThrown() {
    let system = StandIn()
    system.state.withLock { $0.refusals = [.busy(device: "headset")] }
    #expect(throws: AudioDeviceError.busy(device: "headset")) {
      try AudioCapture(system, nil, channels: 1, deliver: { _ in }, notify: { _ in })
    }
  }

  /// Each underrun has the buffer grow, up to 120 ms.
  @Test func buffersGrow() async throws {
    let system = StandIn()
    let playback = try AudioPlayback(system, nil, channels: 1, fill: { _ in }, notify: { _ in })
    let port = try #require(system.port(0))
    for turn in 1...12 {
      port.change { state in
        state.xruns = turn
        state.available += 480
      }
      await wait { playback.statistics.overruns == turn }
    }
    #expect(
      port.state.withLock { $0.buffers } == Array(stride(from: 1_920, through: 5_760, by: 480)))
    #expect(playback.statistics.buffer == .milliseconds(120))
    playback.stop()
  }

  @Test func comesBackAfterSomeTries() async throws {
    let system = StandIn()
    let log = Log<AudioStreamEvent>()
    let playback = try AudioPlayback(
      system, nil, channels: 1, fill: { _ in }, notify: { log.append($0) })
    system.state.withLock { $0.refusals = [.busy(device: "a"), .busy(device: "a")] }
    try #require(system.port(0)).change { $0.isEnded = true }
    await wait { log.elements.count == 2 }
    #expect(log.elements == [.lost(.unplugged(device: "stand-in")), .restored])
    let port = try #require(system.port(1))
    port.change { $0.available = 960 }
    await wait { port.state.withLock { $0.written } == 960 }
    playback.stop()
    #expect(playback.statistics.losses == 1)
  }

  @Test func stopsWhileItIsLost() async throws {
    let system = StandIn()
    let log = Log<AudioStreamEvent>()
    let playback = try AudioPlayback(
      system, nil, channels: 1, fill: { _ in }, notify: { log.append($0) })
    system.state.withLock { $0.refusals = Array(repeating: .busy(device: "a"), count: 10_000) }
    try #require(system.port(0)).change { $0.isEnded = true }
    await wait { !log.elements.isEmpty }
    playback.stop()
    #expect(log.elements.count == 1)
  }

  @Test func namesAreFound() throws {
    func device(_ id: String, _ name: String, isMonitor: Bool = false) -> AudioDevice {
      AudioDevice(
        id: id, name: name, direction: .input, system: .pulseAudio, isMonitor: isMonitor)
    }
    let devices = [
      device("usb-1", "Jabra Headset"), device("pci-0", "Built-in Audio"),
      device("usb-1.monitor", "Monitor of Jabra Headset", isMonitor: true),
    ]
    #expect(try devices.device(named: "usb-1.monitor", .input).isMonitor)
    #expect(try devices.device(named: "jabra", .input).id == "usb-1")
    #expect(throws: AudioDeviceError.self) { try devices.device(named: "", .input) }
    #expect(
      throws: AudioDeviceError.noDevice(
        name: "rode", direction: .input, known: devices.map(\.id))
    ) { try devices.device(named: "rode", .input) }
    #expect(throws: AudioDeviceError.self) { try devices.device(named: "jabra", .output) }
  }
}
