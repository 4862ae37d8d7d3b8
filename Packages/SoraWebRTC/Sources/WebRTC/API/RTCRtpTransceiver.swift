public import SoraMedia
import Synchronization

/// Sends a track in an m-section. Safe from any thread.
public final class RTCRtpSender: Sendable {
  private struct State: Sendable {
    var track: RTCMediaStreamTrack?
    var streamIds: [String] = []
    var parameters = RTCRtpParameters(encodings: [RTCRtpEncodingParameters()])
  }

  public let senderId: String
  /// Plays keys of a telephone in the place of audio; nil for video.
  public let dtmfSender: RTCDtmfSender?
  private let state = Mutex(State())
  private let changed: @Sendable () -> Void
  private let parametersChanged: @Sendable () -> Void

  /// - Parameters:
  ///   - changed: called when the track or its streams were set.
  ///   - parametersChanged: called when the parameters were set.
  ///   - dtmfSender: for audio.
  init(
    senderId: String, changed: @escaping @Sendable () -> Void,
    parametersChanged: @escaping @Sendable () -> Void, dtmfSender: RTCDtmfSender?
  ) {
    self.senderId = senderId
    self.dtmfSender = dtmfSender
    self.changed = changed
    self.parametersChanged = parametersChanged
  }

  /// What is sent. Setting it lets the transceiver send with the next description.
  public var track: RTCMediaStreamTrack? {
    get { state.withLock { $0.track } }
    set {
      state.withLock { $0.track = newValue }
      changed()
    }
  }

  /// The streams that the track belongs to.
  public var streamIds: [String] {
    get { state.withLock { $0.streamIds } }
    set {
      state.withLock { $0.streamIds = newValue }
      changed()
    }
  }

  /// Sets what was attached while the transceiver was made, which the negotiator knows already.
  func initialize(track: RTCMediaStreamTrack?, streamIds: [String]) {
    state.withLock {
      $0.track = track
      $0.streamIds = streamIds
    }
  }

  /// Encodings, lowest first, and the degradation preference; in force from the next frame on, and across later descriptions. There is
  /// one encoding for each that the descriptions name, with its `rid` where there are several; others say nothing.
  public var parameters: RTCRtpParameters {
    get { state.withLock { $0.parameters } }
    set {
      state.withLock { $0.parameters = newValue }
      parametersChanged()
    }
  }

  /// Puts the encodings that the descriptions name into the parameters (W3C webrtc-pc §4.4.1.5), with what the application has set
  /// for them: those of an offer before it is answered, so that they can be set in between.
  ///
  /// - Returns: the parameters where that changed them.
  func setEncodings(rids: [String?]) -> RTCRtpParameters? {
    state.withLock { state in
      guard state.parameters.encodings.map(\.rid) != rids else { return nil }
      let known = state.parameters.encodings
      state.parameters.encodings = rids.map { rid in
        if let same = known.first(where: { $0.rid == rid }) { return same }
        // A single encoding has no name of its own: what was set before stays.
        if rids.count == 1, var only = known.first {
          only.rid = rid
          return only
        }
        return RTCRtpEncodingParameters(rid: rid)
      }
      return state.parameters
    }
  }
}

/// Receives a track in an m-section. Safe from any thread.
public final class RTCRtpReceiver: Sendable {
  /// Most that `jitterBufferTarget` can be.
  static let longestTarget = Duration.seconds(4)

  public let receiverId: String
  public let track: RTCMediaStreamTrack
  private let target: Mutex<Duration?>
  private let targetChanged: @Sendable () -> Void

  /// - Parameters:
  ///   - jitterBufferTarget: the first one.
  ///   - targetChanged: called when it was set.
  init(
    receiverId: String, track: RTCMediaStreamTrack, jitterBufferTarget: Duration?,
    targetChanged: @escaping @Sendable () -> Void
  ) {
    self.receiverId = receiverId
    self.track = track
    target = Mutex(Self.bounded(jitterBufferTarget))
    self.targetChanged = targetChanged
  }

  /// How long media wait in the jitter buffer, counted from the fastest packets (W3C webrtc-extensions, `jitterBufferTarget`): 0 to 4 s,
  /// others are clamped. nil goes by the path's jitter; first it is `RTCSettings.jitterBufferTarget`. In force within 200 ms.
  ///
  /// Video waits for so long, whatever its jitter, and what comes later is shown when it comes: with zero each picture is shown as soon as
  /// it can be decoded, which is the least delay, and motion is as uneven as the path. It isn't held back for its audio then. High
  /// rates fill the buffer before the time is over. Audio, which would have gaps, waits for so long at least.
  public var jitterBufferTarget: Duration? {
    get { target.withLock { $0 } }
    set {
      target.withLock { $0 = Self.bounded(newValue) }
      targetChanged()
    }
  }

  private static func bounded(_ target: Duration?) -> Duration? {
    target.map { min(max($0, .zero), longestTarget) }
  }

  /// Gives the frames to `sink` before they are decoded: `RTCMediaStreamTrack.addEncodedFrameSink(_:)` of the receiver's track.
  public func addEncodedFrameSink(_ sink: any EncodedFrameSink) { track.addEncodedFrameSink(sink) }
  public func removeEncodedFrameSink(_ sink: any EncodedFrameSink) {
    track.removeEncodedFrameSink(sink)
  }
}

/// A sender and a receiver that share an m-section. Safe from any thread.
public final class RTCRtpTransceiver: Sendable {
  public let mediaType: RTCRtpMediaType
  public let sender: RTCRtpSender
  public let receiver: RTCRtpReceiver

  /// `JSEPTransceiver.id` in the connection's negotiator.
  let id: Int
  private struct State: Sendable {
    var mid = ""
    var direction: RTCRtpTransceiverDirection
    var currentDirection: RTCRtpTransceiverDirection?
  }
  private let state: Mutex<State>
  private let directionChanged: @Sendable (RTCRtpTransceiverDirection) -> Void

  init(
    id: Int, kind: MediaKind, direction: RTCRtpTransceiverDirection, sender: RTCRtpSender,
    receiver: RTCRtpReceiver,
    directionChanged: @escaping @Sendable (RTCRtpTransceiverDirection) -> Void
  ) {
    self.id = id
    mediaType = kind == .audio ? .audio : .video
    self.sender = sender
    self.receiver = receiver
    state = Mutex(State(direction: direction))
    self.directionChanged = directionChanged
  }

  /// The id of its m-section; empty before one is negotiated.
  public var mid: String { state.withLock { $0.mid } }

  /// What the next description offers or answers.
  public var direction: RTCRtpTransceiverDirection { state.withLock { $0.direction } }

  /// What was negotiated last; nil before that.
  public var currentDirection: RTCRtpTransceiverDirection? {
    state.withLock { $0.currentDirection }
  }

  public func setDirection(_ direction: RTCRtpTransceiverDirection) {
    state.withLock { $0.direction = direction }
    directionChanged(direction)
  }

  func update(mid: String, current: RTCRtpTransceiverDirection?) {
    state.withLock {
      $0.mid = mid
      $0.currentDirection = current
    }
  }
}
