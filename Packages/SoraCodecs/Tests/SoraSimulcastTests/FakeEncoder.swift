import SoraCodecs
import SoraMedia
import Synchronization

/// What fake encoders were told, by the width that they were made for.
final class EncoderLog: Sendable {
  struct Call: Sendable, Equatable {
    var width: Int
    var height: Int
    var isForced: Bool
    var rtpTimestamp: UInt32
  }

  let calls = Mutex<[Call]>([])
  let made = Mutex<[VideoEncoderSettings]>([])
  let rates = Mutex<[(width: Int, bits: Int, rate: Double)]>([])
  /// Who was to be faster: by the clock that it was asked at and its own, and whether it might have slowed down.
  let faster = Mutex<[(width: Int, now: Instant, clock: Instant?, maySlowDown: Bool)]>([])
  /// Widths whose encoders fail.
  let failing = Mutex<Set<Int>>([])
  /// Widths whose encoders drop the frame.
  let dropping = Mutex<Set<Int>>([])

  func takeCalls() -> [Call] {
    calls.withLock { calls in
      defer { calls = [] }
      return calls.sorted { $0.width < $1.width }
    }
  }
}

/// Writes down what it is told and makes a frame of one byte.
final class FakeEncoder: SpeedControlledEncoder {
  let kind = VideoCodecKind.vp8
  let implementationName = "fake"
  private(set) var settings: VideoEncoderSettings
  private let log: EncoderLog
  private var isFirst = true
  var clock: (@Sendable () -> Instant)?
  var maySlowDown = true
  /// Speeds that are faster than the present one.
  private var fasterSpeeds = 1

  init(_ settings: VideoEncoderSettings, _ log: EncoderLog) {
    self.settings = settings
    self.log = log
    log.made.withLock { $0.append(settings) }
  }

  var canBeFaster: Bool { fasterSpeeds > 0 }

  func beFaster(at now: Instant) {
    fasterSpeeds -= 1
    log.faster.withLock { $0.append((settings.width, now, clock?(), maySlowDown)) }
  }

  func setRates(targetBitsPerSecond: Int, framesPerSecond: Double) {
    log.rates.withLock { $0.append((settings.width, targetBitsPerSecond, framesPerSecond)) }
  }

  func encode(_ frame: RawVideoFrame, forceKeyFrame: Bool, rtpTimestamp: UInt32) throws(CodecError)
    -> EncodedFrame?
  {
    log.calls.withLock {
      $0.append(
        .init(
          width: frame.width, height: frame.height, isForced: forceKeyFrame,
          rtpTimestamp: rtpTimestamp))
    }
    if log.failing.withLock({ $0.contains(frame.width) }) {
      throw .library(name: "fake", operation: "encode", code: 1, detail: "told to fail")
    }
    if log.dropping.withLock({ $0.contains(frame.width) }) { return nil }
    let isKey = isFirst || forceKeyFrame || frame.width != settings.width
    settings.width = frame.width
    isFirst = false
    return EncodedFrame(
      payload: EncodedBuffer([1]), isKeyFrame: isKey, rtpTimestamp: rtpTimestamp,
      timestamp: frame.timestamp, width: frame.width, height: frame.height)
  }
}
