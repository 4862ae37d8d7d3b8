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
  /// Audio comes before video: that is left what it can't do without, or two thirds where there isn't that much.
  public func audioNetwork(transceiverID: Int) -> AudioNetworkState? {
    guard let stream = sendStreams(transceiverID: transceiverID).first,
      stream.parameters.kind == .audio
    else { return nil }
    let sending = media.filter { $0.send != nil }
    let audios = sending.count { $0.kind == .audio }
    let videos = sending.count - audios
    let share = max(targetBitrate / (videos == 0 ? 1 : 3), targetBitrate - videos * 30_000)
    return AudioNetworkState(
      availableBitsPerSecond: share / max(1, audios),
      roundTrip: stream.remote.roundTrip ?? session.roundTrip,
      lossFraction: stream.remote.fractionLost, reports: stream.remote.reports)
  }
}
