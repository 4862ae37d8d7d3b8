import SoraCapture
import SoraClock
import SoraICE
import SoraMedia
import SoraTransport
import Synchronization
import Testing
import WebRTC

/// `restartIce` on the public API, over real sockets, codecs and DTLS.
@Suite(.serialized) struct RestartTests {
  /// Credentials and a host candidate of a description.
  private struct Way {
    let parameters: ICEParameters
    let address: TransportAddress

    init(_ party: Party) throws {
      let lines = try #require(party.connection.localDescription).sdp
        .split(whereSeparator: \.isNewline)
      func value(_ name: String) -> String? {
        lines.first { $0.hasPrefix("a=\(name):") }.map { String($0.dropFirst(name.count + 3)) }
      }
      parameters = try ICEParameters(
        ufrag: #require(value("ice-ufrag")), password: #require(value("ice-pwd")))
      address = try #require(
        lines.lazy.filter { $0.hasPrefix("a=candidate:") }
          .compactMap { try? ICECandidate(parsing: String($0.dropFirst(2))) }
          .compactMap(\.transportAddress).first { $0.ip == .loopbackV4 })
    }
  }

  @Test(.timeLimit(.minutes(5)), arguments: [true, false])
  func mediaGoesOnUnderNewCredentials(byCaller: Bool) async throws {
    let (caller, callee) = try await Party.pair()
    try await Party.negotiate(from: caller, to: callee)
    caller.startMedia()
    callee.startMedia()
    let parties = [caller, callee]
    for party in parties {
      try await party.waitUntil { $0.stamps.count >= 20 && $0.audioSamples >= 24_000 }
    }
    let ways = try parties.map(Way.init)
    let sources = await sources(of: parties)

    let (one, two) = byCaller ? (caller, callee) : (callee, caller)
    one.connection.restartIce()
    try await Party.negotiate(from: one, to: two)
    let newWays = try parties.map(Way.init)
    for (old, new) in zip(ways, newWays) {
      #expect(new.parameters.ufrag != old.parameters.ufrag)
      #expect(new.parameters.password != old.parameters.password)
      #expect(new.address == old.address, "the sockets stay")
    }
    let seen = parties.map { party in party.received.withLock { $0.stamps.count } }
    let heard = parties.map { party in party.received.withLock { $0.audioSamples } }
    for (index, party) in parties.enumerated() {
      try await party.waitUntil {
        $0.stamps.count >= seen[index] + 90 && $0.audioSamples >= heard[index] + 96_000
      }
    }
    for party in parties {
      let received = party.received.withLock { $0 }
      let indices = received.stamps.map(\.index)
      #expect(indices == indices.sorted(), "frames come in order")
      #expect(!received.states.contains(.disconnected) && !received.states.contains(.failed))
      #expect(party.connection.connectionState == .connected)
    }
    #expect(await self.sources(of: parties) == sources, "the same sources")

    // The old generation is answered until three seconds after the new pair was nominated (RFC 8445 §8.3), and then never again.
    let probe = try await Prober()
    for (old, new) in zip(ways, newWays) {
      while try await probe.ask(old.address, old.parameters) != .error {
        try await Task.sleep(for: .milliseconds(100))
      }
      #expect(try await probe.ask(new.address, new.parameters) == .success)
    }
    await probe.close()
    for party in parties {
      party.stopMedia()
      party.connection.close()
    }
  }

  /// An offer with a restart is rolled back, by the application and by an offer that crosses it: the descriptions and credentials of
  /// before are in force again, and the restart is still wanted.
  @Test(.timeLimit(.minutes(5)), arguments: [true, false])
  func aRollbackLeavesTheRestartWanted(byCrossing: Bool) async throws {
    let (caller, callee) = try await Party.pair()
    try await caller.waitUntil { $0.needs == 1 }
    try await Party.negotiate(from: caller, to: callee)
    for party in [caller, callee] { try await party.waitUntil { $0.states.last == .connected } }
    let before = try Way(caller).parameters
    #expect(caller.received.withLock(\.needs) == 1)

    caller.connection.restartIce()
    try await caller.waitUntil { $0.needs == 2 }
    try await caller.connection.setLocalDescription(try await caller.connection.offer())
    #expect(try Way(caller).parameters.ufrag != before.ufrag)
    if byCrossing {
      try await callee.connection.setLocalDescription(try await callee.connection.offer())
      try await caller.connection.setRemoteDescription(
        try #require(callee.connection.localDescription))
      #expect(caller.connection.signalingState == .haveRemoteOffer)
      #expect(try Way(caller).parameters == before)
      try await caller.connection.setLocalDescription(try await caller.connection.answer())
      try await callee.connection.setRemoteDescription(
        try #require(caller.connection.localDescription))
    } else {
      try await caller.connection.setLocalDescription(
        RTCSessionDescription(type: .rollback, sdp: ""))
      await #expect(throws: NegotiationError.self) {
        try await caller.connection.setRemoteDescription(
          RTCSessionDescription(type: .rollback, sdp: ""))
      }
    }
    #expect(caller.connection.signalingState == .stable)
    #expect(try Way(caller).parameters == before)
    try await caller.waitUntil { $0.needs == 3 }

    try await Party.negotiate(from: caller, to: callee)
    #expect(try Way(caller).parameters.ufrag != before.ufrag)
    for party in [caller, callee] {
      let received = party.received.withLock { $0 }
      #expect(received.failure == nil)
      #expect(!received.states.contains(.disconnected))
      #expect(party.connection.connectionState == .connected)
    }
    #expect(caller.received.withLock(\.needs) == 3)
    for party in [caller, callee] { party.connection.close() }
  }

  /// SSRCs that each party sends and receives.
  private func sources(of parties: [Party]) async -> [[Double]] {
    var all: [[Double]] = []
    for party in parties {
      let report = await party.connection.statistics()
      for type in ["outbound-rtp", "inbound-rtp"] {
        all.append(report.all(type).compactMap { $0.number("ssrc") }.sorted())
      }
    }
    return all
  }
}

/// A stranger that asks for a sign of life.
private final class Prober: Sendable {
  private let loop: NetworkLoop
  private let bound: LoopBound<Inside>

  private final class Inside: DatagramHandler {
    var socket: UDPSocket?
    var timer: LoopTimer?
    var waiting: (id: STUNTransactionID, continuation: CheckedContinuation<STUNClass?, Never>)?
    let random = RandomSource.system()

    func received(
      _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
      at now: Instant
    ) {
      guard let message = try? STUNMessage(parsing: UnsafeRawBufferPointer(bytes)),
        message.transactionID == waiting?.id
      else { return }
      end(message.messageClass)
    }

    func end(_ outcome: STUNClass?) {
      waiting?.continuation.resume(returning: outcome)
      waiting = nil
    }
  }

  init() async throws {
    let loop = try NetworkLoop.make()
    self.loop = loop
    bound = await loop.run { LoopBound(Inside(), loop: loop) }
    let bound = bound
    let failure = await loop.run { () -> NetworkError? in
      do throws(NetworkError) {
        bound.value.socket = try loop.openUDP(
          TransportAddress(ip: .loopbackV4, port: 0), handler: bound.value)
        return nil
      } catch { return error }
    }
    if let failure { throw failure }
  }

  /// What the holder of an address says to a check with these credentials; nil where it says nothing for 300 ms.
  func ask(_ address: TransportAddress, _ parameters: ICEParameters) async throws -> STUNClass? {
    let (loop, bound) = (loop, bound)
    return await withCheckedContinuation { continuation in
      loop.execute {
        let inside = bound.value
        let message = STUNMessage(
          .request, transactionID: STUNTransactionID(random: inside.random),
          // Without a role, so that it can't come into conflict with one.
          attributes: [.username(Array("\(parameters.ufrag):probe".utf8)), .priority(1)])
        inside.waiting = (message.transactionID, continuation)
        let bytes = message.encoded(key: Array(parameters.password.utf8))
        inside.socket?.send(to: address, capacity: bytes.count) { slot in
          slot.copyBytes(from: bytes)
          return bytes.count
        }
        let timer = inside.timer ?? loop.makeTimer { _ in bound.value.end(nil) }
        inside.timer = timer
        timer.deadline = loop.now + .milliseconds(300)
      }
    }
  }

  func close() async {
    await loop.run { [bound] in
      bound.value.timer?.cancel()
      bound.value.timer = nil
      bound.value.socket?.close()
    }
    loop.shutdown()
  }
}
