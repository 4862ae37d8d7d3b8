/// One payload type of a section with all that is said about it: rtpmap, fmtp and rtcp-fb in one place.
public struct SDPCodec: Sendable, Hashable, CustomStringConvertible {
  public var payloadType: UInt8
  /// The encoding name, as written.
  public var name: String
  /// Hz.
  public var clockRate: Int
  /// Audio channels; nil where it isn't written.
  public var channels: Int?
  public var parameters: FormatParameters
  /// For example `nack pli`. What was written for `*` is included.
  public var feedback: [String]

  public init(
    payloadType: UInt8, name: String, clockRate: Int, channels: Int? = nil,
    parameters: FormatParameters = [:], feedback: [String] = []
  ) {
    self.payloadType = payloadType
    self.name = name
    self.clockRate = clockRate
    self.channels = channels
    self.parameters = parameters
    self.feedback = feedback
  }

  /// The payload type that this one retransmits, where this is `rtx` (RFC 4588 §8.6).
  public var associatedPayloadType: UInt8? {
    guard SDPText.equalIgnoringCase(name, "rtx"), let type = parameters.integer("apt"),
      (0..<128).contains(type)
    else { return nil }
    return UInt8(type)
  }

  /// The payload types that redundant audio carries, newest first (`111/111`, RFC 2198 §5); empty where this isn't `red` or they can't be
  /// read.
  public var redundantPayloadTypes: [UInt8] {
    guard SDPText.equalIgnoringCase(name, "red"), parameters.entries.count == 1,
      parameters.entries[0].value == nil
    else { return [] }
    let words = parameters.entries[0].key.split(separator: "/", omittingEmptySubsequences: false)
    let types = words.prefix(32).compactMap { UInt8($0) }.filter { $0 < 128 }
    return types.count == words.count ? types : []
  }

  /// `opus/48000/2`.
  public var description: String { "\(name)/\(clockRate)" + (channels.map { "/\($0)" } ?? "") }
}

extension MediaDescription {
  /// The payload types of the `m=` line in order, each once, with what the section says about them. Those without a
  /// name (no rtpmap, and not one of the static types still in use) are left out. One pass over the lines.
  public var codecs: [SDPCodec] {
    var table: [SDPCodec?] = Array(repeating: nil, count: 128)
    var order: [Int] = []
    var isListed = Array(repeating: false, count: 128)
    for format in formats {
      guard let type: UInt8 = SDPText.decimal(format[...]), type < 128, !isListed[Int(type)] else {
        continue
      }
      isListed[Int(type)] = true
      order.append(Int(type))
      table[Int(type)] = MediaDescription.staticCodec(type)
    }
    for map in rtpMaps where isListed[Int(map.payloadType)] {
      table[Int(map.payloadType)] = SDPCodec(
        payloadType: map.payloadType, name: map.name, clockRate: map.clockRate,
        channels: map.channels)
    }
    for line in formatParameters {
      guard let type: UInt8 = SDPText.decimal(line.format[...]), type < 128 else { continue }
      table[Int(type)]?.parameters.entries += line.parameters.entries
    }
    for item in feedback {
      for type in item.payloadType.map({ [Int($0)] }) ?? order {
        // Bounded, because `*` lines would multiply with the payload types.
        guard let codec = table[type], codec.feedback.count < 32,
          !codec.feedback.contains(item.kind)
        else { continue }
        table[type]?.feedback.append(item.kind)
      }
    }
    return order.compactMap { table[$0] }
  }

  /// Appends the rtpmap, rtcp-fb and fmtp lines of a codec. The `m=` line must list it already.
  public mutating func append(_ codec: SDPCodec) {
    append(
      SDPRTPMap(
        payloadType: codec.payloadType, name: codec.name, clockRate: codec.clockRate,
        channels: codec.channels))
    for kind in codec.feedback { append(SDPFeedback(payloadType: codec.payloadType, kind: kind)) }
    if !codec.parameters.isEmpty {
      append(
        SDPFormatParameters(format: "\(codec.payloadType)", parameters: codec.parameters))
    }
  }

  /// Static payload types that peers still write without rtpmap (RFC 3551 §6).
  private static func staticCodec(_ payloadType: UInt8) -> SDPCodec? {
    switch payloadType {
    case 0: SDPCodec(payloadType: 0, name: "PCMU", clockRate: 8000)
    case 8: SDPCodec(payloadType: 8, name: "PCMA", clockRate: 8000)
    case 9: SDPCodec(payloadType: 9, name: "G722", clockRate: 8000)
    default: nil
    }
  }
}
