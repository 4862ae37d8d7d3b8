import Dispatch
import SoraAudio
import SoraMedia
import SoraRTP
import Synchronization
import WebRTC

/// Holds up whoever passes, until it is opened. Gives up after a minute, so that a test that would hang fails instead.
final class Gate: Sendable {
  private let isOpen: Mutex<Bool>
  private let gaveUp = Mutex(false)
  private let opened = DispatchSemaphore(value: 0)
  /// Signalled by everybody who comes to the gate.
  let reached = DispatchSemaphore(value: 0)

  init(isOpen: Bool = false) { self.isOpen = Mutex(isOpen) }

  /// Whether somebody didn't wait for `open`.
  var hasGivenUp: Bool { gaveUp.withLock { $0 } }

  func pass() {
    reached.signal()
    if isOpen.withLock({ $0 }) { return }
    if opened.wait(timeout: .now() + 60) == .timedOut { gaveUp.withLock { $0 = true } }
    opened.signal()
  }

  func open() {
    isOpen.withLock { $0 = true }
    opened.signal()
  }
}

/// Decodes to silence, once its gate is open.
final class GatedDecoder: AudioPayloadDecoder {
  private let gate: Gate
  private let silent = SilentPayloadDecoder()

  init(_ gate: Gate) { self.gate = gate }

  var channels: Int { silent.channels }
  func sampleCount(of payload: Span<UInt8>) -> Int? { silent.sampleCount(of: payload) }
  func redundantSampleCount(of payload: Span<UInt8>) -> Int { 0 }
  func isSilence(_ payload: Span<UInt8>) -> Bool { false }

  func decode(
    _ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int {
    gate.pass()
    return try silent.decode(payload, into: &samples)
  }

  func decodeRedundancy(
    of payload: Span<UInt8>, sampleCount: Int,
    into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int {
    try silent.decodeRedundancy(of: payload, sampleCount: sampleCount, into: &samples)
  }

  func conceal(
    sampleCount: Int, into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int {
    try silent.conceal(sampleCount: sampleCount, into: &samples)
  }

  func reset() {}
}

/// Notes the times of the frames it takes, each after passing the gate.
final class GatedSink: AudioSink {
  let gate: Gate
  private let frames = Mutex<[AudioFrame]>([])

  init(isOpen: Bool) { gate = Gate(isOpen: isOpen) }

  var received: [AudioFrame] { frames.withLock { $0 } }

  func receive(_ frame: AudioFrame) {
    gate.pass()
    frames.withLock { $0.append(frame) }
  }
}

/// A received track with its pipeline, played by hand in virtual time.
struct AudioReceiving {
  static let start = Instant(nanoseconds: 1_000_000_000)

  let sinkQueue = DispatchQueue(label: "test.sinks")
  let track: RTCAudioTrack
  let pipeline: AudioReceivePipeline

  init(decoder: any AudioPayloadDecoder = SilentPayloadDecoder()) {
    let factory = RTCPeerConnectionFactory()
    track = factory.audioTrack(with: factory.audioSource(), trackId: "received")
    pipeline = AudioReceivePipeline(track: track, decoder: decoder, sinkQueue: sinkQueue)
  }

  /// Packet `number` of 20 ms, on time unless told otherwise.
  func insert(_ number: Int, at time: Instant? = nil, payload: [UInt8] = [1, 2, 3, 4]) {
    payload.withUnsafeBytes {
      pipeline.insert(Self.header(number), $0, at: time ?? Self.start + .milliseconds(20 * number))
    }
  }

  func insertRedundant(_ number: Int, codec: UInt8, payload: [UInt8]) {
    payload.withUnsafeBytes {
      pipeline.insertRedundant(
        Self.header(number), $0, codec: codec, at: Self.start + .milliseconds(20 * number))
    }
  }

  private static func header(_ number: Int) -> RTPHeader {
    RTPHeader(
      payloadType: 111, sequenceNumber: UInt16(truncatingIfNeeded: number),
      timestamp: UInt32(truncatingIfNeeded: 960 * number), ssrc: 1)
  }

  func playOut(_ period: Int) { pipeline.playOut(at: Self.start + .milliseconds(10 * period)) }

  /// Packets on time, and what is played meanwhile.
  func run(_ periods: Range<Int>) {
    for period in periods {
      if period.isMultiple(of: 2) { insert(period / 2) }
      playOut(period)
    }
  }

  /// Waits for the sinks to have taken what they were given. Each frame is a job that puts the next one's behind itself.
  func finishDelivery() { for _ in 0..<100 { sinkQueue.sync {} } }
}
