import SoraMedia
import SoraRTP
import SoraWire

extension FuzzTarget {
  static func feedbackSeed() -> [UInt8] {
    let generator = TransportFeedbackGenerator()
    for index in 0..<60 where index % 7 != 3 {
      generator.received(
        sequenceNumber: UInt16(truncatingIfNeeded: 65_520 + index), ssrc: 7,
        at: Instant(nanoseconds: Int64(index) * (index == 30 ? 90_000_000 : 3_000_000)))
    }
    return Seeds.datagram { buffer in
      var writer = RTCPWriter(into: buffer)
      _ = try generator.write(into: &writer, sender: 1, at: Instant(nanoseconds: 300_000_000))
      return writer.count
    }
  }

  /// Chunks and deltas behind a header that is always right, so that all effort goes into them.
  static var transportFeedback: FuzzTarget {
    FuzzTarget(
      "transport-feedback", maximumLength: 600, seeds: [Array(feedbackSeed().dropFirst(4))]
    ) { input in
      var body = Array(input)
      while body.count % 4 != 0 { body.append(0) }
      let words = body.count / 4
      let header: [UInt8] = [0x8F, 205, UInt8(words >> 8 & 0xFF), UInt8(words & 0xFF)]
      lendExactly(header + body) { walk(UnsafeRawBufferPointer($0)) }
    }
  }

  /// The receiver's half: arrivals in any order and at any time, whose feedback must say what arrived.
  static var feedbackGenerator: FuzzTarget {
    func seed() -> [[UInt8]] {
      var script = ScriptWriter()
      for index in 0..<40 {
        script.byte(1)
        script.number16(65_500 + index)
        script.byte(3)
        if index % 13 == 12 { script.raw([0, 100]) }
      }
      return [script.bytes]
    }
    return FuzzTarget("feedback-generator", maximumLength: 800, seeds: seed()) { bytes in
      var input = FuzzInput(bytes)
      let generator = TransportFeedbackGenerator()
      var now = Instant.zero
      while !input.isAtEnd {
        if input.byte() & 3 != 0 {
          let number = input.number16()
          now += input.step()
          generator.received(sequenceNumber: number, ssrc: 7, at: now)
        } else {
          now += input.step()
          write(generator, at: now)
        }
      }
      write(generator, at: now)
    }
  }

  static func congestionFeedbackSeed() -> [UInt8] {
    let generator = CongestionFeedbackGenerator()
    for index in 0..<40 where index % 7 != 3 {
      generator.received(
        ssrc: index % 5 == 0 ? 8 : 7, sequenceNumber: UInt16(truncatingIfNeeded: 65_520 + index),
        ecn: index % 9 == 0 ? .congestionExperienced : .ect0,
        at: Instant(nanoseconds: Int64(index) * 3_000_000))
    }
    return Seeds.datagram { buffer in
      var writer = RTCPWriter(into: buffer)
      _ = try generator.write(
        into: &writer, sender: 1, reportTime: 0x1234_5678, at: Instant(nanoseconds: 100_000_000))
      return writer.count
    }
  }

  /// The receiver's half of feedback by source: arrivals in any order, whose feedback must parse and come to an end.
  static var congestionFeedbackGenerator: FuzzTarget {
    func seed() -> [[UInt8]] {
      var script = ScriptWriter()
      for index in 0..<40 {
        script.byte(1)
        script.number16(65_500 + index)
        script.byte(3)
        if index % 13 == 12 { script.raw([0, 100]) }
      }
      return [script.bytes]
    }
    return FuzzTarget("congestion-feedback-generator", maximumLength: 800, seeds: seed()) { bytes in
      var input = FuzzInput(bytes)
      let generator = CongestionFeedbackGenerator()
      var now = Instant.zero
      while !input.isAtEnd {
        let choice = input.byte()
        if choice & 3 != 0 {
          let number = input.number16()
          now += input.step()
          generator.received(
            ssrc: UInt32(choice >> 4), sequenceNumber: number,
            ecn: ECNCodepoint(rawValue: choice >> 2 & 3) ?? .notECT, at: now)
        } else {
          now += input.step()
          write(generator, at: now)
        }
      }
      write(generator, at: now)
    }
  }

  private static func write(_ generator: CongestionFeedbackGenerator, at now: Instant) {
    var more = true
    var rounds = 0
    while more {
      more = false
      let datagram = Seeds.datagram(1_200) { buffer in
        var writer = RTCPWriter(into: buffer)
        more = try generator.write(into: &writer, sender: 1, reportTime: 5, at: now)
        return writer.count
      }
      datagram.withUnsafeBytes { bytes in
        walk(bytes)
        var reader = RTCPReader(bytes)
        guard !bytes.isEmpty else { return }
        guard let packet = try? reader.next(), case .congestionFeedback(let feedback) = packet
        else { return check(false, "our own feedback doesn't parse") }
        check(feedback.contains { _ in true }, "feedback about nothing")
      }
      rounds += 1
      check(rounds < 500, "feedback without end")
    }
  }

  private static func write(_ generator: TransportFeedbackGenerator, at now: Instant) {
    var more = true
    var rounds = 0
    while more {
      more = false
      let datagram = Seeds.datagram(1_200) { buffer in
        var writer = RTCPWriter(into: buffer)
        more = try generator.write(into: &writer, sender: 1, at: now)
        return writer.count
      }
      datagram.withUnsafeBytes { bytes in
        walk(bytes)
        var reader = RTCPReader(bytes)
        guard !bytes.isEmpty else { return }
        guard let packet = try? reader.next(), case .transportFeedback(let feedback) = packet else {
          return check(false, "our own feedback doesn't parse")
        }
        check(
          feedback.reduce(0) { count, _ in count + 1 } == feedback.statusCount, "short feedback")
      }
      rounds += 1
      check(rounds < 5_000, "feedback without end")
    }
  }
}
