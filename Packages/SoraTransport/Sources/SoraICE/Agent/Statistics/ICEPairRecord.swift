/// What the checks of one candidate pair counted and measured. The names are W3C's.
package struct ICEPairRecord {
  package private(set) var requestsSent = 0
  package private(set) var requestsReceived = 0
  package private(set) var responsesSent = 0
  package private(set) var responsesReceived = 0
  package private(set) var consentRequestsSent = 0
  package private(set) var currentRoundTripTime: Duration?
  package private(set) var totalRoundTripTime = Duration.zero

  package init() {}

  /// A request was sent, for the first time.
  package mutating func sentRequest(forConsent: Bool) {
    if forConsent { consentRequestsSent += 1 } else { requestsSent += 1 }
  }

  /// A request of ours was answered with success.
  package mutating func receivedResponse() { responsesReceived += 1 }

  /// A request of the peer's was answered with success.
  package mutating func answeredRequest() {
    requestsReceived += 1
    responsesSent += 1
  }

  package mutating func measured(_ roundTrip: Duration) {
    currentRoundTripTime = roundTrip
    totalRoundTripTime += roundTrip
  }
}
