import SoraWire

// Fields of requests that say more than a text (RFC 9110).

/// What a request's `Authorization` says.
public enum HTTPAuthorization: Sendable, Hashable {
  case absent
  /// RFC 6750 §2.1.
  case bearer(String)
  /// Of another scheme, or without a token.
  case other
}

/// What a request's `If-Match` asks for (RFC 9110 §13.1.1).
public enum HTTPIfMatch: Sendable, Hashable {
  /// `*`
  case any
  /// The texts between quotation marks. Weak tags never match, and are left out.
  case tags([String])

  /// Whether what has this tag is meant.
  ///
  /// - Parameter tag: the text between the quotation marks.
  public func matches(_ tag: String) -> Bool {
    switch self {
    case .any: true
    case .tags(let tags): tags.contains(tag)
    }
  }
}

extension HTTPRequest {
  /// The parts between slashes with their escapes decoded (RFC 3986 §2.1), a last empty one left out; nil where an escape is malformed, or
  /// gives no UTF-8.
  public var pathSegments: [String]? {
    guard path.utf8.first == UInt8(ascii: "/") else { return nil }
    var parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    if parts.last?.isEmpty == true { parts.removeLast() }
    var segments: [String] = []
    for part in parts {
      guard let segment = Self.unescaped(part) else { return nil }
      segments.append(segment)
    }
    return segments
  }

  private static func unescaped(_ part: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = part.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst()?.hexadecimalDigitValue,
        let low = rest.popFirst()?.hexadecimalDigitValue
      else { return nil }
      bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Type and subtype of the body in lower case, without parameters; nil where the request doesn't say.
  public var mediaType: String? {
    headers["content-type"]?.split(separator: ";", omittingEmptySubsequences: false).first
      .map { $0.trimmingSpaces.lowercased() }
  }

  /// What the request shows to be let in.
  public var authorization: HTTPAuthorization {
    guard let value = headers["authorization"] else { return .absent }
    let words = value[...].trimmingSpaces.split(separator: " ", maxSplits: 1)
    guard words.count == 2, words[0].lowercased() == "bearer" else { return .other }
    let token = words[1].trimmingSpaces
    return token.isEmpty ? .other : .bearer(String(token))
  }

  /// nil where the request has no such field.
  public var ifMatch: HTTPIfMatch? {
    guard let value = headers["if-match"] else { return nil }
    let text = value[...].trimmingSpaces
    if text == "*" { return .any }
    // A tag may hold commas; what is between two quotation marks is one.
    var tags: [String] = []
    var isWeak = false
    for (index, part) in text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
    {
      if index.isMultiple(of: 2) {
        isWeak = part.trimmingSpaces.hasSuffix("W/")
      } else if !isWeak {
        tags.append(String(part))
      }
    }
    return .tags(tags)
  }
}
