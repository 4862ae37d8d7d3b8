import SoraMedia
import SoraRTP
import Testing

@Suite struct RTPPacketWriterTests {
  private static func map(_ first: UInt8) -> RTPHeaderExtensionMap {
    var map = RTPHeaderExtensionMap()
    for (index, kind) in RTPHeaderExtensionKind.allCases.enumerated() {
      map[kind] = first + UInt8(index)
    }
    return map
  }

  private static var values: RTPHeaderExtensions {
    var values = RTPHeaderExtensions()
    values.mid = "video_0"
    values.rid = "r2"
    values.repairedRid = "r1"
    values.absSendTime = 0x12_3456
    values.audioLevel = RTPAudioLevel(level: 40, hasVoice: true)
    values.transportSequenceNumber = 0xABCD
    values.videoOrientation = .clockwise90
    return values
  }

  @Test(arguments: [UInt8(1), 8, 9, 200])
  func whatIsWrittenIsRead(firstID: UInt8) throws {
    let map = Self.map(firstID)
    var header = RTPHeader(
      payloadType: 111, sequenceNumber: 65_535, timestamp: .max, ssrc: 1, marker: true)
    header.payloadType = 111
    let packet = try rtpPacket(
      header, extensions: Self.values, map: map, payload: [9, 8, 7], padding: 2)
    try withBytes(packet) { bytes in
      let parsed = try RTPHeader(parsing: bytes)
      #expect(parsed.extensionProfile == (firstID > 8 ? 0x1000 : 0xBEDE))
      #expect(parsed.marker && parsed.payloadType == 111 && parsed.sequenceNumber == 65_535)
      #expect(parsed.timestamp == .max && parsed.ssrc == 1)
      #expect(RTPHeaderExtensions(of: parsed, in: bytes, map: map) == Self.values)
      #expect(Array(parsed.payload(in: bytes)) == [9, 8, 7])
      #expect(parsed.paddingCount == 2)
    }
  }

  @Test func aTextOverSixteenBytesTakesTheTwoByteForm() throws {
    var values = RTPHeaderExtensions()
    values.mid = RTPExtensionText("a-mid-of-twenty-bytes")
    var map = RTPHeaderExtensionMap()
    map.mid = 3
    let packet = try rtpPacket(
      RTPHeader(payloadType: 1, sequenceNumber: 1, timestamp: 1, ssrc: 1), extensions: values,
      map: map)
    try withBytes(packet) { bytes in
      let header = try RTPHeader(parsing: bytes)
      #expect(header.extensionProfile == 0x1000)
      #expect(
        RTPHeaderExtensions(of: header, in: bytes, map: map).mid?.description
          == "a-mid-of-twenty-bytes")
    }
  }

  @Test func withoutNegotiatedExtensionsNoneAreWritten() throws {
    let packet = try rtpPacket(
      RTPHeader(payloadType: 1, sequenceNumber: 1, timestamp: 1, ssrc: 1), extensions: Self.values,
      payload: [1])
    #expect(packet.count == 13)
    #expect(packet[0] == 0x80)
  }

  @Test func timesAndNumbersCanBePatched() throws {
    let map = Self.map(1)
    let packet = try written { buffer in
      var writer = RTPPacketWriter(into: buffer)
      try writer.writeHeader(
        RTPHeader(payloadType: 96, sequenceNumber: 1, timestamp: 1, ssrc: 1),
        extensions: Self.values, map: map)
      RTPPacket.setAbsSendTime(0xFF_0001, at: try #require(writer.absSendTimeOffset), in: buffer)
      RTPPacket.setTransportSequenceNumber(
        7, at: try #require(writer.transportSequenceNumberOffset), in: buffer)
      RTPPacket.setSSRC(0x0102_0304, in: buffer)
      RTPPacket.setSequenceNumber(500, in: buffer)
      RTPPacket.setTimestamp(600, in: buffer)
      RTPPacket.setPayloadType(45, in: buffer)
      RTPPacket.setMarker(true, in: buffer)
      return writer.count
    }
    try withBytes(packet) { bytes in
      let header = try RTPHeader(parsing: bytes)
      #expect(header.ssrc == 0x0102_0304 && header.sequenceNumber == 500)
      #expect(header.timestamp == 600 && header.payloadType == 45 && header.marker)
      let values = RTPHeaderExtensions(of: header, in: bytes, map: map)
      #expect(values.absSendTime == 0xFF_0001)
      #expect(values.transportSequenceNumber == 7)
    }
  }

  @Test func aPacketIsRewrittenForAnotherPeer() throws {
    let from = Self.map(1)
    let to = Self.map(5)
    let packet = try rtpPacket(
      RTPHeader(payloadType: 96, sequenceNumber: 10, timestamp: 20, ssrc: 30, marker: true),
      extensions: Self.values, map: from, payload: [4, 5, 6], padding: 1)
    let copy = try withBytes(packet) { bytes in
      var header = try RTPHeader(parsing: bytes)
      var values = RTPHeaderExtensions(of: header, in: bytes, map: from)
      values.mid = "1"
      values.rid = nil
      header.ssrc = 31
      header.sequenceNumber = 11
      header.payloadType = 97
      return try written {
        try RTPPacket.rewriteExtensions(
          of: bytes, header: header, extensions: values, map: to, into: $0
        ).count
      }
    }
    try withBytes(copy) { bytes in
      let header = try RTPHeader(parsing: bytes)
      #expect(header.ssrc == 31 && header.sequenceNumber == 11 && header.payloadType == 97)
      #expect(header.timestamp == 20 && header.marker && header.paddingCount == 0)
      var expected = Self.values
      expected.mid = "1"
      expected.rid = nil
      #expect(RTPHeaderExtensions(of: header, in: bytes, map: to) == expected)
      #expect(Array(header.payload(in: bytes)) == [4, 5, 6])
    }
  }

  /// A dependency descriptor goes along where it lies, with the frame's number that is wanted, and stays behind where it is in the way.
  @Test(arguments: [3, 16, 17, 255])
  func aDependencyDescriptorIsCopiedWithAnotherNumber(count: Int) throws {
    let (from, to) = (Self.map(1), Self.map(5))
    let descriptor = (0..<count).map { UInt8($0) }
    let header = RTPHeader(payloadType: 96, sequenceNumber: 10, timestamp: 20, ssrc: 30)
    let packet = try descriptor.withUnsafeBytes { descriptor in
      try written {
        var writer = RTPPacketWriter(into: $0)
        try writer.writeHeader(
          header, extensions: Self.values, map: from, dependencyDescriptor: descriptor)
        try ([4, 5, 6] as [UInt8]).withUnsafeBytes { try writer.append($0) }
        return writer.count
      }
    }
    var expected = descriptor
    (expected[1], expected[2]) = (0x98, 0x76)
    try withBytes(packet) { bytes in
      let header = try RTPHeader(parsing: bytes)
      var values = RTPHeaderExtensions(of: header, in: bytes, map: from)
      #expect(values.dependencyDescriptor.frameNumber == 0x0102)
      #expect(Array(values.dependencyDescriptor.bytes(in: bytes)) == descriptor)
      #expect(values.dependencyDescriptor.bytes(in: .init(rebasing: bytes[..<30])).isEmpty)
      values.dependencyDescriptor.frameNumber = 0x9876
      let payload = UnsafeRawBufferPointer(rebasing: bytes[header.payloadOffset...])
      for isRepair in [false, true] {
        func write(_ capacity: Int, _ map: RTPHeaderExtensionMap) throws -> [UInt8] {
          try written(capacity: capacity) {
            guard isRepair else {
              return try RTPPacket.rewriteExtensions(
                of: bytes, header: header, extensions: values, map: map, into: $0
              ).count
            }
            return try Retransmission.write(
              header, originalNumber: 9, payload: payload, extensions: values, map: map,
              dependencyDescriptor: values.dependencyDescriptor.bytes(in: bytes), into: $0
            ).count
          }
        }
        func descriptor(_ copy: [UInt8]) throws -> [UInt8] {
          try withBytes(copy) { bytes in
            let values = RTPHeaderExtensions(
              of: try RTPHeader(parsing: bytes), in: bytes, map: to)
            #expect(values.mid == Self.values.mid)
            return Array(values.dependencyDescriptor.bytes(in: bytes))
          }
        }
        let whole = try write(1500, to)
        #expect(try descriptor(whole) == expected)
        #expect(try descriptor(write(whole.count, to)) == expected)
        let bare = try write(whole.count - 1, to)
        #expect(try descriptor(bare).isEmpty)
        #expect(bare.suffix(3) == [4, 5, 6])
        var without = to
        without.dependencyDescriptor = nil
        #expect(try descriptor(write(1500, without)).isEmpty)
      }
    }
  }

  /// What is too short to be one isn't read.
  @Test(arguments: 0...2)
  func aShortDependencyDescriptorIsNone(count: Int) throws {
    var map = RTPHeaderExtensionMap()
    map.dependencyDescriptor = 8
    let packet = try [UInt8](repeating: 1, count: count).withUnsafeBytes { descriptor in
      try written {
        var writer = RTPPacketWriter(into: $0)
        try writer.writeHeader(
          RTPHeader(payloadType: 96, sequenceNumber: 1, timestamp: 2, ssrc: 3), map: map,
          dependencyDescriptor: descriptor)
        return writer.count
      }
    }
    try withBytes(packet) {
      let header = try RTPHeader(parsing: $0)
      #expect(RTPHeaderExtensions(of: header, in: $0, map: map) == RTPHeaderExtensions())
    }
  }

  @Test func tooSmallBuffersAreRefused() {
    for capacity in 0..<20 {
      #expect(throws: RTPError.self) {
        _ = try written(capacity: capacity) { buffer in
          var writer = RTPPacketWriter(into: buffer)
          try writer.writeHeader(
            RTPHeader(payloadType: 1, sequenceNumber: 1, timestamp: 1, ssrc: 1),
            extensions: Self.values, map: Self.map(1))
          return writer.count
        }
      }
    }
  }

  @Test func absSendTimeCountsSecondsModulo64() {
    #expect(RTPHeaderExtensions.absSendTime(at: .zero) == 0)
    #expect(RTPHeaderExtensions.absSendTime(at: .zero + .seconds(1)) == 1 << 18)
    #expect(RTPHeaderExtensions.absSendTime(at: .zero + .seconds(64)) == 0)
    #expect(RTPHeaderExtensions.absSendTime(at: .zero + .milliseconds(63_500)) == 0xFE_0000)
  }

  @Test func aMapIsMadeFromSDP() {
    let pairs = RTPHeaderExtensionMap.uris.enumerated().map { (id: $0.offset + 1, uri: $0.element) }
    #expect(RTPHeaderExtensionMap(pairs) == Self.map(1))
    let odd = RTPHeaderExtensionMap([
      (id: 0, uri: RTPHeaderExtensionKind.mid.uri), (id: 300, uri: RTPHeaderExtensionKind.rid.uri),
      (id: 4, uri: "urn:unheard-of"),
    ])
    #expect(odd == RTPHeaderExtensionMap())
  }

  @Test func retransmissionsRestoreTheirOriginal() throws {
    var map = RTPHeaderExtensionMap()
    map.repairedRid = 9
    var extensions = RTPHeaderExtensions()
    extensions.repairedRid = "hi"
    let original = try rtpPacket(
      RTPHeader(payloadType: 96, sequenceNumber: 0xFFFE, timestamp: 77, ssrc: 5, marker: true),
      payload: [1, 2, 3, 4])
    let packet = try withBytes(original) { bytes in
      try written {
        try Retransmission.build(
          of: bytes, ssrc: 6, sequenceNumber: 100, payloadType: 97, extensions: extensions,
          map: map, into: $0
        ).count
      }
    }
    try withBytes(packet) { bytes in
      let header = try RTPHeader(parsing: bytes)
      #expect(header.ssrc == 6 && header.sequenceNumber == 100 && header.payloadType == 97)
      #expect(header.marker && header.timestamp == 77)
      #expect(Array(header.payload(in: bytes).prefix(2)) == [0xFF, 0xFE])
      #expect(RTPHeaderExtensions(of: header, in: bytes, map: map).repairedRid == "hi")
      let restored = try #require(
        Retransmission.restore(header, in: bytes, ssrc: 5, payloadType: 96))
      #expect(restored.sequenceNumber == 0xFFFE && restored.ssrc == 5)
      #expect(restored.payloadType == 96 && restored.marker)
      #expect(Array(restored.payload(in: bytes)) == [1, 2, 3, 4])
    }
    let probe = try rtpPacket(
      RTPHeader(payloadType: 97, sequenceNumber: 1, timestamp: 0, ssrc: 6), padding: 200)
    try withBytes(probe) { bytes in
      let header = try RTPHeader(parsing: bytes)
      #expect(Retransmission.restore(header, in: bytes, ssrc: 5, payloadType: 96) == nil)
    }
  }
}
