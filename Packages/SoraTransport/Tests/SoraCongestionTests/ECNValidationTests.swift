import SoraCongestion
import SoraMedia
import SoraWire
import Testing

/// Whether a path carries marks: RFC 9000, appendix A.4.
@Suite struct ECNValidationTests {
  private let start = Instant.zero + .seconds(1)

  /// One that has sent its first ten.
  private func tried(_ codepoint: ECNCodepoint = .ect1) -> ECNValidation {
    var validation = ECNValidation(of: codepoint)
    for _ in 0..<10 {
      #expect(validation.codepoint == codepoint)
      validation.sent(at: start)
    }
    return validation
  }

  @Test(arguments: [ECNCodepoint.ect0, .ect1]) func aPathThatCarriesThem(_ codepoint: ECNCodepoint)
  {
    var validation = tried(codepoint)
    #expect(validation.state == .waiting && validation.codepoint == .notECT)
    validation.reported(.congestionExperienced)
    #expect(validation.state == .waiting)
    validation.reported(codepoint)
    #expect(validation.state == .capable && validation.codepoint == codepoint)
    #expect(validation.isScalable == (codepoint == .ect1))
    // Marks of congestion and losses are what they are for.
    for _ in 0..<50 {
      validation.reported(.congestionExperienced)
      validation.reported(nil)
    }
    #expect(validation.codepoint == codepoint)
  }

  @Test func aPathThatClearsThem() {
    var validation = tried()
    validation.reported(.ect1)
    validation.reported(.notECT)
    #expect(validation.state == .failed && validation.codepoint == .notECT)
    // Late reports don't bring it back; another path may.
    validation.reported(.ect1)
    #expect(validation.state == .failed && !validation.isScalable)
    validation.startOver()
    #expect(validation.state == .testing && validation.codepoint == .ect1)
  }

  @Test func aPathThatRewritesThem() {
    var validation = tried(.ect0)
    validation.reported(.ect1)
    #expect(validation.state == .failed)
  }

  @Test(arguments: [nil, ECNCodepoint.congestionExperienced])
  func aPathThatLosesOrMarksAll(_ arrived: ECNCodepoint?) {
    var validation = tried()
    for _ in 0..<9 { validation.reported(arrived) }
    #expect(validation.state == .waiting)
    validation.reported(arrived)
    #expect(validation.state == .failed)
  }

  /// Not all there is to hear gets lost: others are tried.
  @Test func withoutAReportOthersAreTried() {
    var validation = tried()
    var marked = 0
    for _ in 0..<600 {
      if validation.codepoint == .ect1 { marked += 1 }
      validation.sent(at: start)
    }
    #expect(marked == 20)
  }

  /// A path that begins to drop what is marked says nothing of it: there is a new trial. Who pauses hears nothing, either.
  @Test func silenceHasItTriedAgain() {
    var validation = tried()
    validation.reported(.ect1)
    validation.sent(at: start + .seconds(60))
    #expect(validation.state == .capable)
    validation.sent(at: start + .milliseconds(64_900))
    #expect(validation.state == .capable)
    validation.sent(at: start + .milliseconds(65_100))
    #expect(validation.state == .testing)
    for _ in 0..<10 {
      validation.sent(at: start + .seconds(66))
      validation.reported(nil)
    }
    #expect(validation.state == .failed)
  }

  @Test(arguments: [ECNCodepoint.notECT, .congestionExperienced])
  func nothingIsMarkedUnasked(_ codepoint: ECNCodepoint) {
    var validation = ECNValidation(of: codepoint)
    #expect(validation.state == .failed && validation.codepoint == .notECT)
    validation.startOver()
    validation.sent(at: start)
    #expect(validation.codepoint == .notECT)
  }
}
