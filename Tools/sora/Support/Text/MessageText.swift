package import Foundation

/// One message that came on a data channel, as the command prints it.
package struct MessageText: Encodable, Sendable {
  package let type = "message"
  package let label: String
  /// The connection that sent it, where that is known.
  package let senderConnectionId: String?
  /// nil where it is no text.
  package let text: String?
  /// Base64, where it is no text.
  package let data: String?
  package let bytes: Int

  package init(label: String, senderConnectionId: String?, data: Data) {
    self.label = label
    self.senderConnectionId = senderConnectionId
    text = String(validating: data, as: UTF8.self)
    self.data = text == nil ? data.base64EncodedString() : nil
    bytes = data.count
  }

  /// For people: whose, on which label, and what.
  package var line: String {
    let sender = senderConnectionId.map { " \($0.printable)" } ?? ""
    return "\(label.printable)\(sender): \(text?.printable ?? "(\(bytes) bytes)")"
  }
}
