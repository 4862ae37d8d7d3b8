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
  public init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 0, bytes.count <= RTPExtensionText.maximumCount else { return nil }
    length = UInt8(bytes.count)
    withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: bytes) }
  }

  /// `nil` when the text is empty or its UTF-8 form is longer than `maximumCount`.
  public init?(_ text: String) {
    var text = text
    guard let value = text.withUTF8({ RTPExtensionText(UnsafeRawBufferPointer($0)) }) else {
      return nil
    }
    self = value
  }

  /// Text from a literal; one that is too long or empty gives an empty text, which no packet carries.
  public init(stringLiteral value: StaticString) {
    guard
      let text = value.withUTF8Buffer({ RTPExtensionText(UnsafeRawBufferPointer($0)) })
    else { return }
    self = text
  }

  /// Bytes of UTF-8.
  public var count: Int { Int(length) }

  /// Lends the UTF-8 bytes.
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    Swift.withUnsafeBytes(of: words) { body(UnsafeRawBufferPointer(rebasing: $0[0..<count])) }
  }

  public var description: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }

  public static func == (a: RTPExtensionText, b: RTPExtensionText) -> Bool {
    a.length == b.length && a.words == b.words
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(length)
    hasher.combine(words.0)
    hasher.combine(words.1)
  }
}
