import SoraWire

/// INIT and INIT ACK (RFC 9260 §3.3.2, §3.3.3) with what data channels need of their parameters.
struct Initiation: Hashable {
  var tag: UInt32
  var window: UInt32
  var outgoingStreams: UInt16
  var incomingStreams: UInt16
  var firstTSN: UInt32
  var extensions = Extensions()
  /// INIT ACK: what COOKIE ECHO gives back.
  var cookie: [UInt8]?
  /// Parameters that aren't known and that the sender wants to be told of, each as it came.
  var unrecognized: [[UInt8]] = []

  /// What one end can do.
  struct Extensions: Hashable {
    var partialReliability = false
    var streamReset = false
    var interleaving = false
    var zeroChecksum = false
  }

  enum Failure: Error { case malformed, missingCookie, zeroTag, zeroStreams }

  static let longestCookie = 4096

  /// Reads the value of an INIT or INIT ACK.
  init(_ value: RawSpan, isAck: Bool) throws(Failure) {
    guard value.byteCount >= 16 else { throw .malformed }
    tag = value.u32(0)
    window = value.u32(4)
    outgoingStreams = value.u16(8)
    incomingStreams = value.u16(10)
    firstTSN = value.u32(12)
    guard tag != 0 else { throw .zeroTag }
    guard outgoingStreams > 0, incomingStreams > 0 else { throw .zeroStreams }
    var reader = ParameterReader(value.part(from: 16))
    while let parameter = reader.next() {
      let data = parameter.value
      switch parameter.type {
      case ParameterType.stateCookie:
        guard data.byteCount <= Initiation.longestCookie else { throw .malformed }
        cookie = [UInt8](copying: data)
      case ParameterType.forwardTSNSupported: extensions.partialReliability = true
      case ParameterType.zeroChecksum:
        // Error detection method 1: DTLS under SCTP (RFC 9653 §8.1).
        if data.byteCount == 4, data.u32(0) == 1 { extensions.zeroChecksum = true }
      case ParameterType.supportedExtensions:
        for index in 0..<data.byteCount {
          switch data.u8(index) {
          case ChunkType.reconfiguration: extensions.streamReset = true
          case ChunkType.forwardTSN: extensions.partialReliability = true
          case ChunkType.interleavedData: extensions.interleaving = true
          default: break
          }
        }
      case ParameterType.ipv4Address, ParameterType.ipv6Address, ParameterType.cookiePreservative,
        ParameterType.supportedAddressTypes, ParameterType.unrecognized:
        break
      default:
        // The highest bit: go on behind it; the next: tell (RFC 9260 §3.2.1).
        if parameter.type & 0x4000 != 0, unrecognized.count < 8, data.byteCount <= 256 {
          unrecognized.append([UInt8](copying: parameter.whole))
        }
        if parameter.type & 0x8000 == 0 { return }
      }
    }
    if reader.isMalformed { throw .malformed }
    if isAck, cookie == nil { throw .missingCookie }
  }

  init(
    tag: UInt32, window: UInt32, outgoingStreams: UInt16, incomingStreams: UInt16, firstTSN: UInt32,
    extensions: Extensions
  ) {
    self.tag = tag
    self.window = window
    self.outgoingStreams = outgoingStreams
    self.incomingStreams = incomingStreams
    self.firstTSN = firstTSN
    self.extensions = extensions
  }

  /// The chunk. An INIT without a cookie, or an INIT ACK with one, and with what isn't known of the peer's INIT.
  func bytes() -> [UInt8] {
    var value = [UInt8](bigEndian: tag)
    value.append(bigEndian: window)
    value.append(bigEndian: outgoingStreams)
    value.append(bigEndian: incomingStreams)
    value.append(bigEndian: firstTSN)
    if let cookie { value += ChunkBytes.parameter(ParameterType.stateCookie, cookie) }
    var chunks: [UInt8] = []
    if extensions.streamReset { chunks.append(ChunkType.reconfiguration) }
    if extensions.partialReliability { chunks.append(ChunkType.forwardTSN) }
    if extensions.interleaving {
      chunks.append(ChunkType.interleavedData)
      if extensions.partialReliability { chunks.append(ChunkType.interleavedForwardTSN) }
    }
    if !chunks.isEmpty { value += ChunkBytes.parameter(ParameterType.supportedExtensions, chunks) }
    if extensions.partialReliability {
      value += ChunkBytes.parameter(ParameterType.forwardTSNSupported)
    }
    if extensions.zeroChecksum {
      value += ChunkBytes.parameter(ParameterType.zeroChecksum, [0, 0, 0, 1])
    }
    for parameter in unrecognized {
      value += ChunkBytes.parameter(ParameterType.unrecognized, parameter)
    }
    return ChunkBytes.chunk(
      cookie == nil ? ChunkType.initiation : ChunkType.initiationAck, value)
  }
}
