public import SoraDataChannel
public import SoraMedia
import SoraSDP
import SoraTransport

extension PeerConnectionCore {
  /// Makes a data channel. The first one wants an offer of ours, unless the other side has offered a section for channels before. Where
  /// the other side turns that down the channel is closed, and only another one has it asked again.
  ///
  /// - Parameters:
  ///   - parameters: what it is made with.
  ///   - negotiatedStream: its stream, where both sides make it without a word.
  ///   - now: the present time.
  ///   - made: takes its name, before anything is told of it.
  public func openDataChannel(
    _ parameters: DataChannelParameters, negotiatedStream: UInt16? = nil, at now: Instant,
    made: (DataChannelID) -> Void
  ) throws(DataChannelError) {
    try data.batch(at: now) { session throws(DataChannelError) in
      made(try session.open(parameters, negotiatedStream: negotiatedStream, at: now))
    }
    negotiator.wantsDataChannels = true
    updateNegotiationNeeded(at: now)
  }

  /// Closes all channels: the other side has none.
  func refuseDataChannels(at now: Instant) {
    for channel in data.report.channels { data.close(channel.id, at: now) }
  }

  /// Begins the association that a section for channels stands for.
  func start(_ section: NegotiatedData, over transport: NegotiatedTransport, at now: Instant) {
    data.negotiated(
      DataTransport.Remote(
        isClient: transport.setup != .passive, port: section.remoteSCTPPort,
        maximumMessageSize: section.remoteMaximumMessageSize),
      at: now)
  }
}
