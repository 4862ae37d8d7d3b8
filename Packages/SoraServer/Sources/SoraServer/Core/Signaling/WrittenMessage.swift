import SoraSignalingChannels
import SoraSignalingMessages
import SoraWire

/// A message as it goes to clients: written once, and compressed once where data channels want that, for everybody who gets the same. A
/// channel of hundreds tells each of them who they all are.
///
/// Confined to its core.
package final class WrittenMessage {
  let bytes: [UInt8]
  let isText: Bool
  package private(set) lazy var text = String(decoding: bytes, as: UTF8.self)
  private var stream: [UInt8]?

  init(_ bytes: [UInt8], isText: Bool) {
    self.bytes = bytes
    self.isText = isText
  }

  convenience init(_ json: JSONValue) { self.init(json.bytes, isText: true) }

  convenience init(_ message: SignalingMessage) { self.init(message.bytes, isText: true) }

  /// For data channels with `compress`.
  func compressed() throws(ChannelMessageError) -> [UInt8] {
    if let stream { return stream }
    let bytes = bytes
    let made = try MessageCompression.compress(bytes.rawSpan)
    stream = made
    return made
  }
}

/// A message of a member's, as receivers want it.
final class MemberMessage {
  /// As it came.
  let plain: WrittenMessage
  /// Behind the sender's connection id.
  private(set) lazy var named = WrittenMessage(
    Array(senderID.utf8) + plain.bytes, isText: false)
  private let senderID: String

  init(_ payload: [UInt8], isText: Bool, of senderID: String) {
    plain = WrittenMessage(payload, isText: isText)
    self.senderID = senderID
  }
}
