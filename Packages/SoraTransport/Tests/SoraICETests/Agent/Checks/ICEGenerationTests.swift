import SoraICE
import SoraMedia
import SoraWire
import Testing

/// Credentials, candidates of the peer's and the search: what a restart replaces (RFC 8445 §9).
@Suite struct ICEGenerationTests {
  private let ours = try! ICEParameters(ufrag: "ours", password: "oursoursoursoursoursours")
  private let newer = try! ICEParameters(ufrag: "newer", password: "newernewernewernewernewer")
  private let theirs = try! ICEParameters(ufrag: "them", password: "themthemthemthemthemthem")
  private let start = Instant.zero + .seconds(1)

  private func verdict(
    _ credentials: ICECredentials, _ username: String, _ password: String
  ) throws -> String {
    let bytes = STUNMessage(
      .request, transactionID: STUNTransactionID(random: RandomSource(seed: 1)),
      attributes: [.username(Array(username.utf8))]
    ).encoded(key: Array(password.utf8))
    let message = try STUNMessage(parsing: bytes.span.bytes)
    return switch credentials.verdict(on: message, bytes.span.bytes) {
    case .current(let ufrag, let key): "current \(ufrag) \(key == Array(password.utf8))"
    case .previous(let key): "previous \(key == Array(password.utf8))"
    case .mixed: "mixed"
    case .refused(let reason, let code, _): "\(reason) \(code)"
    }
  }

  @Test func aRequestSaysWhoseItIs() throws {
    var credentials = ICECredentials(ours)
    #expect(credentials.pair == nil)
    #expect(try verdict(credentials, "ours:them", ours.password) == "current them true")
    #expect(try verdict(credentials, "ours", ours.password) == "current  true")
    #expect(try verdict(credentials, "them:ours", ours.password) == "unknownUsername 401")
    #expect(try verdict(credentials, "ours:them", newer.password) == "badIntegrity 401")
    credentials.learn(theirs)
    #expect(credentials.pair == Credentials(local: ours, remote: theirs))
  }

  /// RFC 8445 §8.3.
  @Test func oldCredentialsAreAnsweredUntilThreeSecondsAfterTheNomination() throws {
    var credentials = ICECredentials(ours)
    credentials.learn(theirs)
    credentials.restart(with: newer, answering: credentials.pair)
    #expect(credentials.local == newer && credentials.remote == nil)
    #expect(try verdict(credentials, "ours:them", ours.password) == "previous true")
    #expect(try verdict(credentials, "ours:else", ours.password) == "mixed")
    #expect(try verdict(credentials, "newer:else", newer.password) == "current else true")
    #expect(credentials.deadline == nil)
    credentials.conclude(at: start)
    credentials.conclude(at: start + .seconds(1))
    #expect(credentials.deadline == start + .seconds(3))
    credentials.expire(at: start + .milliseconds(2999))
    #expect(try verdict(credentials, "ours:them", ours.password) == "previous true")
    credentials.expire(at: start + .seconds(3))
    #expect(credentials.deadline == nil)
    #expect(try verdict(credentials, "ours:them", ours.password) == "unknownUsername 401")
  }

  @Test func theSearchWaitsForThePeersParameters() {
    var generation = ICEGeneration(ours, .init(isControlling: true))
    let unasked = generation.beginChecking(at: start)
    #expect(!unasked && generation.search.since == nil)
    generation.wait(since: .zero)
    let tooEarly = generation.beginChecking(at: start)
    #expect(!tooEarly && generation.search.since == .zero && !generation.search.isChecking)
    _ = generation.learn(theirs)
    let begins = generation.beginChecking(at: start)
    let again = generation.beginChecking(at: start + .seconds(1))
    #expect(begins && !again && generation.search.isChecking && generation.search.since == start)
  }

  @Test func whatIsOfAnotherGenerationIsForgotten() throws {
    var generation = ICEGeneration(ours, .init(isControlling: true))
    let address = try #require(TransportAddress("10.0.0.9:9"))
    let added = generation.peer.addReflexive(at: address, priority: nil, ufrag: "old")
    let early = try #require(added)
    _ = generation.add(CandidatePair(local: .sample(1), remote: early, isControlling: true))
    let kept = CandidatePair.sample(2)
    _ = generation.add(kept)
    let stale = generation.learn(theirs)
    #expect(stale == 1 && generation.peer.count == 0)
    #expect(generation.checklist.pairs.map(\.number) == [kept.number])
    #expect(kept.credentials == Credentials(local: ours, remote: theirs))
    guard
      case .dropped(.staleCandidate) = generation.add(
        try ICECandidate(parsing: "candidate:1 1 udp 9 10.0.0.2 1 typ host ufrag old"))
    else {
      Issue.record("it was taken")
      return
    }
  }

  @Test func aRestartTakenBackBringsAllOfItAgain() throws {
    var generation = ICEGeneration(ours, .init(isControlling: true))
    _ = generation.learn(theirs)
    generation.wait(since: .zero)
    _ = generation.beginChecking(at: start)
    _ = generation.add(try ICECandidate(parsing: "candidate:1 1 udp 9 10.0.0.2 1 typ host"))
    generation.peer.isComplete = true
    let pair = CandidatePair.sample()
    _ = generation.add(pair)
    let old = generation
    generation.restart(with: newer, answering: nil, at: start + .seconds(5))
    #expect(generation.peer.count == 0 && !generation.peer.isComplete)
    #expect(generation.checklist.pairs.isEmpty && !generation.search.isChecking)
    #expect(generation.search.since == start + .seconds(5))
    generation.takeBack(old, at: start + .seconds(6))
    #expect(generation.credentials.local == ours && generation.credentials.remote == theirs)
    #expect(generation.peer.count == 1 && generation.peer.isComplete)
    #expect(generation.checklist.pairs.first === pair && generation.search.since == start)
  }
}
