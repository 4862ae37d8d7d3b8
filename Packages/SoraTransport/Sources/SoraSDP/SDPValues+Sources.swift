/// `a=msid` (RFC 8830 §2): a track of a stream.
public struct SDPMsid: SDPAttributeValue {
  public static var attributeName: String { "msid" }
  /// The stream's id; `-` means that the track is in no stream.
  public var stream: String
  public var track: String?

  public init(stream: String, track: String? = nil) {
    self.stream = stream
    self.track = track
  }

  public init?(parsing value: String) {
    let words = SDPText.words(value)
    guard words.count == 1 || words.count == 2 else { return nil }
    stream = String(words[0])
    track = words.count == 2 ? String(words[1]) : nil
  }

  public var attributeValue: String { stream + (track.map { " " + $0 } ?? "") }
}

/// `a=ssrc` (RFC 5576 §4.1), one attribute of one source.
public struct SDPSource: SDPAttributeValue {
  public static var attributeName: String { "ssrc" }
  public var ssrc: UInt32
  /// For example `cname`; empty where nothing follows the number.
  public var name: String
  public var value: String?

  public init(ssrc: UInt32, name: String, value: String?) {
    self.ssrc = ssrc
    self.name = name
    self.value = value
  }

  public init?(parsing value: String) {
    let parts = SDPText.split(value[...], on: " ", maximum: 1)
    guard let ssrc: UInt32 = SDPText.decimal(parts[0]) else { return nil }
    self.ssrc = ssrc
    name = ""
    guard parts.count == 2 else { return }
    let pair = SDPText.split(parts[1], on: ":", maximum: 1)
    name = String(pair[0])
    self.value = pair.count == 2 ? String(pair[1]) : nil
  }

  public var attributeValue: String {
    "\(ssrc)" + (name.isEmpty ? "" : " " + name) + (value.map { ":" + $0 } ?? "")
  }
}

/// `a=ssrc-group` (RFC 5576 §4.2), for example `FID 1 2`.
public struct SDPSourceGroup: SDPAttributeValue {
  public static var attributeName: String { "ssrc-group" }
  public var semantics: String
  public var ssrcs: [UInt32]

  public init(semantics: String, ssrcs: [UInt32]) {
    self.semantics = semantics
    self.ssrcs = ssrcs
  }

  public init?(parsing value: String) {
    let words = SDPText.words(value)
    guard let first = words.first else { return nil }
    semantics = String(first)
    ssrcs = []
    for word in words.dropFirst() {
      guard let ssrc: UInt32 = SDPText.decimal(word) else { return nil }
      ssrcs.append(ssrc)
    }
  }

  public var attributeValue: String {
    semantics + ssrcs.reduce(into: "") { $0 += " \($1)" }
  }
}

/// `a=rid` (RFC 8851 §4).
public struct SDPRid: SDPAttributeValue {
  public enum Direction: String, Sendable, Hashable {
    case send
    case recv

    public var reversed: Direction { self == .send ? .recv : .send }
  }

  public static var attributeName: String { "rid" }
  public var id: String
  public var direction: Direction
  /// For example `pt=97;max-width=1280`.
  public var restrictions: FormatParameters

  public init(id: String, direction: Direction, restrictions: FormatParameters = [:]) {
    self.id = id
    self.direction = direction
    self.restrictions = restrictions
  }

  public init?(parsing value: String) {
    let parts = SDPText.split(value[...], on: " ", maximum: 2)
    guard parts.count >= 2, SDPRid.isValid(parts[0]),
      let direction = Direction(rawValue: String(parts[1]))
    else { return nil }
    id = String(parts[0])
    self.direction = direction
    restrictions = FormatParameters(parsing: parts.count == 3 ? String(parts[2]) : "")
  }

  /// The payload types that `pt=` allows; nil where all are.
  public var payloadTypes: [UInt8]? {
    restrictions["pt"].map { SDPText.split($0[...], on: ",").compactMap { SDPText.decimal($0) } }
  }

  public var attributeValue: String {
    "\(id) \(direction.rawValue)" + (restrictions.isEmpty ? "" : " \(restrictions)")
  }

  /// Letters, digits, `-` and `_` (RFC 8851 §10), at most 255 of them.
  static func isValid(_ id: Substring) -> Bool {
    (1...255).contains(id.utf8.count)
      && id.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
      }
  }
}

/// `a=simulcast` (RFC 8853 §5.1).
public struct SDPSimulcast: SDPAttributeValue {
  /// One format of a simulcast stream.
  public struct Format: Sendable, Hashable {
    public var rid: String
    /// Written with `~` before the rid.
    public var isPaused: Bool

    public init(rid: String, isPaused: Bool = false) {
      self.rid = rid
      self.isPaused = isPaused
    }
  }

  public static var attributeName: String { "simulcast" }
  /// The streams the writer sends; each a list of alternatives, the preferred one first.
  public var send: [[Format]]
  /// The streams the writer receives.
  public var receive: [[Format]]

  public init(send: [[Format]] = [], receive: [[Format]] = []) {
    self.send = send
    self.receive = receive
  }

  public init?(parsing value: String) {
    send = []
    receive = []
    let words = SDPText.words(value)
    guard words.count == 2 || words.count == 4 else { return nil }
    for index in stride(from: 0, to: words.count, by: 2) {
      guard let streams = SDPSimulcast.streams(words[index + 1]) else { return nil }
      switch words[index] {
      case "send" where send.isEmpty: send = streams
      case "recv" where receive.isEmpty: receive = streams
      default: return nil
      }
    }
  }

  private static func streams(_ text: Substring) -> [[Format]]? {
    var result: [[Format]] = []
    for stream in SDPText.split(text, on: ";") {
      var alternatives: [Format] = []
      for alternative in SDPText.split(stream, on: ",") {
        let isPaused = alternative.utf8.first == UInt8(ascii: "~")
        let rid = isPaused ? alternative.dropFirst() : alternative
        guard SDPRid.isValid(rid) else { return nil }
        alternatives.append(Format(rid: String(rid), isPaused: isPaused))
      }
      result.append(alternatives)
    }
    return result
  }

  public var attributeValue: String {
    let write = { (streams: [[Format]]) in
      streams.map { stream in
        stream.map { ($0.isPaused ? "~" : "") + $0.rid }.joined(separator: ",")
      }.joined(separator: ";")
    }
    var parts: [String] = []
    if !send.isEmpty { parts.append("send " + write(send)) }
    if !receive.isEmpty { parts.append("recv " + write(receive)) }
    return parts.joined(separator: " ")
  }
}
