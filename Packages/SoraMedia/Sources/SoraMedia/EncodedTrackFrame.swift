/// What a track's encoded frames are of.
public enum MediaCodec: Sendable, Hashable, CustomStringConvertible {
  case video(VideoCodecKind)
  case opus

  /// The codec that an `a=rtpmap` names, whatever its case; nil for others.
  public init?(encodingName: String) {
    if let kind = VideoCodecKind(encodingName: encodingName) {
      self = .video(kind)
    } else if encodingName.uppercased() == "OPUS" {
      self = .opus
    } else {
      return nil
    }
  }

  public var kind: MediaKind {
    switch self {
    case .video: .video
    case .opus: .audio
    }
  }

  /// Ticks per second of its RTP clock.
  public var clockRate: Int {
    switch self {
    case .video: VideoCodecFormat.clockRate
    case .opus: 48_000
    }
  }

  /// The name in SDP.
  public var description: String {
    switch self {
    case .video(let kind): kind.description
    case .opus: "Opus"
    }
  }
}

/// A frame of a track before it is decoded, with what tells its time: one compressed picture, or one packet of audio.
///
/// Audio comes in order of arrival, with the gaps that losses leave; pictures come in decoding order, and each can be decoded
/// after those that came before it.
public struct EncodedTrackFrame: Sendable {
  public var codec: MediaCodec
  /// The bytes, which are shared and only read; the RTP timestamp in ticks of the codec's clock, which wraps.
  public var frame: EncodedFrame
  /// When it was captured, on the wall clock of its sender, since 1970: what its sender reports say (RFC 3550 §6.4.1). Frames of
  /// one stream's tracks belong together where these are the same. nil until the first report.
  public var captureTime: Duration?
  /// When it was complete here, on this machine's monotonic clock.
  public var receiveTime: Instant

  public init(
    codec: MediaCodec, frame: EncodedFrame, captureTime: Duration? = nil, receiveTime: Instant
  ) {
    self.codec = codec
    self.frame = frame
    self.captureTime = captureTime
    self.receiveTime = receiveTime
  }
}

/// Takes a track's frames before they are decoded, and changes nothing in them.
public protocol EncodedFrameSink: AnyObject, Sendable {
  /// Takes one frame. Called on the thread that receives the network's packets, for all connections of it: return at once, and
  /// do the work elsewhere.
  func receive(_ frame: EncodedTrackFrame)
  /// The sink was added to a track. `request` asks the track's sender for a key frame, from any thread, and again with each
  /// call; senders answer at most some of them. Audio has none.
  func attached(to kind: MediaKind, requestKeyFrame request: @escaping @Sendable () -> Void)
}

extension EncodedFrameSink {
  public func attached(to kind: MediaKind, requestKeyFrame request: @escaping @Sendable () -> Void)
  {}
}
