import SoraICE
import SoraMedia
import SoraWire
import Testing

/// When requests are sent again and given up (RFC 8445 §14.3).
@Suite struct ICETransactionsTests {
  private let random = RandomSource(seed: 5)

  private func made() -> ICETransactions {
    var configuration = ICEConfiguration(isControlling: true)
    configuration.maximumTransmissions = 4
    configuration.consentTimeout = .seconds(3)
    return ICETransactions(configuration)
  }

  private func begin(
    _ purpose: ICETransaction.Purpose, on pair: CandidatePair, _ transactions: inout ICETransactions
  ) -> STUNTransactionID {
    let id = STUNTransactionID(random: random)
    transactions.begin(
      purpose, on: pair, id: id, bytes: [7], isControlling: true, at: .zero)
    return id
  }

  @Test func waitsDoubleUntilItIsGivenUp() {
    var transactions = made()
    let (check, pair) = (ICETransaction.Purpose.check, CandidatePair.sample(1))
    let id = begin(check, on: pair, &transactions)
    #expect(transactions[id]?.roundTrip(at: .zero + .milliseconds(40)) == .milliseconds(40))
    var (times, isGivenUp): ([Double], Bool) = ([], false)
    while let now = transactions.deadline {
      switch transactions.next(at: now) {
      case .sendAgain(let transaction):
        #expect(transaction.bytes == [7] && transaction.pair === pair)
        // Which of the two was answered nobody knows.
        #expect(transactions[id]?.roundTrip(at: now) == nil)
        times.append(now.seconds)
      case .giveUp: isGivenUp = true
      case nil: Issue.record("nothing was due")
      }
    }
    #expect(times == [0.25, 0.75, 1.75] && isGivenUp && transactions[id] == nil)
  }

  /// RFC 7675 §5.1.
  @Test func aConsentCheckIsForgottenWithoutAWord() {
    var transactions = made()
    let id = begin(.consent, on: CandidatePair.sample(1), &transactions)
    let end = Instant.zero + .seconds(3)
    #expect(transactions.deadline == end)
    let due = transactions.next(at: end)
    #expect(due == nil && transactions[id] == nil)
  }

  @Test func aCheckIsHastenedButNotTwiceWithinAnInterval() {
    var transactions = made()
    let (one, two) = (CandidatePair.sample(1), CandidatePair.sample(2))
    for pair in [one, two] { _ = begin(.check, on: pair, &transactions) }
    let interval = Duration.milliseconds(50)
    transactions.hasten(two, at: .zero + .milliseconds(49), unlessWithin: interval)
    #expect(transactions.deadline == .zero + .milliseconds(250))
    let now = Instant.zero + .milliseconds(50)
    transactions.hasten(two, at: now, unlessWithin: interval)
    guard case .sendAgain(let transaction) = transactions.next(at: now) else {
      Issue.record("it wasn't hastened")
      return
    }
    #expect(transaction.pair === two)
    transactions.hasten(two, at: now, unlessWithin: interval)
    let due = transactions.next(at: now)
    #expect(due == nil)
  }

  @Test func whatIsCancelledIsWaitedForNoLonger() throws {
    var transactions = made()
    let (one, two) = (CandidatePair.sample(1), CandidatePair.sample(2))
    let consent = begin(.consent, on: one, &transactions)
    let check = begin(.check, on: one, &transactions)
    let nomination = begin(.nomination, on: two, &transactions)
    let frozen = begin(.check, on: two, &transactions)
    two.state = .frozen
    transactions.cancelChecksOfFrozenPairs()
    #expect(transactions[frozen] == nil && transactions[nomination] != nil)
    transactions.cancelChecks(of: one)
    #expect(transactions[check] == nil && transactions[consent] != nil)
    transactions.cancelChecks()
    #expect(transactions[nomination] == nil && transactions[consent] != nil)
    transactions.cancelAll(on: try #require(TransportAddress("10.0.0.1:2")))
    #expect(transactions[consent] != nil)
    transactions.cancelAll(on: try #require(TransportAddress("10.0.0.1:1")))
    #expect(transactions[consent] == nil && transactions.deadline == nil)
  }

  @Test func oneThatWasEndedMayBeWaitedForAgain() throws {
    var transactions = made()
    let id = begin(.check, on: CandidatePair.sample(1), &transactions)
    let transaction = try #require(transactions[id])
    transactions.end(transaction)
    #expect(transactions.deadline == nil)
    transactions.resume(transaction)
    #expect(transactions.deadline == .zero + .milliseconds(250))
  }
}
