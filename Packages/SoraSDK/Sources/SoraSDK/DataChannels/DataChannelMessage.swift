public import Foundation
import SoraSignalingChannels

/// A message on a data channel of an app's own, whose label begins with `#`. Linux only; `onDataChannelMessage` has the bytes as they
/// came.
public struct DataChannelMessage: Sendable, Hashable {
  public let label: String
  /// The connection that sent it, where the channel was asked for with that header (`DataChannelConfiguration.hasSenderHeader`).
  public let senderConnectionId: String?
  /// What was sent, without the header.
  public let data: Data
  /// Whether it came as text. With a header, and on channels that compress, everything comes as bytes.
  public let isText: Bool

  /// What was sent, as text; nil where it isn't UTF-8.
  public var text: String? { String(validating: data, as: UTF8.self) }

  /// nil where there should be a header and is none.
  init?(_ payload: [UInt8], isText: Bool, on channel: AnnouncedChannel) {
    label = channel.label
    self.isText = isText && !channel.isCompressed && !channel.hasSenderHeader
    guard channel.hasSenderHeader else {
      senderConnectionId = nil
      data = Data(payload)
      return
    }
    guard let (connectionID, payload) = SenderHeader.split(payload) else { return nil }
    senderConnectionId = connectionID
    data = Data(payload)
  }
}
