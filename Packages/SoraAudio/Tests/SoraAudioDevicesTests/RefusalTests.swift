import Dispatch
import SoraAudioDevices
import SoraMedia
import Synchronization
import Testing

/// Microphones that can't be opened: one error each, and the rest goes on.
@Suite(.timeLimit(.minutes(5))) struct RefusalTests {
  private static let refusals: [AudioDeviceError] = [
    .busy(device: "headset"), .noPermission(device: "headset", reason: "Permission denied"),
    .noServer(.pulseAudio, reason: "Connection refused"),
    .noDevice(name: "headset", direction: .input, known: ["webcam"]),
    .formatRefused(device: "headset", reason: "it has 44100 Hz"),
    .noLibrary(.alsa, file: "libasound.so.2"),
  ]

  private func microphone(
    _ system: StandIn, _ frames: Log<AudioFrame> = Log(), _ events: Log<AudioStreamEvent> = Log()
  ) throws -> AudioCapture {
    try AudioCapture(
      system, nil, channels: 1, deliver: { frames.append($0) }, notify: { events.append($0) })
  }

  private func isPlaying(_ playback: AudioPlayback, _ port: StandInPort) async {
    let before = playback.statistics.samples
    port.change { $0.available += 480 }
    await wait { playback.statistics.samples > before }
  }

  @Test(arguments: refusals) func aRefusedMicrophoneLeavesTheRest(refusal: AudioDeviceError)
    async throws
  {
    let system = StandIn()
    let events = Log<AudioStreamEvent>()
    let playback = try AudioPlayback(
      system, nil, channels: 1, fill: { _ in }, notify: { events.append($0) })
    let loudspeaker = try #require(system.port(0))
    await isPlaying(playback, loudspeaker)
    system.state.withLock { $0.refusals = [refusal] }
    #expect(throws: refusal) { try microphone(system) }
    #expect(system.port(1) == nil, "nothing was opened")
    await isPlaying(playback, loudspeaker)
    #expect(events.elements.isEmpty && !loudspeaker.state.withLock { $0.isClosed })
    // The same microphone, once it may be had.
    let frames = Log<AudioFrame>()
    let capture = try microphone(system, frames)
    try #require(system.port(1)).change { $0.available += 960 }
    await wait { !frames.elements.isEmpty }
    capture.stop()
    playback.stop()
  }

  /// One that goes, and is refused for several reasons before it is back: told once each way, and the loudspeaker hears nothing of it.
  @Test func aLostMicrophoneThatIsRefusedComesBack() async throws {
    let system = StandIn()
    let (frames, lost, others) = (
      Log<AudioFrame>(), Log<AudioStreamEvent>(), Log<AudioStreamEvent>()
    )
    let playback = try AudioPlayback(
      system, nil, channels: 1, fill: { _ in }, notify: { others.append($0) })
    let capture = try microphone(system, frames, lost)
    system.state.withLock { $0.refusals = Array(Self.refusals.prefix(4)) }
    try #require(system.port(1)).change { $0.isEnded = true }
    await wait { !lost.elements.isEmpty }
    await isPlaying(playback, try #require(system.port(0)))
    await wait { system.port(2) != nil }
    try #require(system.port(2)).change { $0.available += 960 }
    await wait { !frames.elements.isEmpty }
    #expect(lost.elements == [.lost(.unplugged(device: "stand-in")), .restored])
    #expect(others.elements.isEmpty && capture.statistics.losses == 1)
    #expect(system.state.withLock { $0.refusals.isEmpty })
    capture.stop()
    playback.stop()
  }

  @Test func withoutASoundServerTheNextSystemIsTaken() throws {
    let (pulse, alsa) = (StandIn(.pulseAudio), StandIn(.alsa))
    let refusal = AudioDeviceError.noServer(.pulseAudio, reason: "Connection refused")
    pulse.state.withLock { $0.devices = .failure(refusal) }
    #expect(
      throws: AudioDeviceError.noSoundSystem(reasons: ["\(refusal)", "ALSA has none"])
    ) { try AudioSystems.first(of: [pulse, alsa]) }
    let card = AudioDevice(id: "hw:0", name: "Card", direction: .input, system: .alsa)
    alsa.state.withLock { $0.devices = .success([card]) }
    #expect(try AudioSystems.first(of: [pulse, alsa]).system == .alsa)
    pulse.state.withLock { $0.devices = .success([card]) }
    #expect(try AudioSystems.first(of: [pulse, alsa]).system == .pulseAudio)
    #expect(throws: AudioDeviceError.noSoundSystem(reasons: [])) {
      try AudioSystems.first(of: [])
    }
  }

  @Test func whatCantBeWatchedIsRefused() {
    #expect(throws: AudioDeviceError.noServer(.alsa, reason: "none")) {
      try AudioDeviceMonitor(StandIn(), queue: DispatchQueue(label: "test")) { _ in }
    }
  }

  /// CSoraSound's codes, 1 to 8.
  @Test func eachCodeHasItsErrorAndAWayOut() {
    let microphone = AudioDevice(id: "mic", name: "Mic", direction: .input, system: .alsa)
    let speaker = AudioDevice(id: "out", name: "Out", direction: .output, system: .alsa)
    let request = AudioPortRequest(device: microphone, direction: .input, channels: 1)
    func error(_ code: Int, _ system: AudioSystem) -> AudioDeviceError {
      AudioDeviceError((code, "words"), "opening", system, request) { [microphone, speaker] }
    }
    let cases: [(Int, AudioDeviceError, String)] = [
      (1, .noLibrary(.alsa, file: "words"), "install libasound2"),
      (2, .noServer(.alsa, reason: "words"), "start one"),
      (3, .noDevice(name: "mic", direction: .input, known: ["mic"]), "there are: mic"),
      (4, .busy(device: "mic"), "end the other program"),
      (5, .noPermission(device: "mic", reason: "words"), "group audio"),
      (6, .unplugged(device: "mic"), "was unplugged"),
      (7, .formatRefused(device: "mic", reason: "words"), "such as default"),
      (8, .system(operation: "opening", device: "mic", reason: "words"), "opening of mic failed"),
    ]
    for (code, wanted, words) in cases {
      let seen = error(code, .alsa)
      #expect(seen == wanted && "\(seen)".contains(words), "\(code): \(seen)")
    }
    #expect(
      error(6, .pulseAudio) == .serverGone(.pulseAudio), "a server takes its connection along")
  }
}
