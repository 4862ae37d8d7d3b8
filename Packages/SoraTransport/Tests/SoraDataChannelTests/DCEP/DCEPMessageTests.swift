import SoraDataChannel
import Testing

@Suite struct DCEPMessageTests {
  /// RFC 8832 §5.1, field by field: type, channel type, priority, reliability, both lengths, label, protocol.
  @Test func openIsWrittenAsTheRFCDrawsIt() throws {
    let message = DCEPMessage.open(
      DataChannelParameters(
        label: "chat", protocol: "irc", isOrdered: false, reliability: .maximumRetransmits(5),
        priority: .high))
    let bytes: [UInt8] =
      [0x03, 0x81, 0x02, 0x00, 0, 0, 0, 5, 0, 4, 0, 3] + Array("chat".utf8) + Array("irc".utf8)
    #expect(message.encoded == bytes)
    #expect(try DCEPMessage(parsing: bytes.span.bytes) == message)
  }

  /// RFC 8832 §5.2.
  @Test func acknowledgementIsOneByte() throws {
    #expect(DCEPMessage.acknowledgement.encoded == [0x02])
    let bytes: [UInt8] = [0x02]
    #expect(try DCEPMessage(parsing: bytes.span.bytes) == .acknowledgement)
  }

  /// RFC 8832 §8.2.2: the six channel types.
  @Test(arguments: [
    (UInt8(0x00), true, DataChannelReliability.reliable),
    (0x80, false, .reliable),
    (0x01, true, .maximumRetransmits(0)),
    (0x81, false, .maximumRetransmits(65_535)),
    (0x02, true, .maximumLifetime(milliseconds: 1)),
    (0x82, false, .maximumLifetime(milliseconds: .max)),
  ])
  func channelTypes(type: UInt8, isOrdered: Bool, reliability: DataChannelReliability) throws {
    let parameters = DataChannelParameters(
      label: "", isOrdered: isOrdered, reliability: reliability)
    let bytes = DCEPMessage.open(parameters).encoded
    #expect(bytes[1] == type)
    #expect(try DCEPMessage(parsing: bytes.span.bytes) == .open(parameters))
  }

  @Test func whatIsCutShortIsRefused() {
    let whole = DCEPMessage.open(DataChannelParameters(label: "läbel", protocol: "p")).encoded
    for count in 0..<whole.count {
      let bytes = Array(whole[..<count])
      #expect(throws: DCEPError.tooShort) { try DCEPMessage(parsing: bytes.span.bytes) }
    }
  }

  @Test func whatIsUnknownIsRefused() {
    for type in UInt8.min...UInt8.max where type != 2 && type != 3 {
      let bytes = [type] + [UInt8](repeating: 0, count: 20)
      #expect(throws: DCEPError.unknownType(type)) { try DCEPMessage(parsing: bytes.span.bytes) }
    }
    let bytes: [UInt8] = [3, 0x83, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    #expect(throws: DCEPError.unknownChannelType(0x83)) {
      try DCEPMessage(parsing: bytes.span.bytes)
    }
  }

  /// The wire has 32 bits for what SCTP counts in 16.
  @Test func moreRetransmitsThanThereAreAreTheMost() throws {
    let bytes: [UInt8] = [3, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    let message = try DCEPMessage(parsing: bytes.span.bytes)
    #expect(
      message
        == .open(DataChannelParameters(label: "", reliability: .maximumRetransmits(65_535))))
  }

  @Test func namesOfAnyBytesAreRead() throws {
    let bytes: [UInt8] = [3, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0xFF, 0x41, 0xC3]
    guard case .open(let parameters) = try DCEPMessage(parsing: bytes.span.bytes) else {
      Issue.record("not an open message")
      return
    }
    #expect(parameters.label == "\u{FFFD}A")
    #expect(parameters.protocol == "\u{FFFD}")
  }

  @Test func namesBeyondTheFieldAreCut() throws {
    let long = String(repeating: "x", count: 70_000)
    let bytes = DCEPMessage.open(DataChannelParameters(label: long, protocol: "p")).encoded
    #expect(bytes.count == 12 + 65_535 + 1)
    guard case .open(let parameters) = try DCEPMessage(parsing: bytes.span.bytes) else {
      Issue.record("not an open message")
      return
    }
    #expect(parameters.protocol == "p")
  }
}
