import SoraMedia
import SoraTransport

/// What the network does to the sound that a transceiver sends.
public struct AudioNetworkState: Sendable, Hashable {
  /// Bits a second that it may take with all its headers.
  public var availableBitsPerSecond: Int
  public var roundTrip: Duration?
  /// The share of packets lost in the newest report, and how many reports there were.
  public var lossFraction: Double
  public var reports: UInt64
}

extension PeerConnectionCore {
  /// What the network does to a transceiver's sound: the matter of packet time, redundancy and bitrate. nil where it sends
  /// none.
  ///
  /// Sound comes before pictures: they are left what they can't do without, or two thirds where there isn't that much.
  public func audioNetwork(transceiverID: Int) -> AudioNetworkState? {
    guard let stream = sendStreams(transceiverID: transceiverID).first,
      stream.parameters.kind == .audio
    else { return nil }
    let sending = media.filter { $0.send != nil }
    let sounds = sending.count { $0.kind == .audio }
    let pictures = sending.count - sounds
    let share = max(targetBitrate / (pictures == 0 ? 1 : 3), targetBitrate - pictures * 30_000)
    return AudioNetworkState(
      availableBitsPerSecond: share / max(1, sounds),
      roundTrip: stream.remote.roundTrip ?? session.roundTrip,
      lossFraction: stream.remote.fractionLost, reports: stream.remote.reports)
  }
}
