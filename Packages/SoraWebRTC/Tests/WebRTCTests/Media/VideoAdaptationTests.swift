import SoraCodecs
import SoraMedia
import Testing
import WebRTC

/// The policy by itself, in virtual time.
@Suite struct VideoAdaptationTests {
  private struct Run {
    var adaptation: VideoAdaptation
    var now = Instant(nanoseconds: 1_000_000_000)
    var width = 1280
    var height = 720
    var rate = 30.0
    var target: Int? = 2_500_000
    /// Time that a frame of the whole size takes, in intervals of a full rate.
    var load = 0.2
    /// Speeds of the encoder that are faster than its present one; each halves the time.
    var fasterSpeeds = 0

    init(_ preference: RTCDegradationPreference, _ kind: VideoCodecKind = .vp8) {
      adaptation = VideoAdaptation(kind, preference: preference)
    }

    /// Lets frames come for so long, of which those that the step allows are encoded; returns the steps that were taken.
    @discardableResult
    mutating func pass(_ seconds: Double) -> [DegradationLadder.Step] {
      var steps: [DegradationLadder.Step] = []
      let end = now + .seconds(seconds)
      while now < end {
        adaptation.captured(
          width: width, height: height, framesPerSecond: rate, target: target, at: now)
        let step = adaptation.step
        if steps.last != step { steps.append(step) }
        let time = load / 30 * step.scale * step.scale
        if adaptation.encoded(
          .seconds(time), canBeFaster: fasterSpeeds > 0, at: now + .seconds(time))
        {
          fasterSpeeds -= 1
          load /= 2
        }
        now += .seconds(1 / min(rate, step.framesPerSecond ?? rate))
      }
      return steps
    }
  }

  @Test func sizesFallByThreeQuartersAndTwoThirdsInTurn() {
    let ladder = DegradationLadder(
      preference: .maintainFramerate, width: 1280, height: 720, framesPerSecond: 30)
    let widths = ladder.steps.map { Int((1280 * $0.scale).rounded()) }
    #expect(widths == [1280, 960, 640, 480, 320, 240, 160])
    #expect(ladder.steps.allSatisfy { $0.framesPerSecond == nil })
    #expect(
      DegradationLadder(
        preference: .maintainFramerate, width: 176, height: 144, framesPerSecond: 30
      ).steps.count == 2)
  }

  @Test func ratesFallByTwoThirdsDownToFive() {
    let ladder = DegradationLadder(
      preference: .maintainResolution, width: 1280, height: 720, framesPerSecond: 30)
    let rates = ladder.steps.map { ($0.framesPerSecond ?? 30).rounded() }
    #expect(rates == [30, 20, 13, 9, 6, 5])
    #expect(ladder.steps.allSatisfy { $0.scale == 1 })
  }

  @Test func balancedStepsNeverGiveBackWhatTheyTook() {
    let steps = DegradationLadder(
      preference: .balanced, width: 1280, height: 720, framesPerSecond: 30
    ).steps
    #expect(steps.prefix(3).map { $0.scale } == [1, 0.75, 0.5])
    #expect(steps.contains { $0.scale == 0.5 && $0.framesPerSecond == 15 })
    for (a, b) in zip(steps, steps.dropFirst()) {
      #expect(b.scale <= a.scale && (b.framesPerSecond ?? 30) <= (a.framesPerSecond ?? 30))
      #expect(a != b)
    }
    #expect(steps.last?.framesPerSecond == 7)
  }

  @Test func disabledHasOneStep() {
    let ladder = DegradationLadder(
      preference: .disabled, width: 1920, height: 1080, framesPerSecond: 30)
    #expect(ladder.steps == [.init()])
  }

  @Test func oneSlowFrameChangesNothing() {
    var run = Run(.maintainFramerate)
    run.pass(2)
    run.adaptation.encoded(.seconds(2), at: run.now)
    #expect(run.pass(10) == [.init()])
    #expect(run.adaptation.limitation.reason == .none)
  }

  @Test func overuseStepsDownWithinTwoSeconds() {
    var run = Run(.maintainFramerate)
    run.load = 1.2
    run.pass(2)
    #expect(run.adaptation.step.scale == 0.75)
    #expect(run.adaptation.limitation.reason == .cpu)
  }

  @Test func farTooMuchWorkTakesSeveralStepsAtOnce() {
    var run = Run(.maintainFramerate)
    run.load = 3.5
    let steps = run.pass(3)
    #expect(steps == [.init(), .init(scale: 0.375)])
  }

  @Test func aFasterEncoderComesBeforeAnythingIsReduced() {
    var run = Run(.balanced)
    run.load = 1.5
    run.fasterSpeeds = 2
    #expect(run.pass(30) == [.init()])
    #expect(run.fasterSpeeds == 1 && run.adaptation.limitation.reason == .none)
    run.load = 3
    run.pass(5)
    #expect(run.fasterSpeeds == 0 && run.adaptation.isReducedForTime)
  }

  @Test func whatIsReducedComesBackThoughTheEncoderCouldBeFaster() {
    var run = Run(.maintainFramerate)
    run.load = 1.2
    run.pass(3)
    #expect(run.adaptation.isReducedForTime)
    run.load = 0.3
    run.fasterSpeeds = 1
    run.pass(8)
    #expect(!run.adaptation.isReducedForTime && run.fasterSpeeds == 1)
  }

  @Test func reliefStepsUpAfterAWhile() {
    var run = Run(.maintainFramerate)
    run.load = 1.2
    run.pass(3)
    run.load = 0.3
    #expect(run.pass(4).count == 1)
    run.pass(4)
    #expect(run.adaptation.step == .init())
    #expect(run.adaptation.limitation.reason == .none)
    #expect(run.adaptation.limitation.resolutionChanges == 2)
  }

  @Test func aStepUpThatFailsIsTriedAgainLaterAndLater() {
    var run = Run(.maintainFramerate)
    // Small pictures look cheap, large ones are far too much.
    var ups: [Instant] = []
    var wasDown = false
    for _ in 0..<600 {
      run.load = run.adaptation.step.scale == 1 ? 1.5 : 0.5
      run.pass(0.5)
      let isDown = run.adaptation.step.scale < 1
      if wasDown, !isDown { ups.append(run.now) }
      wasDown = isDown
    }
    let gaps = zip(ups, ups.dropFirst()).map { ($1 - $0).inSeconds }
    #expect(gaps.count >= 3)
    #expect(zip(gaps, gaps.dropFirst()).allSatisfy { $1 > $0 * 1.5 || $1 > 100 }, "\(gaps)")
  }

  @Test func nothingStepsUpToWhatWouldBeTooMuch() {
    var run = Run(.maintainFramerate)
    run.load = 1.2
    run.pass(3)
    #expect(run.pass(120) == [.init(scale: 0.75)])
  }

  @Test func bitsThatFallForAMomentChangeNothing() {
    var run = Run(.maintainFramerate)
    run.pass(2)
    run.target = 100_000
    run.pass(0.8)
    run.target = 2_000_000
    #expect(run.pass(5) == [.init()])
    #expect(run.adaptation.limitation.resolutionChanges == 0)
  }

  @Test func bitsThatStayAwayMakeThePictureSmallerAndComeBackSlowly() {
    var run = Run(.maintainFramerate)
    run.pass(2)
    run.target = 200_000
    run.pass(1.5)
    #expect(run.adaptation.step.scale == 0.5)
    #expect(run.adaptation.limitation.reason == .bandwidth)
    // Enough not to fall further, too little to climb.
    run.target = 400_000
    #expect(run.pass(30) == [.init(scale: 0.5)])
    // All that had room for three seconds comes back at once.
    run.target = 1_000_000
    #expect(run.pass(10) == [.init(scale: 0.5), .init()])
  }

  @Test func aRateThatCollapsesForAMomentCostsNoMoreThanWhatItComesBackTo() {
    var run = Run(.maintainFramerate)
    run.pass(2)
    run.target = 60_000
    run.pass(0.8)
    run.target = 390_000
    #expect(run.pass(5) == [.init(), .init(scale: 0.75)])
  }

  @Test func whatHadRoomForAMomentDoesNotComeBack() {
    var run = Run(.maintainFramerate)
    run.target = 200_000
    run.pass(2)
    for _ in 0..<5 {
      run.target = 2_500_000
      run.pass(2)
      run.target = 600_000
      run.pass(0.5)
    }
    #expect(run.adaptation.step == .init(scale: 0.75))
  }

  @Test func betterCodecsKeepTheirSizeLonger() {
    var scales: [Double] = []
    for kind in [VideoCodecKind.vp8, .vp9, .av1] {
      var run = Run(.maintainFramerate, kind)
      run.target = 390_000
      run.pass(1)
      scales.append(run.adaptation.step.scale)
    }
    #expect(scales == [0.75, 1, 1])
  }

  @Test func theLowerOfBothStepsCounts() {
    var run = Run(.maintainFramerate)
    run.load = 1.2
    run.pass(3)
    run.target = 200_000
    run.pass(3)
    #expect(run.adaptation.step.scale == 0.5)
    #expect(run.adaptation.limitation.reason == .bandwidth)
    run.target = 2_500_000
    run.pass(10)
    #expect(run.adaptation.step.scale == 0.75)
    #expect(run.adaptation.limitation.reason == .cpu)
    let durations = run.adaptation.limitation.durations(at: run.now)
    let total = durations.values.reduce(0, +)
    #expect(abs(total - (run.now - Instant(nanoseconds: 1_000_000_000)).inSeconds) < 0.1)
    #expect(Set(durations.keys) == ["none", "cpu", "bandwidth", "other"])
  }

  @Test func anotherSizeIsJudgedAnew() {
    var run = Run(.maintainFramerate)
    run.load = 1.2
    run.pass(3)
    run.width = 320
    run.height = 180
    run.load = 0.2
    #expect(run.pass(1) == [.init()])
  }

  @Test func aRateThatWaversKeepsTheLadder() {
    var run = Run(.maintainResolution)
    run.load = 1.2
    run.pass(3)
    let step = run.adaptation.step
    #expect(step.framesPerSecond == 20)
    for rate in [29.0, 31, 30, 28] {
      run.rate = rate
      #expect(run.pass(1) == [step])
    }
  }
}
