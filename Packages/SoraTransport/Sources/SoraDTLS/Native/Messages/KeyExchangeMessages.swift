/// ServerKeyExchange of ECDHE suites of 1.2 (RFC 8422 §5.4).
struct ServerKeyExchange: Equatable {
  private static let namedCurve: UInt8 = 3

  var group: UInt16
  var publicKey: [UInt8]
  var scheme: UInt16 = 0
  var signature: [UInt8] = []

  init(group: UInt16, publicKey: [UInt8]) {
    self.group = group
    self.publicKey = publicKey
  }

  init(parsing body: [UInt8]) throws(HandshakeFailure) {
    var reader = WireReader(body)
    guard try reader.read8() == Self.namedCurve else {
      throw .illegalParameter("the server's key exchange has a curve of its own")
    }
    group = try reader.read16()
    var vector = try reader.vector8()
    publicKey = vector.rest()
    scheme = try reader.read16()
    vector = try reader.vector16()
    signature = vector.rest()
    try reader.finish()
  }

  /// What is signed behind the two randoms.
  var parameters: [UInt8] {
    var bytes: [UInt8] = [Self.namedCurve]
    bytes.append16(group)
    bytes.appendVector8 { $0 += publicKey }
    return bytes
  }

  var encoded: [UInt8] {
    var bytes = parameters
    bytes.append16(scheme)
    bytes.appendVector16 { $0 += signature }
    return bytes
  }
}

/// ClientKeyExchange of ECDHE suites of 1.2 (RFC 8422 §5.7).
struct ClientKeyExchange: Equatable {
  var publicKey: [UInt8]

  init(publicKey: [UInt8]) { self.publicKey = publicKey }

  init(parsing body: [UInt8]) throws(HandshakeFailure) {
    var reader = WireReader(body)
    var vector = try reader.vector8()
    publicKey = vector.rest()
    try reader.finish()
  }

  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendVector8 { $0 += publicKey }
    return bytes
  }
}

/// KeyUpdate of 1.3 (RFC 8446 §4.6.3).
struct KeyUpdate: Equatable {
  /// Whether the peer shall change its keys too.
  var isRequested: Bool

  init(isRequested: Bool) { self.isRequested = isRequested }

  init(parsing body: [UInt8]) throws(HandshakeFailure) {
    var reader = WireReader(body)
    let value = try reader.read8()
    guard value <= 1 else { throw .illegalParameter("a KeyUpdate that is neither") }
    isRequested = value == 1
    try reader.finish()
  }

  var encoded: [UInt8] { [isRequested ? 1 : 0] }
}

/// The content of an ACK record of 1.3 (RFC 9147 §7).
struct AckMessage: Equatable {
  var numbers: [RecordNumber]

  init(numbers: [RecordNumber]) { self.numbers = numbers }

  init(parsing body: [UInt8]) throws(HandshakeFailure) {
    var reader = WireReader(body)
    var vector = try reader.vector16()
    try reader.finish()
    numbers = []
    while !vector.isAtEnd {
      let epoch = try vector.read64()
      numbers.append(RecordNumber(epoch: epoch, sequence: try vector.read64()))
    }
  }

  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendVector16 {
      for number in numbers {
        $0.append64(number.epoch)
        $0.append64(number.sequence)
      }
    }
    return bytes
  }
}
