/// Chunk types (RFC 9260 §3.2, RFC 4820, RFC 6525, RFC 3758, RFC 8260). The two highest bits say what who doesn't know a type does.
enum ChunkType {
  static let data: UInt8 = 0
  static let initiation: UInt8 = 1
  static let initiationAck: UInt8 = 2
  static let sack: UInt8 = 3
  static let heartbeat: UInt8 = 4
  static let heartbeatAck: UInt8 = 5
  static let abort: UInt8 = 6
  static let shutdown: UInt8 = 7
  static let shutdownAck: UInt8 = 8
  static let error: UInt8 = 9
  static let cookieEcho: UInt8 = 10
  static let cookieAck: UInt8 = 11
  static let shutdownComplete: UInt8 = 14
  static let interleavedData: UInt8 = 64
  static let reconfiguration: UInt8 = 130
  static let padding: UInt8 = 132
  static let forwardTSN: UInt8 = 192
  static let interleavedForwardTSN: UInt8 = 194
}

/// Flags of DATA and I-DATA (RFC 9260 §3.3.1), and of ABORT and SHUTDOWN COMPLETE.
enum ChunkFlags {
  static let end: UInt8 = 1
  static let beginning: UInt8 = 2
  static let unordered: UInt8 = 4
  /// The receiver shall acknowledge at once (RFC 7053).
  static let immediate: UInt8 = 8
  /// The tag is the receiver's own, reflected (RFC 9260 §8.5.1).
  static let reflectedTag: UInt8 = 1
}

/// Parameters of INIT, INIT ACK, HEARTBEAT and RE-CONFIG.
enum ParameterType {
  static let heartbeatInfo: UInt16 = 1
  static let stateCookie: UInt16 = 7
  static let unrecognized: UInt16 = 8
  static let outgoingReset: UInt16 = 13
  static let incomingReset: UInt16 = 14
  static let tsnReset: UInt16 = 15
  static let reconfigurationResponse: UInt16 = 16
  static let addOutgoingStreams: UInt16 = 17
  static let addIncomingStreams: UInt16 = 18
  static let zeroChecksum: UInt16 = 0x8001
  static let supportedExtensions: UInt16 = 0x8008
  static let forwardTSNSupported: UInt16 = 0xC000
  // Addresses and what belongs to them: known, and without meaning on a path that isn't IP.
  static let ipv4Address: UInt16 = 5
  static let ipv6Address: UInt16 = 6
  static let cookiePreservative: UInt16 = 9
  static let supportedAddressTypes: UInt16 = 12
}

/// Causes in ABORT and ERROR (RFC 9260 §3.3.10).
enum CauseCode {
  static let invalidStream: UInt16 = 1
  static let missingParameter: UInt16 = 2
  static let staleCookie: UInt16 = 3
  static let outOfResource: UInt16 = 4
  static let unrecognizedChunk: UInt16 = 6
  static let invalidParameter: UInt16 = 7
  static let unrecognizedParameters: UInt16 = 8
  static let noUserData: UInt16 = 9
  static let cookieWhileShuttingDown: UInt16 = 10
  static let userAbort: UInt16 = 12
  static let protocolViolation: UInt16 = 13
}
