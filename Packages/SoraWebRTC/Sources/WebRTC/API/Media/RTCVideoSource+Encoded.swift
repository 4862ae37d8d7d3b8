public import SoraMedia

/// Told what those who receive a source's encoded frames want of it. Called on any thread: return at once, and do the work elsewhere.
public protocol RTCEncodedVideoSourceDelegate: AnyObject, Sendable {
  /// The next frame is to be a key frame, if that can be had: somebody has come, or has lost frames. Asked again, at most once per
  /// second for each connection, while none comes.
  func videoSourceNeedsKeyFrame(_ source: RTCVideoSource)
  /// A connection begins to send the source: from now on frames aren't given in vain.
  func videoSource(_ source: RTCVideoSource, isSentAs codec: VideoCodecKind)
  /// The network takes so many bits per second now, the least where there are several connections. A source that gives more has frames
  /// left out, up to a key frame.
  func videoSource(_ source: RTCVideoSource, targetBitrateChanged bitsPerSecond: Int)
}

extension RTCEncodedVideoSourceDelegate {
  public func videoSource(_ source: RTCVideoSource, isSentAs codec: VideoCodecKind) {}
}

/// Frames that are encoded already: a camera's that encodes, or a file's.
extension RTCVideoSource {
  /// Sends a frame without encoding it again, where its codec is the negotiated one; `encodedFrameHandling` says what else.
  ///
  /// The stream of each connection begins with a key frame: what comes before is dropped, and a key frame asked for. Where the network
  /// takes less than the source gives, frames are left out that no other refers to, and then all up to a key frame. Frames that were
  /// left out are counted in `RTCStatisticsReport.packetDrops`. Local renderers see nothing of encoded frames.
  ///
  /// - Parameters:
  ///   - frame: one picture. H.264 and H.265 with start codes (Annex B), or each unit behind four bytes of length as in MP4 files;
  ///     key frames without parameter sets get those that came last, which may come by themselves, too. AV1: a temporal unit.
  ///     `timestamp` is the time of capture on the monotonic clock; the RTP timestamp is made from it. `isKeyFrame` is read from the
  ///     bytes where the codec is VP8, H.264 or H.265.
  ///   - codec: what it is encoded with.
  ///
  /// From one thread at a time. Don't mix it with `push(_:)` of raw frames: whenever the kind changes, a key frame is due.
  public func push(_ frame: EncodedFrame, codec: VideoCodecKind) {
    encoded.push(frame, codec: codec)
  }

  /// Told when a key frame is wanted, and which rate; held weakly.
  public var encodedFrameDelegate: (any RTCEncodedVideoSourceDelegate)? {
    get { (encoded.feedback as? DelegateFeedback)?.delegate }
    set { encoded.feedback = newValue.map { DelegateFeedback($0, source: self) } }
  }

  /// What becomes of encoded frames that can't be sent as they are; `passThrough` at first.
  public var encodedFrameHandling: RTCEncodedFrameHandling {
    get { encoded.handling }
    set { encoded.handling = newValue }
  }

  /// Whether the source gives what it gives, whatever rate its delegate is told, as a file does; false at first. The path of such a source
  /// is probed for all of it, beyond the 5 Mbit/s that suffice where frames are encoded here, within the other side's limit and
  /// `RTCSettings.maxBitrate`. Of one that follows the network, that would have no end. Set it before the first frame.
  public var hasFixedEncodedBitrate: Bool {
    get { encoded.hasFixedBitrate }
    set { encoded.hasFixedBitrate = newValue }
  }

  /// The codecs that were negotiated where the source is sent now; empty while it is sent nowhere.
  public var negotiatedCodecs: Set<VideoCodecKind> { encoded.codecs }
}

/// Tells a source's delegate, which it doesn't hold.
private final class DelegateFeedback: EncodedVideoFeedback, @unchecked Sendable {
  // @unchecked: both references are set once, and weak ones are read atomically.
  private(set) weak var delegate: (any RTCEncodedVideoSourceDelegate)?
  private weak var source: RTCVideoSource?

  init(_ delegate: any RTCEncodedVideoSourceDelegate, source: RTCVideoSource) {
    self.delegate = delegate
    self.source = source
  }

  func needsKeyFrame() {
    if let source { delegate?.videoSourceNeedsKeyFrame(source) }
  }
  func targetBitrateChanged(_ bitsPerSecond: Int) {
    if let source { delegate?.videoSource(source, targetBitrateChanged: bitsPerSecond) }
  }
  func isSent(as codec: VideoCodecKind) {
    if let source { delegate?.videoSource(source, isSentAs: codec) }
  }
}
