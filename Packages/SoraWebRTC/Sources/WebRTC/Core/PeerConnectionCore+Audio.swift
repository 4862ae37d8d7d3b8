import SoraCongestion
public import SoraMedia
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

  /// Plays keys of a telephone on a transceiver that sends audio: `RTPSession.play`.
  ///
  /// - Parameters:
  ///   - keys: those to play in place of what hasn't begun.
  ///   - duration: how long each sounds.
  ///   - gap: between two of them.
  ///   - transceiverID: of the transceiver.
  ///   - now: the present time.
  /// - Returns: false where none were negotiated for it, and before the connection stands.
  public func play(
    _ keys: String, duration: Duration, gap: Duration, transceiverID: Int, at now: Instant
  ) -> Bool {
    guard transport.isWritable, let stream = sendStreams(transceiverID: transceiverID).first
    else { return false }
    transport.advance(to: now)
    return session.play(keys, duration: duration, gap: gap, on: stream, at: now)
  }
}
