/// The receiving half of a transceiver, as far as SDP speaks of it.
public struct ReceiverDescription: Sendable, Hashable {
  /// What the peer calls the track, or a random id where it gives no name.
  public internal(set) var trackID: String
  /// The streams that the peer puts the track into; empty while it isn't sending.
  public internal(set) var streamIDs: [String] = []
}
