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
