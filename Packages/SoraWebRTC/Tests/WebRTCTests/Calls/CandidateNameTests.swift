import SoraICE
import SoraWire
import Synchronization
import Testing
import WebRTC

/// Remote candidates that have names.
@Suite struct CandidateNameTests {
  private typealias Done = @Sendable ([IPAddress]) -> Void

  /// A resolver that answers when it is told to.
  private final class Resolver: Sendable {
    let asked = Mutex<[(name: String, done: Done)]>([])
    let found = Mutex<[ICECandidate]>([])

    func names() -> CandidateNames {
      CandidateNames { [self] name, done in
        asked.withLock { $0.append((name, done)) }
      } found: { [self] candidate in
        found.withLock { $0.append(candidate) }
      }
    }

    /// Answers the question that has waited longest; nil where none does.
    func answer(_ addresses: [IPAddress]) -> String? {
      let first = asked.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      first?.done(addresses)
      return first?.name
    }
  }

  private func candidate(_ name: String) throws -> ICECandidate {
    try ICECandidate(parsing: "candidate:1 1 udp 2130706431 \(name) 5000 typ host")
  }

  /// However many a peer sends, a few are looked up at a time, and each in its turn.
  @Test func manyNamesTakeTurns() throws {
    let resolver = Resolver()
    let names = resolver.names()
    for index in 0..<60 { names.resolve(try candidate("n\(index).example")) }
    var order: [String] = []
    while let name = resolver.answer([try #require(IPAddress("192.0.2.\(order.count + 1)"))]) {
      #expect(resolver.asked.withLock { $0.count } <= 4)
      order.append(name)
    }
    #expect(order == (0..<60).map { "n\($0).example" })
    let found = resolver.found.withLock { $0 }
    #expect(found.count == 60)
    #expect(Set(found.map { "\($0.address)" }).count == 60)
  }

  /// Who floods is kept from what a connection holds; what came last is what counts now.
  @Test func aFloodIsBounded() throws {
    let resolver = Resolver()
    let names = resolver.names()
    for index in 0..<10_000 { names.resolve(try candidate("n\(index).example")) }
    #expect(resolver.asked.withLock { $0.count } <= 4)
    var last: String?
    var count = 0
    while let name = resolver.answer([]) { (last, count) = (name, count + 1) }
    #expect(count <= 68 && last == "n9999.example")
    #expect(resolver.found.withLock { $0.isEmpty })
    // And it goes on.
    names.resolve(try candidate("later.example"))
    #expect(resolver.answer([]) == "later.example")
  }
}
