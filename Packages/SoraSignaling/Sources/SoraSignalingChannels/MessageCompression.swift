import CZlib

/// How data channels with `compress` carry messages: each is one stream of zlib's (RFC 1950), the sender's name before it included.
public enum MessageCompression {
  /// The stream of a message.
  public static func compress(_ message: RawSpan) throws(ChannelMessageError) -> [UInt8] {
    let count = message.byteCount
    let most = compressBound(uLong(count))
    var written = uLongf(most)
    var status = Z_OK
    let stream = unsafe [UInt8](unsafeUninitializedCapacity: Int(most)) { output, initialized in
      status = unsafe message.withUnsafeBytes { input in
        unsafe compress2(
          output.baseAddress, &written, input.baseAddress?.assumingMemoryBound(to: UInt8.self),
          uLong(count), Z_DEFAULT_COMPRESSION)
      }
      initialized = status == Z_OK ? Int(written) : 0
    }
    guard status == Z_OK else { throw .outOfMemory }
    return stream
  }

  /// The message of a stream.
  ///
  /// - Parameters:
  ///   - stream: one of zlib's, from its first byte to its last.
  ///   - limit: the most bytes that it may have. No more are ever written: a stream of a kilobyte may hold a megabyte of zeros.
  public static func inflate(
    _ stream: RawSpan, limit: Int
  ) throws(ChannelMessageError) -> [UInt8] {
    // Most messages of signaling are texts, which shrink to a third or so.
    var room = min(limit, max(512, stream.byteCount * 4))
    while true {
      if let message = try inflate(stream, room: max(1, room)), message.count <= limit {
        return message
      }
      guard room < limit else { throw .tooLarge(limit: limit) }
      room = min(limit, room * 4)
    }
  }

  /// nil where there isn't enough room.
  private static func inflate(
    _ stream: RawSpan, room: Int
  ) throws(ChannelMessageError) -> [UInt8]? {
    var written = uLongf(room)
    var read = uLong(stream.byteCount)
    let given = read
    var status = Z_OK
    let message = unsafe [UInt8](unsafeUninitializedCapacity: room) { output, initialized in
      status = unsafe stream.withUnsafeBytes { input in
        unsafe uncompress2(
          output.baseAddress, &written, input.baseAddress?.assumingMemoryBound(to: UInt8.self),
          &read)
      }
      initialized = status == Z_OK ? Int(written) : 0
    }
    switch status {
    case Z_OK where read == given: return message
    case Z_BUF_ERROR where written >= room: return nil
    case Z_MEM_ERROR: throw .outOfMemory
    default: throw .notCompressed
    }
  }
}
