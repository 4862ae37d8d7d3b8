import SoraICE
import Testing
import WebRTC

@Suite struct OfferRequestTests {
  private func parameters(_ ufrag: String) throws -> ICEParameters {
    try ICEParameters(ufrag: ufrag, password: "passwordpasswordpassword")
  }

  @Test func newCredentialsLastUntilTheyAreAgreedOn() throws {
    let (old, new, other) = try (parameters("olda"), parameters("newb"), parameters("newc"))
    var request = OfferRequest()
    #expect(request.parameters(replacing: old) { new }.ufrag == "olda")
    request.restart(replacing: "olda")
    #expect(request.wantsRestart)
    #expect(request.parameters(replacing: old) { new }.ufrag == "newb")
    #expect(request.parameters(replacing: old) { other }.ufrag == "newb", "the same for each offer")
    #expect(request.takeParameters()?.ufrag == "newb")
    #expect(request.takeParameters() == nil)
    // Rolled back: what both sides know is what was to be replaced.
    request.agreed(on: "olda")
    #expect(request.wantsRestart)
    #expect(request.parameters(replacing: old) { other }.ufrag == "newc")
    _ = request.takeParameters()
    request.agreed(on: nil)
    #expect(request.wantsRestart)
    request.agreed(on: "newc")
    #expect(!request.wantsRestart)
  }

  @Test func theOwnerIsToldOnceForEachExchange() {
    var request = OfferRequest()
    #expect([false, true, true].map { request.fires(isNeeded: $0) } == [false, true, false])
    request.agreed(on: "some")
    #expect(
      [true, true, false, true].map { request.fires(isNeeded: $0) } == [true, false, false, true])
  }
}
