import SoraDataChannel
import SoraMedia
import SoraSCTP
import Testing

/// Two channels that are full share what goes through by their priorities (RFC 8831 §6.4).
@Suite struct PriorityTests {
  /// Bytes of each channel that have come when the heavier one is through.
  private func bytes(
    _ priorities: [DataChannelPriority], fromServer: Bool, interleaving: Bool = true
  ) throws -> [Int] {
    let pair = SessionPair(delay: .milliseconds(10))
    pair.connect()
    let ids = try priorities.enumerated().map { index, priority in
      try pair.client.session.open(.init(label: "\(index)", priority: priority), at: pair.now)
    }
    #expect(pair.run { pair.server.announced.count == ids.count })
    let there = pair.server.announced.map(\.id)
    #expect(pair.server.announced.map(\.parameters.priority) == priorities)
    let (sender, reader) = fromServer ? (pair.server, pair.client) : (pair.client, pair.server)
    let (own, other) = fromServer ? (there, ids) : (ids, there)
    let count = 200
    for _ in 0..<count {
      for id in own {
        try sender.session.send([UInt8](repeating: 1, count: 8000), on: id, at: pair.now)
      }
    }
    #expect(
      pair.run { other.contains { reader.messages($0).count == count } })
    return other.map { reader.messages($0).count * 8000 }
  }

  /// The side that has opened them, and the one that was told their priorities.
  @Test(arguments: [false, true]) func sharesAreAsThePriorities(fromServer: Bool) throws {
    let shares = try bytes([.belowNormal, .high], fromServer: fromServer)
    print("128 to 512: \(shares)")
    let ratio = Double(shares[1]) / Double(shares[0])
    #expect(ratio > 3.6 && ratio < 4.4)
  }

  @Test func equalPrioritiesShareEqually() throws {
    let shares = try bytes([.normal, .normal], fromServer: false)
    #expect(shares[0] >= shares[1] * 9 / 10 && shares[1] >= shares[0] * 9 / 10)
  }
}
