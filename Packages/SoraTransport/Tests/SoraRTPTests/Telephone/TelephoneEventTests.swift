import SoraMedia
import SoraRTP
import Testing

/// Telephone events (RFC 4733): the format, what is sent when, and what is made of what arrives.
struct TelephoneEventTests {
  @Test func format() throws {
    // RFC 4733 §2.3: event 11 (the square), the E bit, volume 10, duration 800; and the same while it lasts, with the reserved bit set.
    let end: [UInt8] = [11, 0x8A, 0x03, 0x20]
    let event = try #require(try TelephoneEvent.reports(in: end.span.bytes).first).event
    #expect(event == TelephoneEvent(code: 11, isEnd: true, volume: 10, duration: 800))
    #expect(event.key == "#" && event.bytes == end)
    let going: [UInt8] = [0, 0x4A, 0x01, 0x90]
    let other = try #require(try TelephoneEvent.reports(in: going.span.bytes).first).event
    #expect(other == TelephoneEvent(code: 0, volume: 10, duration: 400) && other.key == "0")
    #expect(TelephoneEvent(code: 16, duration: 1).key == nil)
    #expect(TelephoneEvent(code: 1, volume: 200, duration: 1).volume == 63)
    for (code, key) in "0123456789*#ABCD".enumerated() {
      #expect(TelephoneEvent.code(of: key) == UInt8(code))
    }
    #expect(TelephoneEvent.code(of: "d") == 15 && TelephoneEvent.code(of: ",") == nil)
    #expect(TelephoneEvent.code(of: "é") == nil)
  }

  @Test(arguments: [0, 1, 3, 5, 7, 68]) func lengthsThatAreNone(_ count: Int) {
    let payload = [UInt8](repeating: 1, count: count)
    #expect(throws: RTPError.malformedPayload(codec: "telephone-event")) {
      try TelephoneEvent.reports(in: payload.span.bytes)
    }
  }

  // MARK: Sending

  private struct Sent: Equatable {
    var milliseconds: Int64
    var timestamp: UInt32
    var marker: Bool
    var event: TelephoneEvent
  }

  /// Plays keys, polled when the sender wants it.
  private func play(
    _ keys: String, clockRate: Int, duration: Duration = .milliseconds(100),
    gap: Duration = .milliseconds(70)
  ) -> (sent: [Sent], told: [String], sender: TelephoneEventSender) {
    var sender = TelephoneEventSender(clockRate: clockRate)
    let start = Instant.zero + .seconds(5)
    var now = start
    var sent: [Sent] = []
    var told: [String] = []
    sender.play(keys, duration: duration, gap: gap, at: now)
    for _ in 0..<1000 {
      guard let deadline = sender.nextDeadline else { break }
      now = max(now, deadline)
      while let action = sender.next(at: now) {
        let milliseconds = now.nanoseconds(since: start) / 1_000_000
        switch action {
        case .begin(let key): told.append("\(milliseconds) \(key)")
        case .finished: told.append("\(milliseconds)")
        case .report(let event, let isFirst, let begin, let segment):
          let ticks = UInt32(begin.nanoseconds(since: start) / 1_000_000) * UInt32(clockRate / 1000)
          sent.append(
            Sent(
              milliseconds: milliseconds, timestamp: ticks + segment, marker: isFirst, event: event)
          )
        }
      }
    }
    #expect(sender.nextDeadline == nil)
    return (sent, told, sender)
  }

  @Test func oneKey() {
    let (sent, told, sender) = play("5", clockRate: 8000)
    func event(_ duration: UInt16, end: Bool = false) -> TelephoneEvent {
      TelephoneEvent(code: 5, isEnd: end, volume: 10, duration: duration)
    }
    // The marker on the first alone, one timestamp, durations that grow, and the end three times.
    #expect(
      sent == [
        Sent(milliseconds: 10, timestamp: 0, marker: true, event: event(80)),
        Sent(milliseconds: 60, timestamp: 0, marker: false, event: event(480)),
        Sent(milliseconds: 100, timestamp: 0, marker: false, event: event(800, end: true)),
        Sent(milliseconds: 120, timestamp: 0, marker: false, event: event(800, end: true)),
        Sent(milliseconds: 140, timestamp: 0, marker: false, event: event(800, end: true)),
      ])
    #expect(told == ["0 5", "170"])
    #expect(!sender.isSounding && sender.remaining.isEmpty)
  }

  @Test func severalKeysAndAPause() {
    let (sent, told, _) = play("9,1", clockRate: 48_000)
    #expect(told == ["0 9", "170 ,", "2170 1", "2340"])
    let one = sent.filter { $0.event.code == 1 }
    #expect(Set(one.map(\.timestamp)) == [2170 * 48] && one.first?.marker == true)
    #expect(one.count { $0.event.isEnd } == 3 && one.last?.event.duration == 4800)
  }

  /// The shortest gap: the end's three reports have left before the next key begins.
  @Test func shortestGap() {
    let (sent, told, _) = play(
      "12", clockRate: 8000, duration: .milliseconds(40), gap: .milliseconds(30))
    #expect(told == ["0 1", "70 2", "140"])
    let lastOfOne = sent.last { $0.event.code == 1 }?.milliseconds ?? .max
    #expect(lastOfOne == 60)
  }

  /// RFC 4733 §2.5.1.3: an event that is longer than its duration field goes on in segments, without an end and without a marker between.
  @Test func longKeyInSegments() throws {
    let (sent, _, _) = play("0", clockRate: 48_000, duration: .seconds(3))
    #expect(sent.count { $0.marker } == 1 && sent.first?.marker == true)
    let segments = Set(sent.map(\.timestamp)).sorted()
    #expect(segments == [0, 65_535, 131_070])
    for segment in segments.dropLast() {
      let last = try #require(sent.last { $0.timestamp == segment })
      #expect(last.event.duration == 65_535 && !last.event.isEnd)
    }
    #expect(sent.count { $0.event.isEnd } == 3)
    #expect(UInt32(try #require(sent.last).event.duration) + 131_070 == 144_000)
    // No report of no length: that would be a state that lasts.
    #expect(sent.allSatisfy { $0.event.duration > 0 })
  }

  @Test func replacedAndStopped() {
    var sender = TelephoneEventSender(clockRate: 8000)
    let start = Instant.zero + .seconds(1)
    sender.play("123", duration: .milliseconds(100), gap: .milliseconds(70), at: start)
    #expect(sender.next(at: start) == .begin("1") && sender.isSounding)
    #expect(sender.remaining == "23")
    sender.play("", duration: .milliseconds(100), gap: .milliseconds(70), at: start)
    #expect(sender.isSounding && sender.remaining.isEmpty)
    var now = start
    var actions: [TelephoneEventSender.Action] = []
    while let deadline = sender.nextDeadline {
      now = deadline
      while let action = sender.next(at: now) { actions.append(action) }
    }
    #expect(actions.last == .finished && actions.count == 6)
  }

  // MARK: Receiving

  private typealias Change = TelephoneEventReceiver.Change

  private func changes(
    _ receiver: inout TelephoneEventReceiver, _ sent: some Sequence<Sent>
  ) throws -> [Change] {
    try sent.flatMap { packet in
      try receiver.receive(
        packet.event.bytes.span.bytes, timestamp: packet.timestamp, marker: packet.marker,
        at: .zero + .milliseconds(packet.milliseconds))
    }
  }

  private func told(_ changes: [Change]) -> [String] {
    changes.map { "\($0.code) \($0.isEnd ? "end \($0.duration)" : "begin")" }
  }

  @Test func eachKeyOnceWhateverIsLost() throws {
    let (sent, _, _) = play("911#", clockRate: 8000)
    let whole = ["9", "1", "1", "11"].flatMap { ["\($0) begin", "\($0) end 800"] }
    var receiver = TelephoneEventReceiver()
    #expect(told(try changes(&receiver, sent)) == whole)
    // Each packet alone is missing; then each is there twice; then all but the last end.
    for lost in sent.indices {
      var receiver = TelephoneEventReceiver()
      let rest = sent.enumerated().filter { $0.offset != lost }.map(\.element)
      #expect(told(try changes(&receiver, rest)) == whole)
    }
    var twice = TelephoneEventReceiver()
    #expect(told(try changes(&twice, sent.flatMap { [$0, $0] })) == whole)
    var ends = TelephoneEventReceiver()
    let last = sent.enumerated().filter { $0.offset % 5 == 4 }.map(\.element)
    #expect(told(try changes(&ends, last)) == whole)
  }

  @Test func endsThatAreLostAndPacketsThatAreLate() throws {
    let (sent, _, _) = play("12", clockRate: 8000)
    var receiver = TelephoneEventReceiver()
    // Of the first key all ends are lost: the next key ends it, as long as it was known to be.
    let some = sent.filter { !($0.event.code == 1 && $0.event.isEnd) }
    #expect(
      told(try changes(&receiver, some)) == ["1 begin", "1 end 480", "2 begin", "2 end 800"])
    // What comes of them afterwards is nothing new.
    #expect(try changes(&receiver, sent).isEmpty)
    // And where nothing comes at all, time ends it.
    var alone = TelephoneEventReceiver()
    #expect(told(try changes(&alone, sent.prefix(2))) == ["1 begin"])
    let heard = Instant.zero + .milliseconds(60)
    #expect(alone.nextDeadline == heard + TelephoneEventReceiver.patience)
    #expect(alone.poll(at: heard + .milliseconds(249)) == nil)
    let end = alone.poll(at: heard + .milliseconds(250))
    #expect(end.map { told([$0]) } == ["1 end 480"] && alone.nextDeadline == nil)
  }

  @Test func segmentsAreOneEvent() throws {
    let (sent, _, _) = play("7", clockRate: 48_000, duration: .seconds(6))
    for step in 1...7 {
      var receiver = TelephoneEventReceiver()
      let kept = sent.enumerated().filter { $0.offset % step == 0 || $0.element.event.isEnd }
      #expect(told(try changes(&receiver, kept.map(\.element))) == ["7 begin", "7 end 288000"])
    }
  }

  /// Two keys of the same number, one right behind the other: the marker tells them apart.
  @Test func theMarkerBeginsAnotherEvent() throws {
    var receiver = TelephoneEventReceiver()
    let event = TelephoneEvent(code: 4, duration: 65_535)
    let packets = [
      Sent(milliseconds: 0, timestamp: 10, marker: true, event: event),
      Sent(milliseconds: 9, timestamp: 10 &+ 65_535, marker: true, event: event),
    ]
    #expect(told(try changes(&receiver, packets)) == ["4 begin", "4 end 65535", "4 begin"])
  }

  /// RFC 4733 §2.5.1.5: a packet may tell of several events, one behind the other.
  @Test func severalInOnePacket() throws {
    var receiver = TelephoneEventReceiver()
    let payload =
      TelephoneEvent(code: 1, isEnd: true, duration: 400).bytes
      + TelephoneEvent(code: 2, isEnd: true, duration: 300).bytes
      + TelephoneEvent(code: 3, duration: 100).bytes
    // The timestamps wrap in it.
    let changes = try receiver.receive(
      payload.span.bytes, timestamp: .max - 500, marker: true, at: .zero)
    #expect(
      told(changes) == ["1 begin", "1 end 400", "2 begin", "2 end 300", "3 begin"])
  }

  @Test func anHourLater() throws {
    var receiver = TelephoneEventReceiver()
    let first = TelephoneEvent(code: 1, isEnd: true, duration: 400).bytes
    _ = try receiver.receive(first.span.bytes, timestamp: 0, marker: true, at: .zero)
    // Half the range of timestamps away, which looks like the past.
    let later = try receiver.receive(
      first.span.bytes, timestamp: 0x9000_0000, marker: true, at: .zero + .seconds(50_000))
    #expect(told(later) == ["1 begin", "1 end 400"])
  }
}
