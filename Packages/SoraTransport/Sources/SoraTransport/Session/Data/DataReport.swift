public import SoraDataChannel
public import SoraSCTP

/// Everything that statistics say of a connection's data channels, at one moment.
public struct DataReport: Sendable, Hashable {
  /// Those there are, in the order they were made.
  public var channels: [DataChannelReport]
  public var statistics: DataChannelSessionStatistics
  /// nil before there was an association.
  public var association: SCTPStatistics?
}

extension DataReport {
  /// Packets and messages of the other side that weren't taken, by reason; those that occurred.
  public var drops: [PacketDrop] {
    let channels = statistics.dropped
    var all = PacketDrop.list(
      .data,
      [
        "malformedEstablishment": channels.malformed, "streamConflict": channels.streamConflict,
        "tooManyChannels": channels.tooManyChannels, "unknownChannel": channels.unknownChannel,
        "notOpen": channels.notOpen, "unknownPayloadProtocol": channels.unknownPayloadProtocol,
      ])
    if let packets = association?.dropped {
      all += PacketDrop.list(
        .data,
        [
          "malformed": packets.malformed, "badChecksum": packets.badChecksum,
          "badTag": packets.badTag, "outOfTheBlue": packets.outOfTheBlue,
          "beyondWindow": packets.data, "uselessAcknowledgement": packets.acknowledgements,
        ])
    }
    return all
  }
}
