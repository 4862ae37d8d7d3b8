public import SoraICE
public import SoraMedia
public import SoraSDP
public import SoraTransport

/// The state of a whole connection, in the words of W3C's `RTCPeerConnectionState`.
public enum PeerConnectionState: String, Sendable {
  case new, connecting, connected, disconnected, failed, closed

  /// What follows from the states of the one ICE transport and the one DTLS transport (W3C webrtc §4.3.3, BUNDLE having left no others).
  ///
  /// - Parameters:
  ///   - ice: the state of ICE.
  ///   - dtls: the state of DTLS.
  ///   - hasFailed: whether the transport has ended with an error. That is W3C's rule, and more: a peer that closes the
  ///     association leaves no transport that could recover, where a browser would still wait for ICE to notice.
  ///   - isClosed: whether the connection was closed by its owner.
  public init(
    ice: ICEConnectionState, dtls: DTLSTransportState, hasFailed: Bool = false,
    isClosed: Bool = false
  ) {
    if isClosed {
      self = .closed
    } else if hasFailed || ice == .failed || dtls == .failed {
      self = .failed
    } else if ice == .disconnected {
      self = .disconnected
    } else if ice == .new || ice == .closed, dtls == .new || dtls == .closed {
      self = .new
    } else if ice == .connected || ice == .completed || ice == .closed,
      dtls == .connected || dtls == .closed
    {
      self = .connected
    } else {
      self = .connecting
    }
  }
}

/// W3C `RTCIceGatheringState`.
public enum ICEGatheringState: String, Sendable {
  case new, gathering, complete
}

/// What a `PeerConnectionCore` is at one moment, media and counters aside: a value, safe to keep and to hand to any thread.
public struct PeerConnectionSnapshot: Sendable, Equatable {
  /// A description as it was set, with the candidates since.
  public struct Description: Sendable, Equatable {
    public var kind: DescriptionKind
    public var content: SessionDescription
    /// As text, which is made when it is asked for.
    public var sdp: String { content.text }
  }

  /// A sender and a receiver that share a media section.
  public struct Transceiver: Sendable, Equatable, Identifiable {
    /// ``JSEPTransceiver/id``.
    public var id: Int
    public var kind: MediaKind
    /// nil until a description names it.
    public var mid: String?
    /// What the application wants.
    public var direction: MediaDirection
    /// What was negotiated; nil before that.
    public var currentDirection: MediaDirection?
    public var sender: SenderDescription
    public var receiver: ReceiverDescription
  }

  /// The states of a connection's parts, each from its own source.
  public struct States: Sendable, Equatable {
    public var signaling = SignalingState.stable
    public var gathering = ICEGatheringState.new
    public var ice = ICEConnectionState.new
    public var dtls = DTLSTransportState.new
    public var connection = PeerConnectionState.new
    /// Why the connection has failed; nil while it hasn't, and again once a restart of ICE has led out of it.
    public var failure: PeerTransportError?
  }

  public var states = States()
  /// Those that are not stopped, in the order of their creation.
  public var transceivers: [Transceiver] = []
  /// Ours, in force or under way.
  public var localDescription: Description?
  /// The peer's, in force or under way.
  public var remoteDescription: Description?
  /// The pair of candidates in use, as it was when it was selected.
  public var selectedPair: ICEPair?
  /// The sections of the peer's last offer that are turned down.
  public var rejectedSections: [NegotiationError.Rejected] = []
}

extension PeerConnectionSnapshot.Transceiver {
  init(_ transceiver: JSEPTransceiver) {
    self.init(
      id: transceiver.id, kind: transceiver.kind, mid: transceiver.mid,
      direction: transceiver.direction, currentDirection: transceiver.currentDirection,
      sender: transceiver.sender, receiver: transceiver.receiver)
  }
}

extension JSEPNegotiator {
  /// Our description in force or under way, with what it is.
  var describedLocally: PeerConnectionSnapshot.Description? {
    localDescription.map { .init(kind: exchange.localKind, content: $0) }
  }

  /// The peer's description in force or under way, with what it is.
  var describedRemotely: PeerConnectionSnapshot.Description? {
    remoteDescription.map { .init(kind: exchange.remoteKind, content: $0) }
  }
}
