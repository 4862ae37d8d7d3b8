import SoraWire

/// A short text of a header extension (mid, rid), stored inline so that reading one allocates nothing.
///
/// Holds up to 32 bytes; names that peers use have at most 16, the limit of the one-byte form.
public struct RTPExtensionText: Hashable, Sendable, CustomStringConvertible,
  ExpressibleByStringLiteral
{
  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
  private var length: UInt8 = 0

  /// The longest text in bytes.
  public static let maximumCount = 32

  /// `nil` when `bytes` is empty or longer than `maximumCount`.
  public init?(_ bytes: RawSpan) {
    guard !bytes.isEmpty, bytes.byteCount <= RTPExtensionText.maximumCount else { return nil }
    length = UInt8(bytes.byteCount)
    words.0 = Self.word(0, of: bytes)
    // Most names are short.
    guard bytes.byteCount > 8 else { return }
    words.1 = Self.word(8, of: bytes)
    guard bytes.byteCount > 16 else { return }
    words.2 = Self.word(16, of: bytes)
    words.3 = Self.word(24, of: bytes)
  }

  /// Eight bytes from `offset`, as memory holds them; zeros behind the end.
  private static func word(_ offset: Int, of bytes: RawSpan) -> UInt64 {
    if offset + 8 <= bytes.byteCount { return bytes.u64(offset).bigEndian }
    var word: UInt64 = 0
    for index in offset..<max(offset, bytes.byteCount) {
      word |= UInt64(bytes.u8(index)) << UInt64(8 * (index - offset))
    }
    return UInt64(littleEndian: word)
  }

  /// `nil` when the text is empty or its UTF-8 form is longer than `maximumCount`.
  public init?(_ text: String) {
    self.init(Array(text.utf8).rawSpan)
  }

  /// Text from a literal; one that is too long or empty gives an empty text, which no packet carries.
  public init(stringLiteral value: StaticString) {
    guard let text = RTPExtensionText(value.description) else { return }
    self = text
  }

  /// Bytes of UTF-8.
  public var count: Int { Int(length) }

  /// Lends the UTF-8 bytes.
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    unsafe Swift.withUnsafeBytes(of: words) { unsafe body(.init(rebasing: $0[0..<count])) }
  }

  public var description: String {
    unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  public static func == (a: RTPExtensionText, b: RTPExtensionText) -> Bool {
    a.length == b.length && a.words == b.words
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(length)
    hasher.combine(words.0)
    hasher.combine(words.1)
  }
}
