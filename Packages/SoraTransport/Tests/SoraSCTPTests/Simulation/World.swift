import SoraMedia
import SoraSCTP

/// One end in a `World`, with what it was told.
final class End {
  let association: SCTPAssociation
  var messages: [SCTPMessage] = []
  var events: [SCTPEvent] = []
  /// Whether what comes is taken.
  var isReading = true
  /// Messages are counted and given back, and not kept.
  var keepsMessages = true
  var receivedBytes = 0
  var receivedCount = 0

  init(_ configuration: SCTPConfiguration, seed: UInt64) {
    association = SCTPAssociation(
      configuration: configuration, random: RandomSource(seed: seed))
  }

  var isConnected: Bool { association.state == .connected }

  func drainEvents() {
    while isReading, let event = association.nextEvent() {
      guard case .message(let message) = event else {
        events.append(event)
        continue
      }
      receivedBytes += message.payload.count
      receivedCount += 1
      if keepsMessages {
        messages.append(message)
      } else {
        association.recycle(message.payload)
      }
    }
  }

  func has(_ event: SCTPEvent) -> Bool { events.contains(event) }

  var connections: Int {
    events.count { if case .connected = $0 { true } else { false } }
  }
}

/// Two ends and the path between them, in virtual time.
final class World {
  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  let a: End
  let b: End
  let there: Link
  let back: Link
  /// Called before each step.
  var app: ((World) -> Void)?

  init(
    _ first: SCTPConfiguration = .init(), _ second: SCTPConfiguration? = nil,
    link: Link.Conditions = .init(), seed: UInt64 = 1
  ) {
    a = End(first, seed: seed &* 2)
    b = End(second ?? first, seed: seed &* 2 &+ 1)
    there = Link(link, seed: seed &* 3)
    back = Link(link, seed: seed &* 3 &+ 1)
  }

  private func flush(_ end: End, _ link: Link) {
    end.association.drainPackets(at: now) { packet in
      link.send(packet, at: now)
      return true
    }
    end.drainEvents()
    // Taking messages may have opened the window.
    end.association.drainPackets(at: now) { packet in
      link.send(packet, at: now)
      return true
    }
  }

  /// Goes on to what happens next, if that is before `limit`.
  func step(before limit: Instant = .distantFuture) -> Bool {
    app?(self)
    flush(a, there)
    flush(b, back)
    var next = earliest(there.next, back.next)
    next = earliest(next, a.association.nextDeadline)
    next = earliest(next, b.association.nextDeadline)
    guard let next, next < limit else { return false }
    now = max(now, next)
    for end in [a, b] {
      if let due = end.association.nextDeadline, due <= now {
        end.association.poll(at: now)
        if let later = end.association.nextDeadline { precondition(later > now) }
      }
    }
    while let packet = there.receive(at: now) {
      b.association.receive(packet.span.bytes, at: now)
      flush(b, back)
    }
    while let packet = back.receive(at: now) {
      a.association.receive(packet.span.bytes, at: now)
      flush(a, there)
    }
    flush(a, there)
    flush(b, back)
    return true
  }

  /// Runs until `condition` holds. `false` if it doesn't within `limit` of virtual time.
  @discardableResult
  func run(within limit: Duration, until condition: () -> Bool) -> Bool {
    let end = now + limit
    while !condition() {
      guard now < end, step() else { return condition() }
    }
    return true
  }

  func run(for duration: Duration) {
    let end = now + duration
    while now < end, step(before: end) {}
    now = max(now, end)
  }

  @discardableResult
  func connect() -> Bool {
    a.association.connect(at: now)
    return run(within: .seconds(60)) { a.isConnected && b.isConnected }
  }
}

extension SCTPAssociation {
  func send(
    _ bytes: [UInt8], on stream: UInt16 = 0, ppid: UInt32 = 53,
    _ options: SCTPSendOptions = .init(),
    at now: Instant
  ) throws {
    try send(bytes.span.bytes, on: stream, ppid: ppid, options: options, at: now)
  }
}

/// Bytes that tell which message they are of.
func pattern(_ count: Int, _ seed: Int) -> [UInt8] {
  (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed &* 7 &+ $0 >> 8) }
}
