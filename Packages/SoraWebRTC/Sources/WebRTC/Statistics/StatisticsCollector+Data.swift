import SoraDataChannel
import SoraMedia
import SoraSCTP
import SoraTransport

/// Data channels, the association that carries them, and how many there were.
///
/// `sctp-transport` is W3C's by its provisional statistics; its members from `packetsSent` on aren't.
extension StatisticsCollector {
  func dataChannels() -> [RTCStatistics] {
    let report = core.data.report
    var all = [
      object(
        "peer-connection", "peer-connection",
        [
          "dataChannelsOpened": .integer(report.statistics.channelsOpened),
          "dataChannelsClosed": .integer(report.statistics.channelsClosed),
        ])
    ]
    all += report.channels.map(channel)
    if let association = report.association { all.append(self.association(association)) }
    return all
  }

  private func channel(_ channel: DataChannelReport) -> RTCStatistics {
    object(
      "data-channel-\(channel.id)", "data-channel",
      [
        "label": .string(channel.parameters.label),
        "protocol": .string(channel.parameters.protocol),
        "dataChannelIdentifier": channel.stream.map { .integer(Int64($0)) },
        "state": .string(channel.state.rawValue),
        "messagesSent": .integer(channel.counters.messagesSent),
        "bytesSent": .integer(channel.counters.bytesSent),
        "messagesReceived": .integer(channel.counters.messagesReceived),
        "bytesReceived": .integer(channel.counters.bytesReceived),
      ])
  }

  private func association(_ s: SCTPStatistics) -> RTCStatistics {
    object(
      "sctp-transport", "sctp-transport",
      [
        "transportId": .string(Self.transportID),
        "smoothedRoundTripTime": s.smoothedRoundTrip.map { .double($0.inSeconds) },
        "congestionWindow": .integer(Int64(s.congestionWindow)),
        "receiverWindow": .integer(Int64(s.peerWindow)), "mtu": .integer(Int64(s.mtu)),
        "unackData": .integer(Int64(s.unacknowledgedChunks)),
        "packetsSent": .integer(s.packetsSent), "packetsReceived": .integer(s.packetsReceived),
        "bytesSent": .integer(s.bytesSent), "bytesReceived": .integer(s.bytesReceived),
        "chunksRetransmitted": .integer(s.chunksRetransmitted), "timeouts": .integer(s.timeouts),
        "messagesAbandoned": .integer(s.messagesAbandoned),
      ])
  }
}
