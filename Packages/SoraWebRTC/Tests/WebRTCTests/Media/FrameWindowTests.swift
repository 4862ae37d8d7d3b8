import SoraMedia
import Testing
import WebRTC

/// Frames per second as W3C counts them: those of the last second.
@Suite struct FrameWindowTests {
  @Test func onlyTheLastSecondCounts() {
    var window = FrameWindow()
    #expect(window.count(at: .zero) == 0)
    for index in 0..<90 { window.add(.zero + .milliseconds(20 * index)) }
    // The last is at 1,780 ms.
    #expect(window.count(at: .zero + .milliseconds(1_780)) == 50)
    #expect(window.count(at: .zero + .milliseconds(2_280)) == 25)
    #expect(window.count(at: .zero + .milliseconds(2_780)) == 0)
    #expect(window.count(at: .zero + .milliseconds(100)) == 6, "what came later isn't counted")
  }

  @Test func moreThanItHoldsIsCutOff() {
    var window = FrameWindow()
    for index in 0..<1000 { window.add(.zero + .milliseconds(index)) }
    #expect(window.count(at: .zero + .milliseconds(999)) == 256)
  }
}
