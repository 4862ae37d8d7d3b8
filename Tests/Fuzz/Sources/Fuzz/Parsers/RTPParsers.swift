import SoraMedia
import SoraRTP

extension FuzzTarget {
  /// Ids of a call with everything on.
  static var extensionMap: RTPHeaderExtensionMap {
    var map = RTPHeaderExtensionMap()
    for (index, kind) in RTPHeaderExtensionKind.allCases.enumerated() {
      map[kind] = UInt8(index + 1)
    }
    return map
  }

  static func rtpPacket(
    _ header: RTPHeader, _ extensions: RTPHeaderExtensions = RTPHeaderExtensions(),
    descriptor: [UInt8] = [], payload: [UInt8], padding: Int = 0
  ) -> [UInt8] {
    Seeds.datagram { buffer in
      var writer = RTPPacketWriter(into: buffer)
      try descriptor.withUnsafeBytes {
        try writer.writeHeader(
          header, extensions: extensions, map: extensionMap, dependencyDescriptor: $0)
      }
      try payload.withUnsafeBytes { try writer.append($0) }
      if padding > 0 {
        try writer.appendPadding(padding)
        buffer[0] |= 0x20
      }
      return writer.count
    }
  }

  static func rtpSeeds() -> [[UInt8]] {
    let header = RTPHeader(
      payloadType: 96, sequenceNumber: 65_534, timestamp: 90_000, ssrc: 0x1234, marker: true)
    var all = RTPHeaderExtensions()
    all.mid = RTPExtensionText("video0")
    all.rid = RTPExtensionText("h")
    all.absSendTime = 0x123456
    all.audioLevel = RTPAudioLevel(level: 30, hasVoice: true)
    all.transportSequenceNumber = 77
    all.videoOrientation = .clockwise90
    var long = RTPHeaderExtensions()
    long.mid = RTPExtensionText("a-mid-of-more-than-16-bytes")
    var withSource = rtpPacket(header, payload: [1, 2, 3])
    withSource[0] |= 1
    withSource.insert(contentsOf: [0, 0, 0, 9], at: 12)
    return [
      rtpPacket(header, payload: [0x10, 0, 1, 2, 3]),
      rtpPacket(header, all, payload: [0x90, 0xE0, 0x80, 1, 2, 0x20, 3, 4, 5], padding: 4),
      rtpPacket(header, long, payload: []), withSource,
      rtpPacket(header, descriptor: [0xC0, 0x00, 0x07], payload: [1]),
      rtpPacket(
        header, all, descriptor: [0x80, 0x00, 0x01, 0x80, 0x00, 0xD7, 0x04], payload: [1, 2, 3]),
    ]
  }

  static var rtp: FuzzTarget {
    FuzzTarget("rtp", seeds: rtpSeeds()) { input in
      _ = RTPHeader.isRTCP(input)
      guard let header = try? RTPHeader(parsing: input) else { return }
      _ = header.payload(in: input)
      var elements = RTPExtensionElements(of: header, in: input)
      var count = 0
      while let element = elements.next() {
        check(element.range.upperBound <= input.count, "an extension lies outside of its packet")
        count += 1
        check(count <= input.count, "extensions without end")
      }
      readRedundancy(header, input)
      for id: UInt8 in [0, 1, 2, 14, 15, 255] { _ = header.extensionRange(id: id, in: input) }
      let map = extensionMap
      let values = RTPHeaderExtensions(of: header, in: input, map: map)
      let output = Seeds.datagram(70_000) { buffer in
        try RTPPacket.rewriteExtensions(
          of: input, header: header, extensions: values, map: map, into: buffer
        ).count
      }
      output.withUnsafeBytes { bytes in
        guard let again = try? RTPHeader(parsing: bytes) else {
          return check(false, "a rewritten packet doesn't parse")
        }
        check(again.payloadCount == header.payloadCount, "rewriting changed the payload")
        var rewritten = RTPHeaderExtensions(of: again, in: bytes, map: map)
        // Where the descriptor lies may change, what it says may not.
        check(
          rewritten.dependencyDescriptor.bytes(in: bytes)
            .elementsEqual(values.dependencyDescriptor.bytes(in: input)),
          "rewriting changed the dependency descriptor")
        rewritten.dependencyDescriptor = values.dependencyDescriptor
        check(rewritten == values, "rewriting changed the extensions")
      }
    }
  }

  /// As redundant audio: the newest block is the one that all blocks end with, before and after their types are changed.
  private static func readRedundancy(_ header: RTPHeader, _ input: UnsafeRawBufferPointer) {
    let newest = header.newestBlock(in: input.bytes)
    let last = (try? REDPayload.Blocks(parsing: header.payload(in: input))).flatMap {
      Array($0).last
    }
    check((newest == nil) == (last == nil), "blocks are read in one way alone")
    guard let newest, let last else { return }
    check(newest.payloadType == last.payloadType, "the newest block has two types")
    check(
      newest.payloadOffset == header.payloadOffset + last.range.lowerBound
        && newest.payloadCount == last.range.count, "the newest block lies in two places")
    var moved = Array(header.payload(in: input))
    moved.withUnsafeMutableBytes { bytes in
      var span = bytes.mutableBytes
      REDPayload.move(last.payloadType, to: last.payloadType ^ 1, in: &span)
      let types = (try? REDPayload.Blocks(parsing: UnsafeRawBufferPointer(bytes)))
        .map { $0.map(\.payloadType) }
      check(types?.last == last.payloadType ^ 1, "a block keeps its type")
      check(types?.contains(last.payloadType) == false, "a block keeps its type")
    }
  }

  static var retransmission: FuzzTarget {
    FuzzTarget("retransmission", seeds: rtpSeeds()) { input in
      guard let header = try? RTPHeader(parsing: input) else { return }
      if let original = Retransmission.restore(header, in: input, ssrc: 5, payloadType: 97) {
        _ = original.payload(in: input)
        check(original.payloadCount + 2 == header.payloadCount, "a payload of another size")
      }
      let map = extensionMap
      let sent = Seeds.datagram(70_000) { buffer in
        try Retransmission.build(
          of: input, ssrc: 9, sequenceNumber: 1, payloadType: 98,
          extensions: RTPHeaderExtensions(of: header, in: input, map: map), map: map, into: buffer
        ).count
      }
      sent.withUnsafeBytes { bytes in
        guard header.payloadCount > 0, let repeated = try? RTPHeader(parsing: bytes) else { return }
        let back = Retransmission.restore(
          repeated, in: bytes, ssrc: header.ssrc, payloadType: header.payloadType)
        check(
          back?.sequenceNumber == header.sequenceNumber
            && back?.payloadCount == header.payloadCount,
          "what was sent again isn't what was sent")
      }
    }
  }

  static var rtcp: FuzzTarget {
    FuzzTarget("rtcp", seeds: rtcpSeeds()) { input in walk(input) }
  }

  /// Reads everything there is in a compound packet.
  static func walk(_ datagram: UnsafeRawBufferPointer) {
    var reader = RTCPReader(datagram)
    var timeline = TransportFeedbackTimeline()
    var packets = 0
    while let packet = try? reader.next() {
      packets += 1
      check(packets <= datagram.count / 4, "more packets than fit")
      switch packet {
      case .senderReport(let info, let blocks):
        var tracker = SenderReportTracker(clockRate: 90_000)
        tracker.received(info, at: .zero)
        _ = tracker.captureTime(of: info.rtpTimestamp &+ 1)
        _ = tracker.delaySinceLast(at: Instant(nanoseconds: .max))
        var clock = RemoteClock()
        clock.received(info.ntp, at: Instant(nanoseconds: 5), roundTrip: .milliseconds(10))
        _ = clock.instant(of: info.ntp)
        for block in blocks { _ = block.roundTrip(at: info.ntp) }
      case .receiverReport(_, let blocks):
        for block in blocks { _ = block.roundTrip(at: NTPTime(rawValue: 1)) }
      case .sourceDescription(let chunks): for chunk in chunks { _ = chunk.cnameText }
      case .goodbye(let goodbye):
        for ssrc in goodbye { _ = ssrc }
        _ = goodbye.reason
      case .pictureLossIndication: break
      case .fullIntraRequest(let entries): for entry in entries { _ = entry }
      case .nack(let nack): for number in nack { _ = number }
      case .transportFeedback(let feedback):
        _ = timeline.reference(of: feedback)
        var count = 0
        for status in feedback {
          _ = status
          count += 1
        }
        check(count <= feedback.statusCount, "more statuses than announced")
      case .congestionFeedback(let feedback):
        var timeline = CongestionFeedbackTimeline()
        _ = timeline.reportTime(feedback.reportTime)
        var count = 0
        for status in feedback {
          check(status.ecn != nil || status.age == nil, "a packet that hasn't come has an age")
          count += 1
        }
        check(2 * count <= datagram.count, "more packets than fit")
      case .extendedReport(let report):
        var count = 0
        for block in report {
          if case .receiverDelays(let delays) = block { for delay in delays { _ = delay } }
          count += 1
        }
        check(4 * count <= datagram.count, "more blocks than fit")
      case .receiverEstimate(let estimate): for ssrc in estimate { _ = ssrc }
      case .unknown(let raw): _ = raw.bytes.count
      }
    }
  }

  static func rtcpSeeds() -> [[UInt8]] {
    let block = RTCPReportBlock(
      ssrc: 1, fractionLost: 2, cumulativeLost: -3, extendedHighestSequence: 70_000, jitter: 9,
      lastSenderReport: 0x1234_5678, delaySinceLastSenderReport: 65_536)
    let info = RTCPSenderInfo(
      ssrc: 7, ntp: NTPTime(rawValue: 0xE000_0000_8000_0000), rtpTimestamp: 90_000,
      packetCount: 10, octetCount: 1_000)
    return [
      Seeds.datagram { buffer in
        var writer = RTCPWriter(into: buffer)
        try writer.senderReport(info, blocks: [block, block])
        try writer.sourceDescription(ssrc: 7, cname: "a name")
        try writer.goodbye(ssrc: 7)
        return writer.count
      },
      Seeds.datagram { buffer in
        var writer = RTCPWriter(into: buffer)
        try writer.receiverReport(sender: 1, blocks: [block])
        try writer.pictureLossIndication(sender: 1, media: 7)
        try writer.fullIntraRequest(sender: 1, media: 7, sequenceNumber: 3)
        try writer.nack(sender: 1, media: 7, missing: [65_534, 65_535, 0, 16, 40])
        try writer.receiverEstimate(sender: 1, bitsPerSecond: 3_000_000, sources: [7, 8])
        return writer.count
      },
      feedbackSeed(), congestionFeedbackSeed(),
      Seeds.datagram { buffer in
        var writer = RTCPWriter(into: buffer)
        try writer.receiverReferenceTime(sender: 1, ntp: NTPTime(rawValue: 0xE000_0000_8000_0000))
        try writer.receiverDelays(
          sender: 7, [RTCPReceiverDelay(ssrc: 1, lastReferenceTime: 0x8000, delay: 65_536)])
        return writer.count
      },
      // An APP packet and an XR packet.
      [0x80, 204, 0, 2, 0, 0, 0, 1, 0x41, 0x42, 0x43, 0x44, 0x80, 207, 0, 1, 0, 0, 0, 1],
    ]
  }
}
