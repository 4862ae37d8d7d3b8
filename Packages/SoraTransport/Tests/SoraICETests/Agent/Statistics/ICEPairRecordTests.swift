import SoraICE
import Testing

/// What a pair's checks count.
@Suite struct ICEPairRecordTests {
  @Test func checksAndConsentAreCountedApart() {
    var record = ICEPairRecord()
    record.sentRequest(forConsent: false)
    for _ in 0..<2 { record.sentRequest(forConsent: true) }
    for _ in 0..<3 { record.receivedResponse() }
    for _ in 0..<4 { record.answeredRequest() }
    #expect([record.requestsSent, record.consentRequestsSent] == [1, 2])
    #expect(
      [record.responsesReceived, record.requestsReceived, record.responsesSent] == [3, 4, 4])
  }

  @Test func theLatestRoundTripAndTheSum() {
    var record = ICEPairRecord()
    #expect(record.currentRoundTripTime == nil)
    for milliseconds in [30, 10] { record.measured(.milliseconds(milliseconds)) }
    #expect(record.currentRoundTripTime == .milliseconds(10))
    #expect(record.totalRoundTripTime == .milliseconds(40))
  }
}
