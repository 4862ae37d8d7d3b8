import SoraMedia
import SoraServer
import Testing

/// Which offer is under way, and whether another has to follow.
@Suite struct OfferExchangeTests {
  private let soon = Instant(nanoseconds: 5_000_000_000)

  @Test func aChangeWaitsForTheAnswerThatIsUnderWay() {
    var exchange = OfferExchange(sessionNumber: 7)
    #expect(exchange.answerBy == nil)
    exchange.offer(answerBy: soon)
    #expect(exchange.answerBy == soon)
    let isAllowed = exchange.want()
    #expect(!isAllowed && exchange.isWanted)
    let isFirst = exchange.settle()
    #expect(isFirst && exchange.answerBy == nil)
    // What was wanted meanwhile is offered now, and wanted no more.
    #expect(exchange.isWanted)
    let isAllowedNow = exchange.want()
    #expect(isAllowedNow && !exchange.isWanted)
  }

  @Test func nothingIsOfferedAgainBeforeTheFirstOffer() {
    var exchange = OfferExchange(sessionNumber: 7)
    let isAllowed = exchange.want()
    #expect(!isAllowed && exchange.isWanted)
  }

  @Test func onlyTheFirstAnswerIsTheFirst() {
    var exchange = OfferExchange(sessionNumber: 7)
    for round in 0..<3 {
      exchange.offer(answerBy: soon)
      let isFirst = exchange.settle()
      #expect(isFirst == (round == 0))
    }
    #expect(exchange.version == 3 && exchange.sessionNumber == 7)
    // An answer to nothing.
    let isFirst = exchange.settle()
    #expect(!isFirst)
  }
}
