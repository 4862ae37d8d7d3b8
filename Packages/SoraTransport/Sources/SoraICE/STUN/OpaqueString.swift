/// Prepares the names and passwords of TURN servers as RFC 8489 §9.2.2 and §14.3 want them: with the profile OpaqueString of RFC 8265 §4.2.
///
/// Text of printable ASCII stays as it is.
public enum OpaqueString {
  public enum Unusable: Error, Hashable, Sendable, CustomStringConvertible {
    /// RFC 8265 §4.2.2: nothing is left.
    case empty
    /// A code point that RFC 8264 §4.3 (FreeformClass) leaves out: a control, one that isn't seen, or none at all.
    case disallowed(Unicode.Scalar)

    public var description: String {
      switch self {
      case .empty: "it is empty"
      case .disallowed(let scalar):
        "it has U+\(String(scalar.value, radix: 16, uppercase: true)), which RFC 8265 doesn't allow"
      }
    }
  }

  /// Maps every space to U+0020, brings the text to normalization form C, and checks what is in it.
  ///
  /// Joiners (U+200C, U+200D) are let through without regard to their neighbours, and so are code points that this Unicode version
  /// doesn't know: which of them are good is the server's to say.
  ///
  /// - Parameters:
  ///   - text: a user name, password or realm.
  ///   - normalize: makes normalization form C. Handed in, since Swift's own library has no public way and this module uses no
  ///     other; Foundation's is `precomposedStringWithCanonicalMapping`.
  /// - Throws: `Unusable`
  public static func prepare(
    _ text: String, normalize: (String) -> String
  ) throws(Unusable) -> String {
    if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
      guard !text.isEmpty else { throw .empty }
      return text
    }
    var mapped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      mapped.append(scalar.properties.generalCategory == .spaceSeparator ? " " : scalar)
    }
    let prepared = normalize(String(mapped))
    for scalar in prepared.unicodeScalars where !isAllowed(scalar) { throw .disallowed(scalar) }
    guard !prepared.isEmpty else { throw .empty }
    return prepared
  }

  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // RFC 8264 §9.8, Join_Control.
    case 0x200C, 0x200D: true
    // §9.9, OldHangulJamo: blocks of which nothing but syllables' parts is made.
    case 0x1100...0x11FF, 0xA960...0xA97C, 0xD7B0...0xD7FB: false
    // §9.6, the exceptions of RFC 5892 §2.6 that are disallowed.
    case 0x0640, 0x07FA, 0x302E, 0x302F, 0x3031...0x3035, 0x303B: false
    default:
      scalar.properties.generalCategory != .control
        && !scalar.properties.isDefaultIgnorableCodePoint
        && !scalar.properties.isNoncharacterCodePoint
    }
  }
}
