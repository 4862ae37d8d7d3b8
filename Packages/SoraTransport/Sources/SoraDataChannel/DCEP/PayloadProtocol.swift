/// What a message's bytes are (RFC 8831 §8).
enum PayloadProtocol {
  /// Of DCEP (RFC 8832 §8.1).
  static let establishment: UInt32 = 50
  static let string: UInt32 = 51
  static let binary: UInt32 = 53
  /// SCTP has no messages without a byte: one that isn't looked at stands for none (RFC 8831 §6.6).
  static let emptyString: UInt32 = 56
  static let emptyBinary: UInt32 = 57
}
