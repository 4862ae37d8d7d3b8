public import SoraMedia
public import SoraSDP

/// A sender and a receiver that share a media section (RFC 9429 §3.4.1).
///
/// Confined to the negotiator's owner. Only ``direction``, ``codecPreferences`` and the like are for the
/// application to set; they take effect with the next exchange.
public final class JSEPTransceiver {
  /// Unique in its negotiator, in the order of creation.
  public let id: Int
  public let kind: MediaKind
  /// nil until a description that names it was applied, and again after it was stopped.
  public var mid: String? { negotiation.mid }
  /// The index of its section; nil like ``mid``.
  public var mLineIndex: Int? { negotiation.mLineIndex }
  /// What the application wants.
  public var direction: MediaDirection
  /// What was negotiated; nil before the first answer and after stopping.
  public var currentDirection: MediaDirection? { negotiation.currentDirection }
  /// The application asked to stop it; the next offer says so.
  public internal(set) var isStopping = false
  /// It never sends or receives again; its section can be used for another.
  public internal(set) var isStopped = false
  public internal(set) var sender: SenderDescription
  public var receiver: ReceiverDescription { negotiation.receiver }
  /// Codecs in order of preference; nil takes those of the configuration, in the order of the peer's offer.
  public var codecPreferences: [CodecCapability]?
  /// The most the peer shall send, in bits per second; written as `b=AS` and `b=TIAS`.
  public var receiveBitrateLimit: Int?
  /// Simulcast layers that we offer to receive.
  public var receiveRids: [String] = []

  /// What descriptions have settled.
  var negotiation: TransceiverNegotiation
  /// Made for a section that the peer offered; a rollback takes it back.
  var isFromRemoteOffer = false
  /// Made by addTrack, so that a remote offer may take it (RFC 9429 §5.10).
  var isFromAddTrack = false
  /// A sender that has sent can't be given to another track by addTrack (WebRTC §5.1).
  var hasEverSent = false

  init(
    id: Int, kind: MediaKind, direction: MediaDirection, sender: SenderDescription,
    receiverTrackID: String
  ) {
    self.id = id
    self.kind = kind
    self.direction = direction
    self.sender = sender
    negotiation = TransceiverNegotiation(receiverTrackID: receiverTrackID)
  }

  /// Says whether the application sends an encoding, which the next description tells the peer; the rid of a sender without simulcast is
  /// nil. False where there is none.
  @discardableResult
  public func setEncoding(rid: String?, isActive: Bool) -> Bool {
    sender.setEncoding(rid: rid, isActive: isActive)
  }

  /// Stops it for good.
  func finishStopping() {
    isStopped = true
    isStopping = false
    negotiation.dissociate()
    negotiation.setDirection(nil)
  }

  /// Its connection is closed.
  func close() {
    isStopped = true
    negotiation.setDirection(nil)
  }

  // MARK: Rollback

  /// What a rollback restores. The application's own settings stay as they are.
  struct Saved {
    fileprivate let negotiation: TransceiverNegotiation
    fileprivate let encodings: [SendEncoding]
  }

  var saved: Saved { Saved(negotiation: negotiation, encodings: sender.encodings) }

  func restore(_ saved: Saved) {
    negotiation = saved.negotiation
    sender.encodings = saved.encodings
  }
}
