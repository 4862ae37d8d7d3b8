import SoraMedia
import SoraRTP
import SoraTransport
import SoraWire

/// Swallows what a session sends, after a look at whether it is well-formed.
final class FuzzOutput: RTPSessionOutput {
  var sent: [[UInt8]] = []

  func sendRTP(_ packet: UnsafeRawBufferPointer, ecn: ECNCodepoint) -> Bool {
    check((try? RTPHeader(parsing: packet)) != nil, "the session sent a malformed packet")
    if sent.count < 64 { sent.append(Array(packet)) }
    return true
  }

  func sendRTCP(capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> Bool {
    lendExactly([UInt8](repeating: 0, count: capacity)) { buffer in
      let count = write(buffer)
      check(count <= capacity, "more RTCP than there was room for")
      guard count > 0 else { return false }
      FuzzTarget.walk(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      return true
    }
  }
}

/// The sections of an ordinary call.
enum FuzzSections {
  static let audio = RTPReceiveParameters(
    mid: "a", kind: .audio,
    payloads: [.init(type: 111, codecName: "opus", clockRate: 48_000)],
    extensions: FuzzTarget.extensionMap, signalledSSRCs: [11])

  static var video: RTPReceiveParameters {
    var section = RTPReceiveParameters(
      mid: "v", kind: .video,
      payloads: [
        .init(type: 96, codecName: "VP8", clockRate: 90_000),
        .init(type: 97, codecName: "rtx", clockRate: 90_000, associatedType: 96),
        .init(type: 98, codecName: "red", clockRate: 90_000),
        .init(type: 99, codecName: "ulpfec", clockRate: 90_000),
        .init(type: 100, codecName: "rtx", clockRate: 90_000, associatedType: 98),
        .init(type: 35, codecName: "flexfec-03", clockRate: 90_000),
      ],
      extensions: FuzzTarget.extensionMap, signalledSSRCs: [21],
      retransmissionPairs: [(primary: 21, rtx: 22)])
    section.repairPairs = [(primary: 21, repair: 23)]
    section.sendsReferenceTime = true
    return section
  }

  static func sending(_ ssrc: UInt32) -> RTPSendParameters {
    var parameters = RTPSendParameters(
      mid: "s", kind: .video, ssrc: ssrc, payloadType: 96, codecName: "VP8", clockRate: 90_000,
      rtx: (ssrc: ssrc + 1, payloadType: 97), extensions: FuzzTarget.extensionMap)
    parameters.repair = .flexible(ssrc: ssrc + 2, payloadType: 35)
    return parameters
  }
}

extension FuzzTarget {
  static var rtpSession: FuzzTarget {
    func seeds() -> [[UInt8]] {
      var script = ScriptWriter()
      for index in 0..<6 {
        script.byte(1)
        script.byte(UInt8(index % 4))
        script.number16(65_533 + index)
        script.number32(UInt32(index / 2) * 3_000)
        script.byte(12)
        script.raw([
          index % 2 == 0 ? 0x90 : 0x80, 0xE0, 0x80, UInt8(index), UInt8(index), 0x20, 0x10, 2, 0,
          0x9D, 1, 0x2A,
        ])
        script.raw([2, 30, 4, UInt8(index)])
      }
      var control = ScriptWriter()
      for datagram in rtcpSeeds() {
        control.byte(3)
        control.chunk(datagram)
        control.raw([2, 210, 4, 9])
      }
      control.raw([5, 3, 1, 6, 1])
      var raw = ScriptWriter()
      for packet in rtpSeeds() {
        raw.byte(0)
        raw.chunk(packet)
      }
      return [script.bytes, control.bytes, raw.bytes]
    }
    return FuzzTarget("rtp-session", maximumLength: 1200, seeds: seeds()) { bytes in
      var input = FuzzInput(bytes)
      var run = SessionRun()
      while !input.isAtEnd { run.step(&input) }
      for stream in run.session.sendStreams { run.session.removeSendStream(stream) }
    }
  }

  private struct SessionRun {
    let session: RTPSession
    let output = FuzzOutput()
    var now = Instant(nanoseconds: 1_000_000_000)
    var frames: UInt32 = 0

    init() {
      session = RTPSession(
        configuration: RTPSession.Configuration(
          cname: "fuzz", wallClock: WallClock(unixNanoseconds: 1_700_000_000_000_000_000, at: .zero)
        ),
        random: RandomSource(seed: 5), output: output)
      session.setReceiveSections([FuzzSections.audio, FuzzSections.video], at: now)
      _ = session.addSendStream(FuzzSections.sending(7))
    }

    mutating func step(_ input: inout FuzzInput) {
      switch input.byte() % 7 {
      case 0: lendExactly(input.chunk()) { session.receiveRTP($0, at: now) }
      case 1: lendExactly(packet(&input)) { session.receiveRTP($0, at: now) }
      case 2:
        let end = now + input.step()
        let session = session
        drive(until: end, from: now, deadline: session.nextDeadline) { session.poll(at: $0) }
        now = end
      case 3:
        lendExactly(input.chunk()) { session.receiveRTCP(UnsafeRawBufferPointer($0), at: now) }
      case 4: send(size: Int(input.byte()) * 40)
      case 5:
        // Reports about what was really sent.
        let kind = input.byte()
        let number = input.number16()
        let datagram = report(kind, number)
        lendExactly(datagram) { session.receiveRTCP(UnsafeRawBufferPointer($0), at: now) }
      default:
        let choice = input.byte()
        var sections: [RTPReceiveParameters] = []
        if choice & 1 != 0 { sections.append(FuzzSections.audio) }
        if choice & 2 != 0 {
          var video = FuzzSections.video
          if choice & 8 != 0 { video.feedback = .bySource }
          if choice & 16 != 0 { video.rids = ["h"] }
          if choice & 32 != 0 {
            video.feedback = .receiverEstimate
            video.extensions.transportSequenceNumber = nil
          }
          sections.append(video)
        }
        session.setReceiveSections(sections, at: now)
        for stream in session.receiveStreams where choice & 4 != 0 { stream.requestKeyFrame() }
      }
    }

    /// A well-formed packet of one of the known sources, or of a new one.
    private func packet(_ input: inout FuzzInput) -> [UInt8] {
      let choice = input.byte()
      var header = RTPHeader(
        payloadType: [111, 96, 96, 97][Int(choice & 3)], sequenceNumber: input.number16(),
        timestamp: input.number32(), ssrc: [11, 21, 21, 22][Int(choice & 3)])
      if choice & 4 != 0 { header.ssrc = UInt32(choice) }
      if choice & 128 != 0 {
        // Repair packets, or what RED holds.
        header.payloadType = choice & 1 == 0 ? 98 : 35
        header.ssrc = choice & 1 == 0 ? 21 : 23
      }
      header.marker = choice & 8 != 0
      var extensions = RTPHeaderExtensions()
      extensions.transportSequenceNumber = header.sequenceNumber
      if choice & 16 != 0 { extensions.mid = RTPExtensionText("v") }
      if choice & 32 != 0 { extensions.rid = RTPExtensionText("h") }
      if choice & 64 != 0 { extensions.repairedRid = RTPExtensionText("h") }
      return rtpPacket(header, extensions, payload: input.shortChunk())
    }

    private mutating func send(size: Int) {
      guard let stream = session.sendStreams.first else { return }
      frames += 1
      let frame = EncodedFrame(
        payload: EncodedBuffer([UInt8](repeating: 1, count: size)), isKeyFrame: frames % 5 == 1,
        rtpTimestamp: frames &* 3_000, timestamp: now)
      session.send(frame, on: stream, at: now)
    }

    private func report(_ kind: UInt8, _ number: UInt16) -> [UInt8] {
      let stream = session.sendStreams.first
      let last = output.sent.last.flatMap { packet in
        packet.withUnsafeBytes { try? RTPHeader(parsing: $0) }
      }
      return Seeds.datagram { buffer in
        var writer = RTCPWriter(into: buffer)
        switch kind & 3 {
        case 0:
          let first = (last?.sequenceNumber ?? 0) &- UInt16(kind >> 2)
          try writer.nack(sender: 3, media: 7, missing: [first, first &+ 1, number])
        case 1:
          let generator = TransportFeedbackGenerator()
          for index in 0..<UInt16(kind >> 2) where index & number == 0 {
            generator.received(
              sequenceNumber: index &+ (kind & 4 != 0 ? number : 0), ssrc: 7,
              at: Instant(nanoseconds: Int64(index) * Int64(number) * 1_000))
          }
          _ = try generator.write(into: &writer, sender: 3, at: now)
        case 2:
          let block = RTCPReportBlock(
            ssrc: stream?.parameters.ssrc ?? 7, fractionLost: kind,
            cumulativeLost: Int32(number), extendedHighestSequence: UInt32(number), jitter: .max,
            lastSenderReport: UInt32(number) << 16, delaySinceLastSenderReport: UInt32(kind) << 24)
          try writer.receiverReport(sender: 3, blocks: [block])
        default:
          try writer.receiverEstimate(
            sender: 3, bitsPerSecond: UInt64(number) << (kind & 32), sources: [7])
          try writer.fullIntraRequest(sender: 3, media: 7, sequenceNumber: kind)
        }
        return writer.count
      }
    }
  }
}
