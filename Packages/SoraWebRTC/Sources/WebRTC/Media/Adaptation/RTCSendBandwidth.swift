public import SoraCongestion
public import SoraMedia

/// What a connection may send at a moment, how that is shared, and why it isn't more. Not libwebrtc's.
///
/// In W3C webrtc-stats the estimate is `availableOutgoingBitrate`, a layer's target `targetBitrate`, and of the reasons `bandwidth`, `cpu`
/// and `other` are in `qualityLimitationReason`.
public struct RTCSendBandwidth: Sendable, Hashable {
  /// Why a track is not sent as it was captured.
  public enum Limit: String, Sendable, Hashable, CaseIterable {
    /// It has all it can use.
    case none
    /// The estimate doesn't allow more.
    case bandwidth
    /// More would fit by now, but not for long enough yet.
    case settling
    /// Not even the least fits.
    case starved
    /// Encoding takes too long.
    case cpu
    /// The encoder fails.
    case other
  }

  /// Why a layer isn't sent.
  public enum LayerOff: String, Sendable, Hashable, CaseIterable {
    /// `RTCRtpEncodingParameters.isActive` is false: the app has said so, or the server's `encodings`.
    case inactive
    /// The other side has paused it in its description (`a=simulcast`, RFC 8853 §5.1).
    case pausedByPeer
    /// The track's share of the estimate doesn't reach to it.
    case bandwidth
    /// Its encoder fails, and is tried again.
    case encoder
  }

  /// One encoding of a track: with simulcast there are several.
  public struct Layer: Sendable, Hashable {
    /// The name of a simulcast layer; nil without simulcast.
    public var rid: String?
    /// What its encoder aims at; zero while it is off.
    public var target: Bitrate
    /// Of the last frame, in pixels; 0 before it.
    public var width: Int
    public var height: Int
    /// Why it isn't sent; nil while it is.
    public var off: LayerOff?
  }

  /// What one track gets.
  public struct Track: Sendable, Hashable {
    /// Of its section in the descriptions.
    public var mid: String
    public var kind: MediaKind
    /// Its share of the estimate.
    public var target: Bitrate
    public var limit: Limit
    /// Of video that is encoded, in the order of the sender's encodings; empty for audio, and before the first frame.
    public var layers: [Layer]
  }

  /// What the network is estimated to take, retransmissions included.
  public var estimate: Bitrate
  /// What is sent, in the order of the descriptions.
  public var tracks: [Track]
}

extension RTCSendBandwidth.LayerOff {
  /// Why a layer with this target isn't sent; nil where it is.
  ///
  /// - Parameters:
  ///   - isPaused: by the other side.
  ///   - isActive: as its encoding says.
  ///   - target: bits per second of its encoder.
  ///   - encoder: why the track's encoders make less than they could.
  init?(isPaused: Bool, isActive: Bool, target: Int, encoder: QualityLimitationReason?) {
    if isPaused {
      self = .pausedByPeer
    } else if !isActive {
      self = .inactive
    } else if target > 0 {
      return nil
    } else {
      self = encoder == .other ? .encoder : .bandwidth
    }
  }
}

extension RTCSendBandwidth.Limit {
  /// The encoder's reason counts where the network gives all that can be used.
  init(_ share: BandwidthAllocator.Reason?, _ encoder: QualityLimitationReason?) {
    switch share {
    case .bandwidth: self = .bandwidth
    case .settling: self = .settling
    case .starved: self = .starved
    case .satisfied, nil:
      switch encoder {
      case .cpu: self = .cpu
      case .other: self = .other
      case .bandwidth: self = .bandwidth
      case .none?, nil: self = .none
      }
    }
  }
}
