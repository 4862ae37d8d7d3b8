import SoraSCTP

/// What a session of data channels is made with. Values out of range are brought into it.
public struct DataChannelConfiguration: Sendable, Hashable {
  /// The SCTP port of this end, which its description names (RFC 8841 §5.1).
  public var localPort: UInt16 = 5000
  /// Bytes of the largest message that this end takes, which its description names as `a=max-message-size` (RFC 8841 §6). A larger one
  /// ends the association.
  public var maximumMessageSize = 256 * 1024
  /// Bytes that may wait to be sent or acknowledged, in all channels together, where each message counts for 128 more; `send` throws beyond
  /// that. No larger message can be sent.
  public var sendBufferLimit = 16 * 1024 * 1024
  /// Bytes that are kept for the peer's messages.
  public var receiveWindow = 5 * 1024 * 1024
  /// How many channels there may be before the peer can open no more.
  public var maximumChannels = 4096
  /// How long the path is idle before a HEARTBEAT asks for a sign of life; `nil` for never: ICE's consent says as much.
  public var heartbeatInterval: Duration?
  /// Whether packets go without a checksum where the peer agrees, as DTLS protects them already (RFC 9653).
  public var zeroChecksum = true

  public init() {}
}

/// What both ends' descriptions and the handshake below say of an association.
public struct DataChannelPeer: Sendable, Hashable {
  /// Whether this end is the client of the DTLS association: its channels have even streams then (RFC 8832 §6).
  public var isClient: Bool
  /// The peer's SCTP port.
  public var port: UInt16
  /// Bytes of the largest message that the peer takes; 0 for any (RFC 8841 §6).
  public var maximumMessageSize: UInt64
  /// Bytes of the largest SCTP packet that the layer below carries.
  public var maximumPacketSize: Int

  public init(
    isClient: Bool, port: UInt16 = 5000, maximumMessageSize: UInt64 = 65_536,
    maximumPacketSize: Int = 1160
  ) {
    self.isClient = isClient
    self.port = port
    self.maximumMessageSize = maximumMessageSize
    self.maximumPacketSize = maximumPacketSize
  }
}

extension DataChannelConfiguration {
  func association(with peer: DataChannelPeer) -> SCTPConfiguration {
    var sctp = SCTPConfiguration()
    sctp.localPort = localPort
    sctp.remotePort = peer.port
    sctp.maximumMessageSize = maximumMessageSize
    sctp.maximumSentMessageSize = sendBufferLimit
    sctp.sendBufferLimit = sendBufferLimit
    sctp.receiveWindow = max(receiveWindow, maximumMessageSize)
    sctp.mtu = peer.maximumPacketSize
    // No search for larger packets (RFC 8899) in calls. Chunks stay as small as the base, as one that has a TSN can't be cut again, so
    // that packets of 1,448 bytes, all that Ethernet takes, would be 0.4 % fewer for long messages. And the sockets of calls let the
    // system fragment: behind a link that tells of its MTU an answered probe would only say that fragments come through.
    sctp.maximumMTU = sctp.mtu
    sctp.heartbeatInterval = heartbeatInterval
    sctp.zeroChecksum = zeroChecksum
    return sctp
  }
}
