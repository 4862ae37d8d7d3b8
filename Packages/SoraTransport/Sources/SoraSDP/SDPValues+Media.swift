/// `a=rtpmap` (RFC 8866 §6.6), for example `111 opus/48000/2`.
public struct SDPRTPMap: SDPAttributeValue {
  public static var attributeName: String { "rtpmap" }
  public var payloadType: UInt8
  public var name: String
  /// Hz.
  public var clockRate: Int
  /// Audio channels; nil where it isn't written.
  public var channels: Int?

  public init(payloadType: UInt8, name: String, clockRate: Int, channels: Int? = nil) {
    self.payloadType = payloadType
    self.name = name
    self.clockRate = clockRate
    self.channels = channels
  }

  public init?(parsing value: String) {
    let words = SDPText.words(value)
    guard words.count == 2, let type: UInt8 = SDPText.decimal(words[0]), type < 128 else {
      return nil
    }
    let parts = SDPText.split(words[1], on: "/")
    guard parts.count == 2 || parts.count == 3, !parts[0].isEmpty,
      let clock: UInt32 = SDPText.decimal(parts[1]), clock > 0
    else { return nil }
    payloadType = type
    name = String(parts[0])
    clockRate = Int(clock)
    guard parts.count == 3 else { return }
    guard let count: UInt8 = SDPText.decimal(parts[2]), count > 0 else { return nil }
    channels = Int(count)
  }

  public var attributeValue: String {
    "\(payloadType) \(name)/\(clockRate)" + (channels.map { "/\($0)" } ?? "")
  }
}

/// An ordered list of `key=value`, as in `a=fmtp`. Keys compare without case.
public struct FormatParameters: Sendable, Hashable, CustomStringConvertible,
  ExpressibleByDictionaryLiteral
{
  /// One parameter; a text without `=` has no value.
  public struct Entry: Sendable, Hashable {
    public var key: String
    public var value: String?

    public init(key: String, value: String?) {
      self.key = key
      self.value = value
    }
  }

  public var entries: [Entry]

  public init(entries: [Entry] = []) { self.entries = entries }

  public init(dictionaryLiteral elements: (String, String)...) {
    entries = elements.map { Entry(key: $0.0, value: $0.1) }
  }

  /// Reads `minptime=10;useinbandfec=1`; spaces around semicolons are ignored.
  public init(parsing text: String) {
    entries = SDPText.split(text[...], on: ";").compactMap { part in
      let part = SDPText.trimmed(part)
      guard !part.isEmpty else { return nil }
      let pair = SDPText.split(part, on: "=", maximum: 1)
      return Entry(
        key: String(SDPText.trimmed(pair[0])),
        value: pair.count == 2 ? String(SDPText.trimmed(pair[1])) : nil)
    }
  }

  /// The value of a key; setting nil removes it.
  public subscript(key: String) -> String? {
    get { entries.first { SDPText.equalIgnoringCase($0.key, key) }?.value }
    set {
      let position = entries.firstIndex { SDPText.equalIgnoringCase($0.key, key) }
      if let newValue {
        let entry = Entry(key: key, value: newValue)
        if let position { entries[position] = entry } else { entries.append(entry) }
      } else {
        entries.removeAll { SDPText.equalIgnoringCase($0.key, key) }
      }
    }
  }

  /// The value of a key as a number.
  public func integer(_ key: String) -> Int? { self[key].flatMap { SDPText.decimal($0[...]) } }

  public var isEmpty: Bool { entries.isEmpty }

  /// The values by key in lower case, the first of each; a parameter without a value has an empty one.
  public var dictionary: [String: String] {
    Dictionary(
      entries.map { ($0.key.lowercased(), $0.value ?? "") }, uniquingKeysWith: { first, _ in first }
    )
  }

  public var description: String {
    entries.map { entry in entry.value.map { entry.key + "=" + $0 } ?? entry.key }
      .joined(separator: ";")
  }
}

/// `a=fmtp` (RFC 8866 §6.15).
public struct SDPFormatParameters: SDPAttributeValue {
  public static var attributeName: String { "fmtp" }
  /// The payload type, or another format.
  public var format: String
  public var parameters: FormatParameters

  public init(format: String, parameters: FormatParameters) {
    self.format = format
    self.parameters = parameters
  }

  public init?(parsing value: String) {
    let parts = SDPText.split(value[...], on: " ", maximum: 1)
    guard parts.count == 2, !parts[0].isEmpty else { return nil }
    format = String(parts[0])
    parameters = FormatParameters(parsing: String(parts[1]))
  }

  public var attributeValue: String { "\(format) \(parameters)" }
}

/// `a=rtcp-fb` (RFC 4585 §4.2).
public struct SDPFeedback: SDPAttributeValue {
  public static var attributeName: String { "rtcp-fb" }
  /// nil is `*`, all payload types of the section.
  public var payloadType: UInt8?
  /// For example `nack`, `nack pli`, `ccm fir`, `transport-cc`, `goog-remb`.
  public var kind: String

  public init(payloadType: UInt8?, kind: String) {
    self.payloadType = payloadType
    self.kind = kind
  }

  /// Congestion feedback by source, for all that a section has (RFC 8888 §6).
  public static let bySource = SDPFeedback(payloadType: nil, kind: "ack ccfb")
  /// What it takes the place of where it is agreed on: an answer with two ways of congestion feedback wouldn't say which.
  public static let replacedBySource: Set<String> = ["transport-cc", "goog-remb"]

  public init?(parsing value: String) {
    let words = SDPText.words(value)
    guard words.count >= 2 else { return nil }
    if words[0] != "*" {
      guard let type: UInt8 = SDPText.decimal(words[0]), type < 128 else { return nil }
      payloadType = type
    }
    kind = words.dropFirst().joined(separator: " ")
  }

  public var attributeValue: String { (payloadType.map { "\($0)" } ?? "*") + " " + kind }
}

/// `a=extmap` (RFC 8285 §8).
public struct SDPExtension: SDPAttributeValue {
  public static var attributeName: String { "extmap" }
  /// 1 to 14 fit one-byte headers, up to 255 two-byte headers; 4096 and more are proposals without an id.
  public var id: UInt16
  public var direction: MediaDirection?
  public var uri: String
  /// What follows the URI.
  public var parameters: String?

  public init(
    id: UInt16, direction: MediaDirection? = nil, uri: String, parameters: String? = nil
  ) {
    self.id = id
    self.direction = direction
    self.uri = uri
    self.parameters = parameters
  }

  public init?(parsing value: String) {
    let words = SDPText.words(value)
    guard words.count >= 2 else { return nil }
    let parts = SDPText.split(words[0], on: "/", maximum: 1)
    guard let id: UInt16 = SDPText.decimal(parts[0]), id > 0 else { return nil }
    self.id = id
    if parts.count == 2 {
      guard let direction = MediaDirection(rawValue: String(parts[1])) else { return nil }
      self.direction = direction
    }
    uri = String(words[1])
    parameters = words.count > 2 ? words[2...].joined(separator: " ") : nil
  }

  public var attributeValue: String {
    "\(id)" + (direction.map { "/\($0.rawValue)" } ?? "") + " \(uri)"
      + (parameters.map { " \($0)" } ?? "")
  }
}
