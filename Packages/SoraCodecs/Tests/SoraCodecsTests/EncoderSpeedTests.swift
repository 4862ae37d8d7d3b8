import CodecTestSupport
import SoraCodecs
import SoraMedia
import Synchronization
import Testing

/// How the driver follows the time that frames take, in the library's virtual time.
@Suite struct EncoderSpeedTests {
  private let journal = FakeJournal()

  private func driver(
    _ change: (inout VideoEncoderSettings) -> Void = { _ in }
  ) throws(CodecError) -> EncoderDriver<FakeAdapter<SpeedyLibrary>> {
    var settings = VideoEncoderSettings(width: 64, height: 48)
    change(&settings)
    let result = FakeJournal.$current.withValue(journal) {
      Result { [journal] () throws(CodecError) in
        let driver = try EncoderDriver<FakeAdapter<SpeedyLibrary>>(settings)
        driver.clock = { journal.clock.withLock { $0.now } }
        return driver
      }
    }
    return try result.get()
  }

  /// From now on a frame takes so many milliseconds at the speeds from -1 on.
  private func setTimes(_ milliseconds: [Double]) {
    journal.clock.withLock { $0.frameTime = { .seconds(milliseconds[$0 + 1] / 1_000) } }
  }

  /// Encodes 30 frames per second for so long; returns the speeds that the library was started with meanwhile, and how many
  /// key frames it was asked for.
  private func run(
    _ encoder: any VideoEncoder, seconds: Double, width: Int = 64
  ) throws -> (speeds: [Int], keyFrames: Int) {
    _ = journal.take()
    var frame = Pictures.frame(width, 48, index: 0)
    let end = journal.clock.withLock { $0.now + .seconds(seconds) }
    while case let start = journal.clock.withLock({ $0.now }), start < end {
      frame.timestamp = start
      _ = try encoder.encode(frame, forceKeyFrame: false, rtpTimestamp: 0)
      // A frame that came meanwhile is taken at once.
      let next = start + .seconds(1.0 / 30)
      journal.clock.withLock { $0.now = max($0.now, next) }
    }
    let events = journal.take()
    let speeds = events.compactMap { event in
      event.hasPrefix("open") ? event.split(separator: " ").last.flatMap { Int($0) } : nil
    }
    return (speeds, events.count { $0 == "key" })
  }

  @Test func framesThatTakeLongerThanTheirIntervalChooseAFasterSpeedWithinHalfASecond() throws {
    let encoder = try driver()
    #expect(journal.take() == ["open 64x48 1000000 speed 1"])
    setTimes([10, 20, 40, 60])
    let (speeds, keyFrames) = try run(encoder, seconds: 0.5)
    // 20 ms of 33 are too much to leave room for others.
    #expect(speeds == [-1] && keyFrames == 2)
    #expect(encoder.settings.speed == nil && !encoder.canBeFaster)
  }

  @Test func withoutAClockTheSpeedStays() throws {
    let encoder = try driver()
    encoder.clock = nil
    setTimes([10, 20, 40, 60])
    #expect(try run(encoder, seconds: 2).speeds == [])
  }

  @Test func oneStepIsTakenWhereOneIsEnough() throws {
    let encoder = try driver()
    setTimes([6, 12, 24, 36])
    #expect(try run(encoder, seconds: 2).speeds == [0])
  }

  @Test func theSpeedComesBackWhenThereIsTimeAgain() throws {
    let encoder = try driver()
    setTimes([10, 20, 40, 60])
    #expect(try run(encoder, seconds: 2).speeds == [-1])
    setTimes([1, 2, 4, 6])
    #expect(try run(encoder, seconds: 4).speeds == [])
    // All the way at once: every change costs a key frame.
    let (speeds, keyFrames) = try run(encoder, seconds: 26)
    #expect(speeds == [2] && keyFrames == 1)
  }

  @Test func whatFitsStaysAsItIs() throws {
    let encoder = try driver()
    // Between too much and enough room for the next.
    setTimes([5, 10, 18, 24])
    let (speeds, keyFrames) = try run(encoder, seconds: 120)
    #expect(speeds == [] && keyFrames == 1)
  }

  @Test func aSlowerSpeedThatWasTooMuchIsTriedAgainLaterAndLater() throws {
    let encoder = try driver()
    // From 1 it looks as if there were room for 2.
    setTimes([2, 4, 8, 30])
    let (speeds, _) = try run(encoder, seconds: 300)
    #expect((2...12).contains(speeds.count), "\(speeds)")
    #expect(speeds.first == 2)
    let late = try run(encoder, seconds: 100)
    #expect(late.speeds.count <= 2, "\(late.speeds)")
  }

  @Test func noSlowerSpeedIsChosenWhileFramesAreReduced() throws {
    let encoder = try driver()
    encoder.maySlowDown = false
    setTimes([1, 2, 4, 6])
    #expect(try run(encoder, seconds: 30).speeds == [])
    encoder.maySlowDown = true
    #expect(try run(encoder, seconds: 10).speeds == [2])
  }

  @Test func whoKnowsMoreAsksForAFasterSpeed() throws {
    let encoder = try driver()
    setTimes([1, 2, 4, 6])
    for expected in [[0], [-1], []] {
      encoder.beFaster(at: journal.clock.withLock { $0.now })
      #expect(try run(encoder, seconds: 1).speeds == expected)
    }
  }

  @Test func anotherSizeStartsAtItsUsualSpeedOrAtAFasterOneThatWasNeeded() throws {
    let encoder = try driver()
    setTimes([5, 10, 18, 24])
    #expect(try run(encoder, seconds: 1, width: 96).speeds == [0])
    encoder.beFaster(at: journal.clock.withLock { $0.now })
    _ = try run(encoder, seconds: 1, width: 96)
    #expect(try run(encoder, seconds: 1, width: 64).speeds == [-1])
  }

  @Test func aSpeedThatIsAskedForStays() throws {
    let encoder = try driver { $0.speed = 2 }
    setTimes([10, 20, 40, 60])
    #expect(try run(encoder, seconds: 5).speeds == [])
    #expect(!encoder.canBeFaster)
  }
}
