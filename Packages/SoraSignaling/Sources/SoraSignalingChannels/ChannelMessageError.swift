/// What is wrong with a message of a data channel.
public enum ChannelMessageError: Error, Sendable, Hashable {
  /// It isn't one stream of zlib's (RFC 1950), from the first byte to the last.
  case notCompressed
  /// It would be larger than `limit` bytes.
  case tooLarge(limit: Int)
  /// There is no memory to inflate or compress it.
  case outOfMemory
}
