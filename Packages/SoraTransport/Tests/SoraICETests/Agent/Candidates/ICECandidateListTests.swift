import SoraICE
import SoraWire
import Testing

/// Our candidates, and those of the peer's that one generation knows.
@Suite struct ICECandidateListTests {
  private func address(_ text: String) -> TransportAddress { TransportAddress(text)! }

  private func candidate(_ text: String) throws -> ICECandidate {
    try ICECandidate(parsing: "candidate:1 1 udp 9 \(text)")
  }

  /// RFC 8445 §5.1.1.3.
  @Test func whatIsAlikeSharesAFoundation() {
    var locals = ICELocalCandidates()
    func add(
      _ type: ICECandidateType, _ text: String, on base: String, server: String? = nil
    ) -> (foundation: String, isNew: Bool) {
      let (local, isNew) = locals.add(
        type, address: address(text), base: ICEBase(address: address(base)), relatedAddress: nil,
        server: server.flatMap { IPAddress($0) })
      return (local.candidate.foundation, isNew)
    }
    let first = add(.host, "10.0.0.1:1", on: "10.0.0.1:1")
    let again = add(.host, "10.0.0.1:1", on: "10.0.0.1:1")
    #expect(first.foundation == "1" && first.isNew && again.foundation == "1" && !again.isNew)
    let sibling = add(.host, "10.0.0.1:2", on: "10.0.0.1:2")
    #expect(sibling.foundation == "1" && sibling.isNew)
    let other = add(.host, "10.0.0.2:1", on: "10.0.0.2:1")
    let reflexive = add(.srflx, "198.51.100.1:7", on: "10.0.0.1:1", server: "192.0.2.1")
    let ofAnother = add(.srflx, "198.51.100.1:8", on: "10.0.0.1:1", server: "192.0.2.2")
    #expect([other, reflexive, ofAnother].map(\.foundation) == ["2", "3", "4"])
    #expect(locals.candidate(on: address("10.0.0.1:1"))?.candidate.type == .host)
    locals.remove(base: address("10.0.0.1:1"))
    #expect(!locals.contains(base: address("10.0.0.1:1")) && locals.all.count == 2)
  }

  /// RFC 8838 §11.
  @Test func aSignalledCandidateTakesThePlaceOfAReflexiveOne() throws {
    var peer = ICERemoteCandidates(limit: 4)
    let added = peer.addReflexive(at: address("10.0.0.2:1"), priority: 77, ufrag: "abcd")
    let reflexive = try #require(added)
    #expect(reflexive.candidate.priority == 77 && reflexive.candidate.ufrag == "abcd")
    guard case .signalled(let remote) = peer.add(try candidate("10.0.0.2 1 typ host")) else {
      Issue.record("it was taken for another")
      return
    }
    #expect(remote === reflexive && remote.candidate.type == .host && peer.count == 1)
    guard case .dropped(.duplicateCandidate) = peer.add(try candidate("10.0.0.2 1 typ host")) else {
      Issue.record("it was taken twice")
      return
    }
  }

  @Test func namesCountUntilTheyAreResolved() throws {
    var peer = ICERemoteCandidates(limit: 2)
    let name = try candidate("abc.local 1 typ host")
    guard case .unresolved = peer.add(name) else {
      Issue.record("it has an address")
      return
    }
    let meanwhile = peer
    let resolved = name.resolved(to: try #require(IPAddress("10.0.0.3")))
    guard case .new = peer.add(resolved) else {
      Issue.record("it isn't new")
      return
    }
    #expect(peer.count == 1 && peer[address("10.0.0.3:1")] != nil)
    let second = peer.addReflexive(at: address("10.0.0.4:1"), priority: nil, ufrag: "abcd")
    let third = peer.addReflexive(at: address("10.0.0.5:1"), priority: nil, ufrag: "abcd")
    #expect(second != nil && third == nil)
    // There is no room for the name again.
    peer.takeUnresolved(of: meanwhile)
    #expect(peer.count == 2)
    peer.restart()
    peer.takeUnresolved(of: meanwhile)
    #expect(peer.count == 1 && peer.all.isEmpty)
  }

  @Test(arguments: [
    "0.0.0.0 1 typ host", "224.0.0.1 1 typ host", "10.0.0.2 0 typ host", "10.0.0.2 1 typ odd",
  ])
  func whatCannotBeReachedIsLeftAside(text: String) throws {
    var peer = ICERemoteCandidates(limit: 2)
    guard case .dropped(.unusableCandidate) = peer.add(try candidate(text)) else {
      Issue.record("it was taken")
      return
    }
    #expect(peer.count == 0)
  }
}
