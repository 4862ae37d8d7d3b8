import SoraMedia
import SoraRTP

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
