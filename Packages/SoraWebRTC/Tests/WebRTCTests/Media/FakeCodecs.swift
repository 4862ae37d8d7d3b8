import Dispatch
import SoraCodecs
import SoraMedia
import Synchronization

/// A clock that tests set.
final class ManualClock: Sendable {
  private let time = Mutex(Instant(nanoseconds: 1_000_000_000))
  var now: Instant { time.withLock { $0 } }
  func advance(_ duration: Duration) { time.withLock { $0 += duration } }
}

/// What a fake codec was told, and what it is to do.
final class CodecScript: Sendable {
  struct Encoded: Sendable, Equatable {
    var width: Int
    var height: Int
    var isForced: Bool
    var microseconds: Int64
    var firstLuma: UInt8
  }

  struct State: Sendable {
    var encoded: [Encoded] = []
    var made: [VideoEncoderSettings] = []
    var rates: [(bits: Int, rate: Double)] = []
    var decoded: [UInt32] = []
    var decodersMade = 0
    /// What a frame costs on the clock.
    var cost = Duration.zero
    /// Time a megapixel costs on the clock, in addition.
    var costPerMegapixel = Duration.zero
    /// Numbers of the calls (from 0) that fail, and of the decoder's calls, by RTP timestamp.
    var failingCalls: Set<Int> = []
    var failingTimestamps: [UInt32: CodecError] = [:]
    var damagedTimestamps: Set<UInt32> = []
  }

  let clock = ManualClock()
  let state = Mutex(State())
  /// While set, coding waits until it is signalled, once a frame.
  let gate: DispatchSemaphore?
  /// Signalled when coding begins.
  let begun = DispatchSemaphore(value: 0)

  init(isGated: Bool = false) { gate = isGated ? DispatchSemaphore(value: 0) : nil }

  func waitAtGate() {
    begun.signal()
    gate?.wait()
  }
}

/// Takes the time that its script says, on the script's clock.
final class ScriptedEncoder: VideoEncoder {
  let kind = VideoCodecKind.vp8
  let implementationName = "scripted"
  private(set) var settings: VideoEncoderSettings
  private let script: CodecScript
  private var isFirst = true

  init(_ settings: VideoEncoderSettings, _ script: CodecScript) {
    self.settings = settings
    self.script = script
    script.state.withLock { $0.made.append(settings) }
  }

  func setRates(targetBitsPerSecond: Int, framesPerSecond: Double) {
    script.state.withLock { $0.rates.append((targetBitsPerSecond, framesPerSecond)) }
  }

  func encode(_ frame: RawVideoFrame, forceKeyFrame: Bool, rtpTimestamp: UInt32) throws(CodecError)
    -> EncodedFrame?
  {
    script.waitAtGate()
    let (cost, fails) = script.state.withLock { state -> (Duration, Bool) in
      let fails = state.failingCalls.contains(state.encoded.count)
      state.encoded.append(
        .init(
          width: frame.width, height: frame.height, isForced: forceKeyFrame,
          microseconds: frame.timestamp.microseconds, firstLuma: frame.buffer.plane(0).row(0)[0]))
      let pixels = Double(frame.width * frame.height) / 1e6
      return (state.cost + state.costPerMegapixel * pixels, fails)
    }
    script.clock.advance(cost)
    if fails { throw .library(name: "scripted", operation: "encode", code: 1, detail: "told to") }
    let isKey =
      isFirst || forceKeyFrame || frame.width != settings.width || frame.height != settings.height
    isFirst = false
    settings.width = frame.width
    settings.height = frame.height
    return EncodedFrame(
      payload: EncodedBuffer([1]), isKeyFrame: isKey, rtpTimestamp: rtpTimestamp,
      timestamp: frame.timestamp, width: frame.width, height: frame.height)
  }
}

/// Fails where its script says so.
final class ScriptedDecoder: VideoDecoder {
  let kind = VideoCodecKind.vp8
  let implementationName = "scripted"
  private(set) var needsKeyFrame = false
  private(set) var isLastFrameCorrupted = false
  private let script: CodecScript
  private let picture = PixelBuffer.grey(16, 16)

  init(_ script: CodecScript) {
    self.script = script
    script.state.withLock { $0.decodersMade += 1 }
  }

  func decode(_ frame: EncodedFrame) throws(CodecError) -> RawVideoFrame? {
    script.waitAtGate()
    let (error, isDamaged) = script.state.withLock { state -> (CodecError?, Bool) in
      state.decoded.append(frame.rtpTimestamp)
      return (
        state.failingTimestamps[frame.rtpTimestamp],
        state.damagedTimestamps.contains(frame.rtpTimestamp)
      )
    }
    if let error { throw error }
    isLastFrameCorrupted = isDamaged
    return RawVideoFrame(
      buffer: picture, timestamp: frame.timestamp, rtpTimestamp: frame.rtpTimestamp)
  }
}

extension PixelBuffer {
  static func grey(_ width: Int, _ height: Int, luma: UInt8 = 128) -> PixelBuffer {
    PixelBuffer(width: width, height: height) { planes in
      for (index, plane) in planes.enumerated() {
        for y in 0..<plane.height {
          plane.row(y).initializeMemory(as: UInt8.self, repeating: index == 0 ? luma : 128)
        }
      }
    }
  }
}
