import Foundation
import SoraAudioDevices
import SoraAudioProcessing
import SoraMedia
import SoraSDK
import SoraSignaling
import Synchronization
import Testing
import WebRTC

/// The sound devices that connections use.
@Suite(.timeLimit(.minutes(5))) struct SoundConnectionTests {
  /// A server that takes part in a call, and a connection to it that may use sound devices.
  private struct Call {
    let far: FarEnd
    let server: ScriptedSora
    let connections: Recorder<WebSocketConnection>
    let system: FakeSound
    let sora: Sora

    init(_ system: FakeSound = FakeSound(), sora: Sora? = nil) async throws {
      let far = try await FarEnd(receives: true)
      let connections = Recorder<WebSocketConnection>()
      server = try await ScriptedSora { connection, message in
        if case .connect = message {
          connections.append(connection)
          connection.send(far.offer())
        }
        try await far.handle(message)
      }
      self.far = far
      self.connections = connections
      self.system = system
      self.sora =
        sora
        ?? Sora(
          cameras: CameraVideoCapturer.Cameras(system: FakeCameras([])),
          audio: AudioSession(system: system))
    }

    func connect(_ role: Role = .sendonly) async throws -> MediaChannel {
      try await Attempt(server.configuration(role), face: .tasks, sora: sora).channel()
    }

    /// Waits until everything that was enqueued on the audio queue has run.
    func settle() async {
      await withCheckedContinuation { continuation in
        SoraDispatcher.async(on: .audio) { continuation.resume() }
      }
    }

    /// What the far end hears of the connection.
    func hear() throws -> LoudnessSink {
      let sink = LoudnessSink()
      let track = try #require(
        far.peer.receivers.compactMap { $0.track as? RTCAudioTrack }.first)
      track.add(sink: sink)
      return sink
    }

    /// Speaks into the microphone until `condition` holds.
    func speak(until condition: () -> Bool) async throws {
      while !condition() {
        system.running("microphone")?.speak()
        try await Task.sleep(for: .milliseconds(10))
      }
    }
  }

  @Test func noDeviceUnlessAskedFor() async throws {
    let call = try await Call()
    let channel = try await call.connect()
    channel.senderStream?.send(audioFrame: AudioFrame(samples: [1, 2, 3]))
    await call.settle()
    await channel.disconnect()
    await call.settle()
    #expect(call.system.log.elements.isEmpty)
  }

  @Test func voicesAreDetectedWhereThatIsAskedFor() async throws {
    let call = try await Call()
    var settings = AudioDeviceSettings()
    call.sora.audioDeviceSettings = settings
    let channel = try await call.connect()
    await call.settle()
    call.system.running("microphone")?.speak()
    #expect(!call.sora.voiceDetected, "nobody asked for it")
    settings.processing.voiceDetection = true
    call.sora.audioDeviceSettings = settings
    call.system.running("microphone")?.speak()
    #expect(call.sora.voiceDetected)
    await channel.disconnect()
    await call.settle()
    #expect(!call.sora.voiceDetected, "the microphone is closed")
  }

  @Test func microphoneIsSent() async throws {
    let call = try await Call()
    #expect((try? call.sora.setAudioMode(.videoChat).get()) != nil, "nothing is needed yet")
    let channel = try await call.connect()
    let sink = try call.hear()
    try await call.speak { sink.peaks.elements.contains { $0 > 4_000 } }
    #expect(call.system.processing.elements.last?.noiseSuppression == .moderate)
    #expect(
      call.system.processing.elements.last?.echoCancellation == false, "no loudspeaker is open")
    #expect(call.system.cleaned.elements.first == .milliseconds(55))
    await channel.disconnect()
    await call.settle()
    #expect(
      call.system.log.elements == ["open microphone default", "close microphone default"])
  }

  /// Called when the connection is there, as on iOS.
  @Test func modesOpenWhatTheyName() async throws {
    let call = try await Call()
    let channel = try await call.connect()
    try call.sora.setAudioMode(.default(category: .playback, output: .default)).get()
    #expect(call.system.log.elements.isEmpty, "there is nothing to play")
    try call.sora.setAudioMode(.default(category: .record, output: .default)).get()
    #expect(call.system.log.elements == ["open microphone default"])
    call.sora.audioDeviceSettings = AudioDeviceSettings(microphone: "WEB")
    #expect(
      call.system.log.elements.suffix(2) == [
        "close microphone default", "open microphone webcam",
      ])
    try call.sora.setAudioMode(.default(category: .ambient, output: .default)).get()
    #expect(call.system.log.elements.last == "close microphone webcam")
    await channel.disconnect()
  }

  @Test func byHand() async throws {
    let call = try await Call()
    call.sora.usesManualAudio = true
    try call.sora.setAudioMode(.voiceChat(output: .default)).get()
    let channel = try await call.connect()
    await call.settle()
    #expect(call.system.log.elements.isEmpty)
    call.sora.audioEnabled = true
    #expect(call.system.running("microphone") != nil)
    call.sora.audioEnabled = false
    #expect(call.system.running("microphone") == nil)
    await channel.disconnect()
  }

  /// A program's own sound takes the microphone's place.
  @Test func ownFramesGoFirst() async throws {
    let call = try await Call()
    call.sora.audioDeviceSettings = AudioDeviceSettings()
    let channel = try await call.connect()
    await call.settle()
    #expect(call.system.running("microphone") != nil)
    channel.senderStream?.send(audioFrame: AudioFrame(samples: [Int16](repeating: 0, count: 480)))
    await call.settle()
    #expect(call.system.running("microphone") == nil)
    await channel.disconnect()
  }

  /// The same words at other gains, as the far end hears them, and as sinks of bytes beside it do.
  @Test func theGainIsHeard() async throws {
    let call = try await Call()
    _ = call.sora.setAudioMode(.videoChat)
    let channel = try await call.connect()
    await call.settle()
    let stream = try #require(channel.senderStream)
    #expect(stream.audioGain == 1)
    let sink = try call.hear()
    let bytes = ByteCounter()
    stream.addAudioTrackSink(bytes)
    try await call.speak { sink.peaks.elements.contains { $0 > 4_000 } }
    #expect(bytes.count.withLock { $0 } > 0)
    stream.removeAudioTrackSink(bytes)
    bytes.count.withLock { $0 = 0 }
    stream.audioGain = -1
    #expect(stream.audioGain == 0)
    stream.audioGain = .nan
    stream.audioGain = nil
    #expect(stream.audioGain == 0)
    try await call.speak { sink.peaks.elements.suffix(5).allSatisfy { $0 < 50 } }
    stream.audioGain = 0.25
    try await call.speak { sink.peaks.elements.suffix(5).allSatisfy { (500..<3_500).contains($0) } }
    stream.audioGain = 11
    #expect(stream.audioGain == 10)
    try await call.speak { sink.peaks.elements.suffix(5).allSatisfy { $0 > 20_000 } }
    #expect(bytes.count.withLock { $0 } == 0, "it was removed")
    await channel.disconnect()
  }

  @Test func softAndHardMute() async throws {
    let call = try await Call()
    _ = call.sora.setAudioMode(.videoChat)
    let channel = try await call.connect()
    await call.settle()
    #expect(channel.setAudioSoftMute(true) == nil)
    #expect(channel.senderStream?.audioEnabled == false)
    #expect(call.system.running("microphone") != nil, "soft: the microphone stays open")
    #expect(channel.setAudioSoftMute(false) == nil)
    #expect(channel.setAudioHardMute(true) == nil)
    #expect(call.system.running("microphone") == nil && channel.senderStream?.audioEnabled == false)
    #expect(channel.setAudioHardMute(false) == nil)
    #expect(call.system.running("microphone") != nil && channel.senderStream?.audioEnabled == true)
    let sink = try call.hear()
    try await call.speak { sink.peaks.elements.contains { $0 > 4_000 } }
    channel.setAudioHardMute(true)
    call.system.refuse(with: .busy(device: "webcam"))
    #expect(channel.setAudioHardMute(false) is AudioDeviceError)
    await channel.disconnect()
  }

  @Test func theMicrophoneMayBeOffAtFirst() async throws {
    let call = try await Call()
    _ = call.sora.setAudioMode(.videoChat)
    var configuration = call.server.configuration(.sendonly)
    configuration.initialMicrophoneEnabled = false
    let channel = try await Attempt(configuration, face: .tasks, sora: call.sora).channel()
    await call.settle()
    let stream = try #require(channel.senderStream)
    #expect(call.system.running("microphone") == nil && stream.hasAudioTrack)
    #expect(!stream.audioEnabled)
    #expect(channel.setAudioHardMute(false) == nil)
    #expect(call.system.running("microphone") != nil && stream.audioEnabled)
    await channel.disconnect()
  }

  @Test func silentChannelsCanNotBeMuted() async throws {
    let call = try await Call()
    var configuration = call.server.configuration(.sendonly)
    configuration.audioEnabled = false
    let channel = try await Attempt(configuration, face: .tasks, sora: call.sora).channel()
    for error in [channel.setAudioHardMute(true), channel.setAudioSoftMute(true)] {
      guard case SoraError.mediaChannelError? = error else {
        Issue.record("\(error.debugDescription)")
        continue
      }
    }
    await channel.disconnect()
  }

  /// A connection doesn't need a sound device.
  @Test func refusalsAreToldAndTheCallGoesOn() async throws {
    let call = try await Call()
    let refusal = AudioDeviceError.noServer(.pulseAudio, reason: "none")
    call.system.refuse(with: refusal)
    let channel = try await call.connect()
    guard case .failure(let error) = call.sora.setAudioMode(.videoChat) else {
      Issue.record("the refusal isn't told")
      return
    }
    #expect(error as? AudioDeviceError == refusal)
    #expect(channel.state == .connected)
    call.system.refuse(with: nil)
    try call.sora.setAudioMode(.videoChat).get()
    #expect(call.system.running("microphone") != nil)
    await channel.disconnect()
  }

  @Test func othersAreHeard() async throws {
    let call = try await Call()
    _ = call.sora.setAudioMode(.videoChat)
    let channel = try await call.connect(.sendrecv)
    let connection = try #require(call.connections.elements.first)
    let factory = RTCPeerConnectionFactory()
    let source = factory.audioSource(with: nil)
    try await call.far.peer.addTransceiver(
      of: .audio, direction: .sendOnly,
      track: factory.audioTrack(with: source, trackId: "OTHER-audio"), streamIds: ["OTHER"])
    try await call.far.peer.setLocalDescription(call.far.peer.offer())
    connection.send(.reOffer(ReOfferMessage(sdp: call.far.sdp)))
    await call.system.log.wait { $0.contains("open speaker desk-speaker") }
    await call.settle()
    #expect(call.system.processing.elements.last?.echoCancellation == true)
    let speaker = try #require(call.system.running("speaker"))
    let square = (0..<480).map { Int16($0 / 24 % 2 == 0 ? 8_000 : -8_000) }
    func listen(until condition: (Int) -> Bool) async throws {
      while true {
        source.push(AudioFrame(samples: square, sampleRate: 48_000, channels: 1, timestamp: .now))
        try await Task.sleep(for: .milliseconds(10))
        if condition(speaker.listen()) { return }
      }
    }
    try await listen { $0 > 4_000 }
    let use = call.sora.audioDeviceUse
    #expect(use.speaker?.latency == .milliseconds(15))
    // The mixer waits for 20 ms, and for more where that was too little.
    #expect(try #require(use.playoutLatency) >= .milliseconds(35))
    let other = try #require(channel.receiverStreams.first)
    other.remoteAudioVolume = 0
    try await listen { $0 == 0 }
    other.remoteAudioVolume = 10
    try await listen { $0 > 4_000 }
    await channel.disconnect()
    await call.settle()
    #expect(call.system.running("speaker") == nil && call.system.running("microphone") == nil)
  }

  /// What a person at a terminal is told, too.
  @Test func useAndEventsAreTold() async throws {
    let call = try await Call()
    let events = Recorder<AudioDeviceEvent>()
    call.sora.audioDeviceHandler = { events.append($0) }
    call.system.removeProcessing()
    let refusal = AudioDeviceError.busy(device: "webcam")
    call.system.refuse(with: refusal)
    #expect(call.sora.audioDeviceUse == AudioDeviceUse())
    _ = call.sora.setAudioMode(.videoChat)
    let channel = try await call.connect()
    await events.wait { $0.contains(.refused(.input, refusal)) }
    await call.settle()
    #expect(call.sora.audioDeviceUse.microphone == nil, "it isn't open")
    call.system.refuse(with: nil)
    try call.sora.setAudioMode(.videoChat).get()
    #expect(call.sora.audioDeviceUse.microphone?.overruns == 3)
    #expect(call.sora.audioDeviceUse.speaker == nil, "there is nobody to hear")
    let microphone = try #require(call.system.running("microphone"))
    microphone.notify(.lost(.unplugged(device: "webcam")))
    microphone.notify(.restored)
    await events.wait { $0.last == .restored(.input) }
    #expect(
      events.elements.suffix(2) == [
        .lost(.input, .unplugged(device: "webcam")), .restored(.input),
      ])
    #expect(events.elements.contains(.unprocessed(.noLibrary)))
    await channel.disconnect()
    await call.settle()
    #expect(call.sora.audioDeviceUse == AudioDeviceUse())
  }

  /// One microphone for two connections; it closes with the last.
  @Test func twoConnections() async throws {
    let first = try await Call()
    let second = try await Call(first.system, sora: first.sora)
    _ = first.sora.setAudioMode(.videoChat)
    let a = try await first.connect()
    let b = try await second.connect()
    let (one, other) = (try first.hear(), try second.hear())
    try await first.speak {
      one.peaks.elements.contains { $0 > 4_000 } && other.peaks.elements.contains { $0 > 4_000 }
    }
    await a.disconnect()
    await first.settle()
    #expect(first.system.running("microphone") != nil)
    await b.disconnect()
    await first.settle()
    #expect(
      first.system.log.elements == ["open microphone default", "close microphone default"])
  }
}

private final class ByteCounter: RTCAudioTrackSink {
  let count = Mutex(0)
  func onData(
    _ audioData: Data, bitsPerSample: Int, sampleRate: Int, numberOfChannels: Int,
    numberOfFrames: Int
  ) {
    count.withLock { $0 += audioData.count }
  }
}
