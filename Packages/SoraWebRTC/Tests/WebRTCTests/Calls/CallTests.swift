import Dispatch
import Foundation
import SoraAudio
import SoraCapture
import SoraClock
import SoraCongestion
import SoraMedia
import SoraTransport
import Synchronization
import Testing
import WebRTC

/// Two peer connections of this process, over real sockets, codecs and DTLS.
@Suite(.serialized) struct CallTests {
  @Test(.timeLimit(.minutes(5))) func picturesAndSoundCrossBothWays() async throws {
    // One of the two sends each packet of sound twice.
    let (caller, callee) = try await Party.pair { $0.audioRedundancy = 1 }
    try await Party.negotiate(from: caller, to: callee)
    caller.startMedia()
    callee.startMedia()
    for party in [caller, callee] {
      try await party.waitUntil {
        $0.stamps.count >= 60 && $0.audioSamples >= 48_000 && $0.peakLevel > 8_000
      }
    }
    for party in [caller, callee] {
      let received = party.received.withLock { $0 }
      let indices = received.stamps.map(\.index)
      #expect(indices == indices.sorted(), "frames come in order")
      #expect((received.psnr.min() ?? 0) > 28)
      let statistics = await party.connection.statistics()
      #expect(statistics.all("inbound-rtp").count == 2)
      #expect(statistics.all("outbound-rtp").count == 2)
      let transport = try #require(statistics.all("transport").first)
      let sound = try #require(
        statistics.all("inbound-rtp").first { $0.text("kind") == "audio" })
      let copies = sound.number("fecPacketsReceived") ?? 0
      #expect((copies > 0) == (party === callee))
      #expect((sound.number("fecPacketsDiscarded") ?? 0) <= copies)
      for source in statistics.mediaSources {
        switch source.kind {
        case .video: #expect(source.frames ?? 0 >= 60 && source.width ?? 0 > 0)
        case .audio: #expect(source.audioLevel ?? 0 > 0 && source.totalAudioEnergy ?? 0 > 0)
        }
      }
      let playout = try #require(statistics.mediaPlayout)
      #expect(playout.totalSamplesCount >= 48_000)
      #expect(statistics.inboundRTP.first { $0.kind == .audio }?.playoutId == playout.id)
      #expect(transport.text("srtpCipher") == "SRTP_AEAD_AES_128_GCM")
      #expect(party.connection.connectionState == .connected)
      #expect(party.connection.dtlsTransportState == .connected)
      #expect(party.connection.iceGatheringState == .complete)
      let states = party.received.withLock { $0.iceStates }
      #expect(states.first == .checking && states.last == party.connection.iceConnectionState)
      #expect(!states.contains(.failed) && !states.contains(.disconnected))
      party.stopMedia()
    }
    caller.connection.close()
    try await callee.waitUntil { $0.states.contains(.failed) || $0.states.contains(.closed) }
    callee.connection.close()
  }

  /// `estimatedPlayoutTimestamp`: when what is played now was captured, by the sender's clock, which is the receiver's here.
  @Test(.timeLimit(.minutes(5))) func timesOfCaptureOfWhatIsPlayed() async throws {
    let (caller, callee) = try await Party.pair()
    try await Party.negotiate(from: caller, to: callee)
    caller.startMedia()
    callee.startMedia()
    // A sender's report tells what its timestamps mean; one comes within seconds.
    var ages: [MediaKind: Double] = [:]
    while ages.count < 2 {
      let statistics = await callee.connection.statistics()
      // Milliseconds since 1900.
      let now = Date().timeIntervalSince1970 * 1000 + 2_208_988_800_000
      for stream in statistics.inboundRTP {
        if let captured = stream.estimatedPlayoutTimestamp { ages[stream.kind] = now - captured }
      }
      try await Task.sleep(for: .milliseconds(20))
    }
    print("captured before it is played: \(ages) ms")
    for age in ages.values { #expect(age > 0 && age < 2_000) }
    for party in [caller, callee] {
      party.stopMedia()
      party.connection.close()
    }
  }
}

/// How long what was received is held.
@Suite(.serialized) struct JitterBufferTargetTests {
  @Test(.timeLimit(.minutes(5))) func pictureAndSoundAreHeldAsLongAsWasAsked() async throws {
    let (caller, callee) = try await Party.pair { $0.jitterBufferTarget = .milliseconds(250) }
    try await Party.negotiate(from: caller, to: callee)
    caller.startMedia()
    callee.startMedia()
    // One party has it from its settings, the other is told later.
    let (told, untold) = (caller.connection.transceivers, callee.connection.transceivers)
    #expect(told.map(\.receiver.jitterBufferTarget) == [.milliseconds(250), .milliseconds(250)])
    #expect(untold.map(\.receiver.jitterBufferTarget) == [nil, nil])
    for receiver in (told + untold).map(\.receiver) {
      receiver.jitterBufferTarget = .seconds(-3)
      #expect(receiver.jitterBufferTarget == .zero)
      receiver.jitterBufferTarget = .seconds(60)
      #expect(receiver.jitterBufferTarget == .seconds(4))
      receiver.jitterBufferTarget = .milliseconds(250)
    }
    for party in [caller, callee] { try await party.waitForDelays { $0 > 0.2 && $0 < 0.5 } }
    for transceiver in callee.connection.transceivers {
      transceiver.receiver.jitterBufferTarget = transceiver.mediaType == .video ? .zero : nil
    }
    try await callee.waitForDelays { $0 < 0.1 }
    for party in [caller, callee] {
      party.stopMedia()
      party.connection.close()
    }
  }
}

extension Party {
  /// Waits until what both media were held in the last half second is as wanted, in seconds.
  fileprivate func waitForDelays(_ condition: (Double) -> Bool) async throws {
    var wanted: Set<MediaKind> = [.audio, .video]
    var last: [MediaKind: RTCInboundRtpStreamStats] = [:]
    while !wanted.isEmpty {
      for stream in await connection.statistics().inboundRTP {
        defer { last[stream.kind] = stream }
        guard let earlier = last[stream.kind] else { continue }
        let count = stream.jitterBufferEmittedCount - earlier.jitterBufferEmittedCount
        let held = stream.jitterBufferDelay - earlier.jitterBufferDelay
        if count > 0, condition(held.inSeconds / Double(count)) { wanted.remove(stream.kind) }
      }
      try await Task.sleep(for: .milliseconds(500))
    }
  }
}

/// What may be sent, as it changes.
@Suite(.serialized) struct SendBandwidthTests {
  @Test(.timeLimit(.minutes(5))) func estimateTargetsAndReasonsAreAStream() async throws {
    let (caller, callee) = try await Party.pair()
    try await Party.negotiate(from: caller, to: callee)
    caller.startMedia()
    // What is encoded has a target and a size, and the first estimate is below what the pictures can use.
    var limits: Set<RTCSendBandwidth.Limit> = []
    for await bandwidth in caller.connection.sendBandwidth {
      let video = try #require(bandwidth.tracks.first { $0.kind == .video })
      let audio = try #require(bandwidth.tracks.first { $0.kind == .audio })
      #expect(bandwidth.estimate.bitsPerSecond > 0 && audio.target > .zero)
      limits.insert(video.limit)
      guard let layer = video.layers.first, layer.target > .zero, layer.width > 0 else { continue }
      #expect(layer.rid == nil && layer.target <= video.target)
      if limits.contains(.bandwidth), bandwidth.estimate > .megabits(1) { break }
    }
    caller.stopMedia()
    // It ends with the connection, also for who begins after that.
    let another = caller.connection.sendBandwidth
    caller.connection.close()
    for await _ in another {}
    for await _ in caller.connection.sendBandwidth {}
    callee.connection.close()
  }
}

/// What comes before the decoder.
@Suite(.serialized) struct EncodedFrameTests {
  @Test(.timeLimit(.minutes(5))) func framesAreThereBeforeTheyAreDecoded() async throws {
    // Sound comes with copies of earlier packets, which aren't packets of their own.
    let (caller, callee) = try await Party.pair { $0.audioRedundancy = 1 }
    try await Party.negotiate(from: caller, to: callee)
    caller.startMedia()
    try await callee.waitUntil { $0.stamps.count >= 10 }
    let taps = callee.connection.transceivers.map { ($0.receiver, EncodedCollector()) }
    for (receiver, tap) in taps { receiver.addEncodedFrameSink(tap) }
    let video = try #require(taps.first { $0.0.track.kind == "video" }?.1)
    let audio = try #require(taps.first { $0.0.track.kind == "audio" }?.1)
    // The next key frame would be a long time off: one is asked for.
    try await video.waitUntil { $0.contains { $0.frame.isKeyFrame } && $0.count > 60 }
    try await audio.waitUntil { $0.count > 60 && $0.last?.captureTime != nil }
    try await video.waitUntil { $0.last?.captureTime != nil }
    for (receiver, tap) in taps { receiver.removeEncodedFrameSink(tap) }

    let pictures = video.frames
    #expect(pictures.allSatisfy { $0.codec.kind == .video && $0.frame.payload.count > 0 })
    for (earlier, later) in zip(pictures, pictures.dropFirst()) {
      #expect(Int32(bitPattern: later.frame.rtpTimestamp &- earlier.frame.rtpTimestamp) > 0)
      #expect(later.receiveTime >= earlier.receiveTime)
    }
    let sounds = audio.frames
    #expect(sounds.allSatisfy { $0.codec == .opus })
    var last: UInt32?
    for sound in sounds {
      if let last { #expect(sound.frame.rtpTimestamp != last) }
      last = sound.frame.rtpTimestamp
    }
    // Both are on one clock, which is this machine's.
    for tap in [pictures, sounds] {
      let newest = try #require(tap.last)
      let capture = try #require(newest.captureTime)
      let here =
        Double(SystemClock.realtimeNanoseconds) / 1e9
        - (SystemClock.now - newest.receiveTime).inSeconds
      #expect(abs(here - capture.inSeconds) < 2)
    }
    // After they were removed nothing comes.
    let count = callee.received.withLock { $0.stamps.count }
    try await callee.waitUntil { $0.stamps.count >= count + 5 }
    #expect(video.frames.count <= pictures.count + 2)
    caller.stopMedia()
    caller.connection.close()
    callee.connection.close()
  }
}

extension EncodedFrameTests {
  /// Receivers take timestamps that go back for packets that come too late.
  @Test(.timeLimit(.minutes(5))) func anotherTrackOfSoundGoesOnInTime() async throws {
    let (caller, callee) = try await Party.pair()
    try await Party.negotiate(from: caller, to: callee)
    caller.startMedia()
    let receiver = try #require(callee.connection.receivers.first { $0.track is RTCAudioTrack })
    let sound = EncodedCollector()
    receiver.addEncodedFrameSink(sound)
    try await sound.waitUntil { $0.count > 100 }
    let sender = try #require(caller.connection.senders.first { $0.track is RTCAudioTrack })
    let track = try #require(sender.track as? RTCAudioTrack)
    sender.track = RTCPeerConnectionFactory().audioTrack(with: track.source, trackId: "another")
    let count = sound.frames.count
    try await sound.waitUntil { $0.count > count + 50 }
    let times = sound.frames.map(\.frame.rtpTimestamp)
    for (earlier, later) in zip(times, times.dropFirst()) {
      // Packets may overtake each other, but none comes from seconds ago or from hours ahead.
      #expect(abs(Int(Int32(bitPattern: later &- earlier))) < 48_000)
    }
    caller.stopMedia()
    caller.connection.close()
    callee.connection.close()
  }
}

/// Keeps encoded frames, and asks for a key frame when it is added.
private final class EncodedCollector: EncodedFrameSink {
  private let state = Mutex<[EncodedTrackFrame]>([])

  var frames: [EncodedTrackFrame] { state.withLock { $0 } }

  func receive(_ frame: EncodedTrackFrame) { state.withLock { $0.append(frame) } }

  func attached(to kind: MediaKind, requestKeyFrame request: @escaping @Sendable () -> Void) {
    if kind == .video { request() }
  }

  func waitUntil(_ condition: ([EncodedTrackFrame]) -> Bool) async throws {
    while !condition(frames) { try await Task.sleep(for: .milliseconds(5)) }
  }
}

/// One end of a call: sends the test pattern and a tone, and notes what it receives.
final class Party: RTCPeerConnectionDelegate, VideoSink, AudioSink, Sendable {
  struct Received: Sendable {
    var stamps: [FrameStamp] = []
    var psnr: [Double] = []
    var audioSamples = 0
    var peakLevel: Int16 = 0
    var states: [RTCPeerConnectionState] = []
    var iceStates: [RTCIceConnectionState] = []
    var candidates: [RTCIceCandidate] = []
    var streams: [String] = []
    var failure: PeerTransportError?
    /// How often an offer was wanted.
    var needs = 0
  }

  let connection: RTCPeerConnection
  let stream: RTCMediaStream
  let received = Mutex(Received())
  private let video: RTCVideoSource
  private let audio: RTCAudioSource
  private let stop = Mutex<@Sendable () -> Void>({})

  init(
    _ factory: RTCPeerConnectionFactory, _ name: String,
    _ change: (inout RTCSettings) -> Void = { _ in }
  ) throws {
    var configuration = RTCConfiguration()
    change(&configuration.settings)
    connection = try #require(factory.peerConnection(with: configuration))
    video = factory.videoSource()
    audio = factory.audioSource()
    stream = factory.mediaStream(withStreamId: name)
    stream.addVideoTrack(factory.videoTrack(with: video, trackId: "\(name)-video"))
    stream.addAudioTrack(factory.audioTrack(with: audio, trackId: "\(name)-audio"))
    connection.delegate = self
  }

  /// Two with their streams, which know nothing of each other yet.
  static func pair(
    _ changeCaller: (inout RTCSettings) -> Void = { _ in }
  ) async throws -> (caller: Party, callee: Party) {
    let factory = RTCPeerConnectionFactory()
    let caller = try Party(factory, "caller", changeCaller)
    let callee = try Party(factory, "callee")
    for party in [caller, callee] { try await party.connection.add(party.stream) }
    return (caller, callee)
  }

  static func negotiate(from a: Party, to b: Party) async throws {
    let offer = try await a.connection.offer()
    try await a.connection.setLocalDescription(offer)
    try await b.connection.setRemoteDescription(try #require(a.connection.localDescription))
    let answer = try await b.connection.answer()
    try await b.connection.setLocalDescription(answer)
    try await a.connection.setRemoteDescription(try #require(b.connection.localDescription))
  }

  func startMedia() {
    let pattern = TestPattern(width: 320, height: 180)
    let next = Mutex(UInt32(0))
    let source = DispatchSource.makeTimerSource(queue: .global())
    source.schedule(deadline: .now(), repeating: 1.0 / 30)
    source.setEventHandler { [video, audio] in
      let index = next.withLock { next in
        defer { next += 1 }
        return next
      }
      var tone = ToneSource()
      tone.position = Int64(index) * 1600
      var samples = [Int16](repeating: 0, count: 1600)
      samples.withUnsafeMutableBufferPointer { tone.read(into: $0) }
      let milliseconds = UInt32(truncatingIfNeeded: SystemClock.realtimeMilliseconds)
      let now = SystemClock.now
      video.push(
        RawVideoFrame(
          buffer: pattern.frame(index: index, milliseconds: milliseconds), timestamp: now))
      audio.push(AudioFrame(samples: samples, sampleRate: 48_000, channels: 1, timestamp: now))
    }
    source.resume()
    stop.withLock { $0 = { [source = Unchecked(source)] in source.value.cancel() } }
  }

  func stopMedia() { stop.withLock { $0 }() }

  func waitUntil(_ condition: (Received) -> Bool) async throws {
    while !received.withLock({ condition($0) }) {
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  func receive(_ frame: RawVideoFrame) {
    guard let stamp = FrameStamp(reading: frame.buffer) else { return }
    let drawn = TestPattern(width: frame.width, height: frame.height).frame(
      index: stamp.index, milliseconds: stamp.milliseconds)
    let quality = PictureQuality.psnr(drawn, frame.buffer)
    received.withLock {
      $0.stamps.append(stamp)
      if let quality { $0.psnr.append(quality) }
    }
  }

  func receive(_ frame: AudioFrame) {
    received.withLock {
      $0.audioSamples += frame.frameCount
      $0.peakLevel = max($0.peakLevel, frame.samples.max() ?? 0)
    }
  }

  func peerConnection(_: RTCPeerConnection, didChange newState: RTCPeerConnectionState) {
    received.withLock { $0.states.append(newState) }
  }
  func peerConnection(_: RTCPeerConnection, didChange newState: RTCIceConnectionState) {
    received.withLock { $0.iceStates.append(newState) }
  }
  func peerConnection(_: RTCPeerConnection, didGenerate candidate: RTCIceCandidate) {
    received.withLock { $0.candidates.append(candidate) }
  }
  func peerConnectionShouldNegotiate(_: RTCPeerConnection) { received.withLock { $0.needs += 1 } }
  func peerConnection(_: RTCPeerConnection, didFailWith error: PeerTransportError) {
    received.withLock { $0.failure = error }
  }
  func peerConnection(_: RTCPeerConnection, didAdd stream: RTCMediaStream) {
    received.withLock { $0.streams.append(stream.streamId) }
    for track in stream.videoTracks { track.add(sink: self) }
    for track in stream.audioTracks { track.add(sink: self) }
  }
}

/// A timer, which Dispatch lets any thread cancel.
private struct Unchecked: @unchecked Sendable {
  let value: any DispatchSourceTimer
  init(_ value: any DispatchSourceTimer) { self.value = value }
}
