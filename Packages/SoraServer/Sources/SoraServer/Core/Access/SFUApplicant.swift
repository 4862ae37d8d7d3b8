public import SoraSignalingMessages

/// A client that wants to connect, as whoever decides about that is told.
public struct SFUApplicant: Sendable, Hashable {
  public let peer: SFUPeerID
  /// The name that its connection will have.
  public let connectionID: String
  public let connect: ConnectMessage
  /// Who is in its channel so far.
  public let counters: SFUCounters
  /// Whether it gets data-channel signaling, unless that is decided otherwise.
  public let usesDataChannels: Bool
}
