import SoraMedia
import SoraSCTP
import Testing

extension Usrsctp {
  /// What isn't in any plan.
  struct Endings {
    /// Ours and theirs on a link that loses nothing.
    private final class Scene {
      let ours: SCTPAssociation
      var theirs: UsrsctpEnd
      private let clock: UsrsctpClock
      private(set) var now = Instant.zero
      private(set) var events: [SCTPEvent] = []
      private(set) var theirEvents: [EndEvent] = []

      init(seed: UInt64, adjust: (inout SCTPConfiguration) -> Void = { _ in }) throws {
        clock = UsrsctpClock(seed: seed)
        theirs = try UsrsctpEnd(EndSettings())
        var configuration = SCTPConfiguration()
        adjust(&configuration)
        ours = SCTPAssociation(configuration: configuration, random: RandomSource(seed: seed))
      }

      func connect() throws {
        theirs.connect(at: now)
        ours.connect(at: now)
        run { self.ours.state == .connected && !self.theirEvents.isEmpty }
        try #require(theirEvents == [.up(interleaving: false)])
      }

      /// Until a condition holds, for a minute at most.
      func run(until isOver: () -> Bool) {
        let end = now + .seconds(60)
        while now < end {
          var packets: [[UInt8]] = []
          ours.drainPackets(at: now) {
            packets.append($0.withUnsafeBytes { Array($0) })
            return true
          }
          for packet in packets { theirs.receive(packet, at: now) }
          while let packet = theirs.nextPacket(at: now) {
            ours.receive(packet.span.bytes, at: now)
          }
          while let event = ours.nextEvent() { events.append(event) }
          while let event = theirs.nextEvent() { theirEvents.append(event) }
          if isOver() { return }
          now = clock.run(until: now + .milliseconds(5))
          if let deadline = ours.nextDeadline, deadline <= now { ours.poll(at: now) }
        }
      }

      /// What our end was told last, if that was its end.
      var reason: SCTPAbortReason? {
        guard case .aborted(let reason) = events.last else { return nil }
        return reason
      }
    }

    @Test func abortOfTheirs() throws {
      let scene = try Scene(seed: 1)
      try scene.connect()
      scene.theirs.abort(at: scene.now)
      scene.run { scene.reason != nil }
      guard case .byPeer(let cause, _) = scene.reason else {
        Issue.record("it ended as \(String(describing: scene.events.last))")
        return
      }
      // User-initiated abort (RFC 9260 §3.3.10.12).
      #expect(cause == 12)
      #expect(scene.ours.state == .ended)
      #expect(scene.ours.nextDeadline == nil)
    }

    @Test func abortOfOurs() throws {
      let scene = try Scene(seed: 2)
      try scene.connect()
      scene.ours.abort("enough", at: scene.now)
      scene.run { scene.theirEvents.count > 1 }
      #expect(scene.theirEvents.last == .ended(.aborted))
      #expect(scene.reason == .byUser)
    }

    /// One that starts anew, with the same ports, on the same path (RFC 9260 §5.2.4.1).
    @Test func restart() throws {
      let scene = try Scene(seed: 3)
      try scene.connect()
      // What it had is gone, without a word to the other end.
      scene.theirs = try UsrsctpEnd(EndSettings())
      scene.theirs.connect(at: scene.now)
      scene.run { scene.events.contains(.restarted) && scene.theirEvents.count > 1 }
      #expect(scene.events.contains(.restarted), "\(scene.events)")

      let message = Message(
        id: 9, stream: 1, isOrdered: true, reliability: .reliable, size: 100_000)
      let bytes = message.bytes
      try scene.ours.send(bytes.span.bytes, on: 1, ppid: 9, at: scene.now)
      #expect(scene.theirs.send(message, bytes, at: scene.now) == .accepted)
      let expected = SCTPMessage(stream: 1, ppid: 9, payload: bytes)
      let theirExpected = EndEvent.received(EndEvent.Received(stream: 1, id: 9, bytes: bytes))
      scene.run {
        scene.events.last == .message(expected) && scene.theirEvents.last == theirExpected
      }
      #expect(scene.events.last == .message(expected))
      #expect(scene.theirEvents.last == theirExpected)
    }

    /// usrsctp answers what asks for the path's MTU (RFC 8899, with RFC 4820's PAD chunk).
    @Test func pathMTU() throws {
      let scene = try Scene(seed: 4) {
        $0.mtu = 1_184
        $0.maximumMTU = 1_400
      }
      scene.theirs.listen(at: scene.now)
      scene.ours.connect(at: scene.now)
      scene.run { scene.ours.statistics.mtu == 1_400 }
      #expect(scene.ours.statistics.mtu == 1_400)
    }
  }
}
