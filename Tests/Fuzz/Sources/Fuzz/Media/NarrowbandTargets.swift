import SoraAudio
import SoraMedia
import SoraRTP

// What comes from telephones: G.711 and pressed keys.
extension FuzzTarget {
  static var g711: FuzzTarget {
    func seed(_ law: UInt8) -> [UInt8] {
      var script = ScriptWriter()
      script.byte(law)
      for index in 0..<4 {
        script.byte(UInt8(index))
        script.chunk((0..<160).map { UInt8(truncatingIfNeeded: $0 * 7 + index) })
      }
      script.byte(4)
      script.chunk([])
      return script.bytes
    }
    return FuzzTarget("g711", maximumLength: 2000, seeds: [seed(0), seed(1)]) { bytes in
      var input = FuzzInput(bytes)
      let law: G711Law = input.byte() & 1 == 0 ? .mu : .a
      guard let decoder = try? G711Decoder(law) else { return }
      var room = [Int16](repeating: 0, count: 5_760)
      for _ in 0..<20 where !input.isAtEnd {
        let choice = input.byte()
        let packet = input.chunk()
        let count = decoder.sampleCount(of: packet.span)
        check(count == nil || count == packet.count * 6, "\(count ?? 0) samples of \(packet.count)")
        var samples = room.mutableSpan
        if let decoded = try? decoder.decode(packet.span, into: &samples) {
          check(decoded == count, "decoded \(decoded) samples of \(count ?? 0)")
        } else {
          check(count == nil, "a packet that counts isn't decoded")
        }
        let missing = Int(choice) * 30
        if let made = try? decoder.conceal(sampleCount: missing, into: &samples) {
          check(made == missing, "made up \(made) samples of \(missing)")
        }
        if choice & 0x0F == 7 { decoder.reset() }
        // Every byte is a sample, and the nearest byte to it is itself, or the other zero.
        for byte in packet {
          let again = law.encode(law.decode(byte))
          check(law.decode(again) == law.decode(byte), "byte \(byte) doesn't come back")
        }
      }
    }
  }

  static var telephoneEvents: FuzzTarget {
    func seeds() -> [[UInt8]] {
      var script = ScriptWriter()
      var sender = TelephoneEventSender(clockRate: 8000)
      var now = Instant.zero
      sender.play("19#", duration: .milliseconds(100), gap: .milliseconds(70), at: now)
      while let deadline = sender.nextDeadline {
        now = deadline
        while let action = sender.next(at: now) {
          guard case .report(let event, let isFirst, let start, let segment) = action else {
            continue
          }
          script.byte(isFirst ? 1 : 0)
          script.number32(UInt32(start.nanoseconds / 125_000) + segment)
          script.chunk(event.bytes)
        }
      }
      return [script.bytes]
    }
    return FuzzTarget("telephone-events", maximumLength: 1000, seeds: seeds()) { bytes in
      var input = FuzzInput(bytes)
      var receiver = TelephoneEventReceiver()
      var now = Instant.zero
      var pressed: UInt8?
      func follow(_ change: TelephoneEventReceiver.Change) {
        if change.isEnd {
          check(pressed == change.code, "the end of a key that isn't pressed")
          pressed = nil
        } else {
          check(pressed == nil, "a key is pressed while another is")
          pressed = change.code
        }
      }
      for _ in 0..<200 where !input.isAtEnd {
        let choice = input.byte()
        now += .milliseconds(Int(choice >> 1))
        if let change = receiver.poll(at: now) { follow(change) }
        if let deadline = receiver.nextDeadline { check(deadline > now, "a deadline stays") }
        let timestamp = input.number32()
        let payload = input.chunk()
        if let reports = try? TelephoneEvent.reports(in: payload.span.bytes) {
          let written = reports.flatMap { $0.event.bytes }
          // The reserved bit is the one thing that is read and not written.
          let kept = payload.enumerated().map {
            $0.offset % 4 == 1 ? $0.element & 0xBF : $0.element
          }
          check(written == kept, "reports are written otherwise than they were read")
        }
        let changes = try? receiver.receive(
          payload.span.bytes, timestamp: timestamp, marker: choice & 1 != 0, at: now)
        for change in changes ?? [] { follow(change) }
        check((pressed != nil) == (receiver.nextDeadline != nil), "a key without a deadline")
      }
    }
  }
}
