import SoraSignaling

/// What the Codable conformances of single messages share.
enum SignalingCoding {
  /// The message of a struct that is decoded by itself, its `type` supplied where it is absent.
  static func message(_ type: String, from decoder: any Decoder) throws -> SignalingMessage {
    guard case .object(var members) = try JSONValue(from: decoder) else {
      throw SoraError.invalidSignalingMessage
    }
    members["type"] = .string(type)
    return try SignalingMessage(json: .object(members))
  }

  /// Writes a message without its `type`, as a struct of its own does.
  static func encode(_ message: SignalingMessage, to encoder: any Encoder) throws {
    guard case .object(var members) = message.json else { throw SoraError.invalidSignalingMessage }
    members["type"] = nil
    try JSONValue.object(members).encode(to: encoder)
  }
}
