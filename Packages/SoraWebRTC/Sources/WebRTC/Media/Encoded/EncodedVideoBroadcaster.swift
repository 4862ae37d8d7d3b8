package import SoraMedia
import Synchronization

/// Takes frames that are encoded already, on the thread that pushes them.
package protocol EncodedVideoSink: AnyObject, Sendable {
  func receive(_ frame: EncodedFrame, codec: VideoCodecKind)
  /// The negotiated codec.
  var kind: VideoCodecKind { get }
  /// Bits per second that the link takes.
  var targetBitrate: Int { get }
}

/// Told what those who send a source's encoded frames want of it; on any thread.
package protocol EncodedVideoFeedback: AnyObject, Sendable {
  func needsKeyFrame()
  /// The least that one of them takes.
  func targetBitrateChanged(_ bitsPerSecond: Int)
  /// One of them begins.
  func isSent(as codec: VideoCodecKind)
}

/// Fans a source's encoded frames out to those who send them, and tells the source what they want. Sinks and feedback run outside the
/// lock.
package final class EncodedVideoBroadcaster: Sendable {
  private struct State {
    var sinks: [any EncodedVideoSink] = []
    var handling = RTCEncodedFrameHandling.passThrough
    var hasFixedBitrate = false
    var feedback: (any EncodedVideoFeedback)?
    var toldBitrate: Int?
  }
  private let state = Mutex(State())

  var handling: RTCEncodedFrameHandling {
    get { state.withLock { $0.handling } }
    set { state.withLock { $0.handling = newValue } }
  }

  /// Whether the source gives what it gives, whatever rate is wanted.
  var hasFixedBitrate: Bool {
    get { state.withLock { $0.hasFixedBitrate } }
    set { state.withLock { $0.hasFixedBitrate = newValue } }
  }

  var feedback: (any EncodedVideoFeedback)? {
    get { state.withLock { $0.feedback } }
    set {
      state.withLock {
        $0.feedback = newValue
        $0.toldBitrate = nil
      }
    }
  }

  var codecs: Set<VideoCodecKind> { Set(state.withLock { $0.sinks }.map(\.kind)) }

  func add(_ sink: any EncodedVideoSink) { state.withLock { $0.sinks.append(sink) } }
  func remove(_ sink: any EncodedVideoSink) {
    state.withLock { $0.sinks.removeAll { $0 === sink } }
  }

  func push(_ frame: EncodedFrame, codec: VideoCodecKind) {
    for sink in state.withLock({ $0.sinks }) { sink.receive(frame, codec: codec) }
  }

  func requestKeyFrame() { feedback?.needsKeyFrame() }

  /// Tells the least that one of those who send takes, where it has changed by more than a twentieth.
  func bitrateChanged() {
    let sinks = state.withLock { $0.sinks }
    guard let least = sinks.map(\.targetBitrate).min() else { return }
    let feedback = state.withLock { state -> (any EncodedVideoFeedback)? in
      if let told = state.toldBitrate, abs(told - least) <= told / 20 { return nil }
      guard let feedback = state.feedback else { return nil }
      state.toldBitrate = least
      return feedback
    }
    feedback?.targetBitrateChanged(least)
  }
}
