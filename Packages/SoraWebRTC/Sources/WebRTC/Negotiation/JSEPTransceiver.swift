public import SoraMedia
public import SoraSDP

/// One encoding that a sender sends: the whole track, or one simulcast layer of it.
public struct SendEncoding: Sendable, Hashable {
  /// nil where there is one encoding only.
  public var rid: String?
  /// Whether the application sends it; where it doesn't, SDP says `~rid`.
  public var isActive: Bool
  public internal(set) var ssrc: UInt32
  public internal(set) var rtxSSRC: UInt32
  /// nil until FlexFEC is described for it.
  public internal(set) var repairSSRC: UInt32?
}

/// The sending half of a transceiver, as far as SDP speaks of it.
public struct SenderDescription: Sendable, Hashable {
  /// Whether a track is attached. Without one the section may still be negotiated for sending.
  public internal(set) var hasTrack: Bool
  /// The id of the track, or one made up for the time when there is none.
  public internal(set) var trackID: String
  public internal(set) var streamIDs: [String]
  /// At least one. More than one is simulcast, lowest first as the peer or the application listed them.
  public internal(set) var encodings: [SendEncoding]
}

/// The receiving half of a transceiver, as far as SDP speaks of it.
public struct ReceiverDescription: Sendable, Hashable {
  /// What the peer calls the track, or a random id where it gives no name.
  public internal(set) var trackID: String
  /// The streams that the peer puts the track into; empty while it isn't sending.
  public internal(set) var streamIDs: [String] = []
}

/// A sender and a receiver that share a media section (RFC 9429 §3.4.1).
///
/// Confined to the negotiator's owner. Only ``direction``, ``codecPreferences`` and the like are for the
/// application to set; they take effect with the next exchange.
public final class JSEPTransceiver {
  /// Unique in its negotiator, in the order of creation.
  public let id: Int
  public let kind: MediaKind
  /// nil until a description that names it was applied, and again after it was stopped.
  public internal(set) var mid: String?
  /// The index of its section; nil like ``mid``.
  public internal(set) var mLineIndex: Int?
  /// What the application wants.
  public var direction: MediaDirection
  /// What was negotiated; nil before the first answer and after stopping.
  public internal(set) var currentDirection: MediaDirection?
  /// The application asked to stop it; the next offer says so.
  public internal(set) var isStopping = false
  /// It never sends or receives again; its section can be used for another.
  public internal(set) var isStopped = false
  public internal(set) var sender: SenderDescription
  public internal(set) var receiver: ReceiverDescription
  /// Codecs in order of preference; nil takes those of the configuration, in the order of the peer's offer.
  public var codecPreferences: [CodecCapability]?
  /// The most the peer shall send, in bits per second; written as `b=AS` and `b=TIAS`.
  public var receiveBitrateLimit: Int?
  /// Simulcast layers that we offer to receive.
  public var receiveRids: [String] = []

  /// The offer under way takes its section away; it stops with the answer.
  var isDisplaced = false
  /// Made for a section that the peer offered; a rollback takes it back.
  var isFromRemoteOffer = false
  /// Made by addTrack, so that a remote offer may take it (RFC 9429 §5.10).
  var isFromAddTrack = false
  /// A sender that has sent can't be given to another track by addTrack (WebRTC §5.1).
  var hasEverSent = false
  /// Whether the peer's description says that it sends.
  var isRemoteSending = false
  /// Payload types that were settled for this section.
  var payloadTypes: [CodecCapability: PayloadTypePair] = [:]

  init(
    id: Int, kind: MediaKind, direction: MediaDirection, sender: SenderDescription,
    receiverTrackID: String
  ) {
    self.id = id
    self.kind = kind
    self.direction = direction
    self.sender = sender
    receiver = ReceiverDescription(trackID: receiverTrackID)
  }

  /// Says whether the application sends an encoding, which the next description tells the peer; the rid of a sender without simulcast is
  /// nil. False where there is none.
  @discardableResult
  public func setEncoding(rid: String?, isActive: Bool) -> Bool {
    guard let index = sender.encodings.firstIndex(where: { $0.rid == rid }) else { return false }
    sender.encodings[index].isActive = isActive
    return true
  }

  /// Stops it for good.
  func finishStopping() {
    isStopped = true
    isStopping = false
    mid = nil
    mLineIndex = nil
    currentDirection = nil
    isDisplaced = false
    isRemoteSending = false
    receiver.streamIDs = []
  }

  // MARK: Rollback

  /// What a rollback restores. The application's own settings stay as they are.
  struct Saved {
    var mid: String?
    var mLineIndex: Int?
    var currentDirection: MediaDirection?
    var receiver: ReceiverDescription
    var encodings: [SendEncoding]
    var isRemoteSending: Bool
    var payloadTypes: [CodecCapability: PayloadTypePair]
  }

  var saved: Saved {
    Saved(
      mid: mid, mLineIndex: mLineIndex, currentDirection: currentDirection,
      receiver: receiver, encodings: sender.encodings, isRemoteSending: isRemoteSending,
      payloadTypes: payloadTypes)
  }

  func restore(_ saved: Saved) {
    mid = saved.mid
    mLineIndex = saved.mLineIndex
    currentDirection = saved.currentDirection
    isDisplaced = false
    receiver = saved.receiver
    sender.encodings = saved.encodings
    isRemoteSending = saved.isRemoteSending
    payloadTypes = saved.payloadTypes
  }
}
