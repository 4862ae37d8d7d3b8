/// The types of handshake messages (RFC 8446 §B.3, RFC 6347 §4.3.2).
enum HandshakeType {
  static let helloRequest: UInt8 = 0
  static let clientHello: UInt8 = 1
  static let serverHello: UInt8 = 2
  static let helloVerifyRequest: UInt8 = 3
  static let newSessionTicket: UInt8 = 4
  static let encryptedExtensions: UInt8 = 8
  static let certificate: UInt8 = 11
  static let serverKeyExchange: UInt8 = 12
  static let certificateRequest: UInt8 = 13
  static let serverHelloDone: UInt8 = 14
  static let certificateVerify: UInt8 = 15
  static let clientKeyExchange: UInt8 = 16
  static let finished: UInt8 = 20
  static let keyUpdate: UInt8 = 24
  static let messageHash: UInt8 = 254
}

/// A whole handshake message.
package struct HandshakeMessage: Equatable {
  var type: UInt8
  /// Its number among the messages of its sender (RFC 6347 §4.2.2).
  package var sequence: UInt16
  var body: [UInt8]

  /// The message as the transcript of a version takes it.
  ///
  /// 1.2 hashes DTLS's own header as if the message came in one piece (RFC 6347 §4.2.6); 1.3 hashes TLS's header
  /// (RFC 9147 §5.2).
  func transcriptBytes(_ version: DTLSVersion) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(12 + body.count)
    bytes.append(type)
    bytes.append24(body.count)
    if version == .v12 {
      bytes.append16(sequence)
      bytes.append24(0)
      bytes.append24(body.count)
    }
    bytes += body
    return bytes
  }
}

/// A piece of a handshake message, as a record carries it (RFC 6347 §4.2.2).
struct HandshakeFragment {
  static let headerLength = 12

  var type: UInt8
  /// Bytes of the whole message.
  var length: Int
  var sequence: UInt16
  var offset: Int
  var bytes: [UInt8]

  init(type: UInt8, length: Int, sequence: UInt16, offset: Int, bytes: [UInt8]) {
    self.type = type
    self.length = length
    self.sequence = sequence
    self.offset = offset
    self.bytes = bytes
  }

  /// Reads one fragment; a record may hold several.
  init(_ reader: inout WireReader) throws(HandshakeFailure) {
    type = try reader.read8()
    length = try reader.read24()
    sequence = try reader.read16()
    offset = try reader.read24()
    let count = try reader.read24()
    guard offset + count <= length else { throw .decode("a fragment goes beyond its message") }
    bytes = try reader.take(count)
  }

  var encoded: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(Self.headerLength + bytes.count)
    result.append(type)
    result.append24(length)
    result.append16(sequence)
    result.append24(offset)
    result.append24(bytes.count)
    result += bytes
    return result
  }
}
