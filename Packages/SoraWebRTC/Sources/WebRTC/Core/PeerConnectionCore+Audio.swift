import SoraCongestion
import SoraMedia
import SoraTransport

/// What the network does to the audio that a transceiver sends.
public struct AudioNetworkState: Sendable, Hashable {
  /// Bits per second that it may take with all its headers.
  public var availableBitsPerSecond: Int
  public var roundTrip: Duration?
  /// The share of packets lost in the newest report, and how many reports there were.
  public var lossFraction: Double
  public var reports: UInt64
}

extension PeerConnectionCore {
  /// What the network does to a transceiver's audio: the matter of packet time, redundancy and bitrate. nil where it sends
  /// none.
  ///
  /// Audio comes before video: see `BandwidthAllocator`.
  public func audioNetwork(transceiverID: Int) -> AudioNetworkState? {
    guard let stream = sendStreams(transceiverID: transceiverID).first,
      stream.parameters.kind == .audio
    else { return nil }
    let share = bandwidth.shares[transceiverID]?.ceiling ?? bandwidth.target
    return AudioNetworkState(
      availableBitsPerSecond: share.bitsPerSecond,
      roundTrip: stream.remote.roundTrip ?? session.roundTrip,
      lossFraction: stream.remote.fractionLost, reports: stream.remote.reports)
  }
}
