/// What stands before a received message where its receiver has asked for `sender_connection_id`.
public enum SenderHeader {
  /// The word for it in `data_channels[].header[].type`.
  public static let type = "sender_connection_id"
  /// Bytes: a connection's id is ASCII.
  public static let length = 26

  /// Takes the sender's id off a message; nil where it is too short, or doesn't begin with an id.
  public static func split(_ message: [UInt8]) -> (connectionID: String, payload: [UInt8])? {
    guard message.count >= length, message[..<length].allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      return nil
    }
    return (String(decoding: message[..<length], as: UTF8.self), Array(message[length...]))
  }
}
