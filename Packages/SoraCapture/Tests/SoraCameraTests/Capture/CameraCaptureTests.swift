import Foundation
import SoraCamera
import SoraClock
import SoraMedia
import Synchronization
import Testing

func pauseAMillisecond() { Thread.sleep(forTimeInterval: 0.001) }

/// Lets other threads go on while a condition holds, or until the test's time is up.
func pause(while isWaiting: @autoclosure () -> Bool) {
  while isWaiting(), !Task.isCancelled { pauseAMillisecond() }
}

@Suite struct CameraCaptureTests {
  private static let device = CameraDevice(
    path: "/dev/video7", name: "Stand-in", bus: "none", driver: "none")

  /// What came from a capture.
  private final class Seen: Sendable {
    let frames = Mutex<[CapturedFrame]>([])
    let events = Mutex<[CameraCapture.Event]>([])

    func wait(_ condition: (Seen) -> Bool) {
      pause(while: !condition(self))
    }

    var count: Int { frames.withLock { $0.count } }
  }

  private func start(
    _ pixelFormat: CameraPixelFormat, width: Int = 64, height: Int = 32, strides: [Int]? = nil,
    bytes: Int, contents: [UInt8] = [], keeps: Bool = false
  ) throws -> (StandInDriver, CameraCapture, Seen) {
    let layout = PictureLayout(
      pixelFormat: pixelFormat, width: width, height: height, strides: strides ?? [width])
    let driver = StandInDriver(layout, bytes: bytes, contents: contents)
    let seen = Seen()
    let capture = try CameraCapture(
      Self.device, driver: driver,
      format: CameraFormat(pixelFormat: pixelFormat, width: width, height: height),
      framesPerSecond: 30,
      deliver: { frame in
        seen.frames.withLock { frames in
          if !keeps { frames.removeAll() }
          frames.append(frame)
        }
      },
      notify: { event in seen.events.withLock { $0.append(event) } })
    return (driver, capture, seen)
  }

  @Test(.timeLimit(.minutes(5))) func picturesAreLentUntilFewAreLeftThenCopied() throws {
    let size = 64 * 32 * 3 / 2
    let (driver, capture, seen) = try start(.nv12, bytes: size, keeps: true)
    for turn in 1...8 as ClosedRange<UInt32> {
      driver.fill(sequence: turn)
      seen.wait { $0.count == Int(turn) }
    }
    let lent = seen.frames.withLock { frames in frames.count { $0.deviceMemory != nil } }
    #expect(lent == 3, "two are always the driver's")
    #expect(capture.statistics.framesCopied == 5)
    #expect(capture.statistics.frames == 8 && capture.statistics.framesLost == 0)
    #expect(driver.state.withLock { $0.queued.count } == 2)
    // What is let go goes back to the driver, and is lent again.
    seen.frames.withLock { $0.removeAll() }
    #expect(driver.state.withLock { $0.queued.count } == 5)
    driver.fill(sequence: 9)
    seen.wait { $0.count == 1 }
    let last = try #require(seen.frames.withLock { $0.first })
    #expect(try #require(last.deviceMemory).exportDescriptor() >= 0)

    // Pictures outlive the camera; the driver hears nothing any more, and memory goes with its last reader.
    capture.stop()
    guard case .picture(let picture) = last.content else { return }
    #expect((picture.plane(0).row(0)[3] &- 3) % 40 == 0, "as the driver wrote it")
    #expect(throws: CameraError.self) { try last.deviceMemory?.exportDescriptor() }
    #expect(driver.state.withLock { $0.isClosed && !$0.isStreaming })
    #expect(driver.state.withLock { $0.late } == 0)
  }

  @Test(.timeLimit(.minutes(5))) func memoryGoesWithItsLastReader() throws {
    let driver: StandInDriver
    do {
      let (made, capture, seen) = try start(.i420, bytes: 64 * 32 * 3 / 2, keeps: true)
      driver = made
      made.fill(sequence: 0)
      seen.wait { $0.count == 1 }
      capture.stop()
      #expect(made.state.withLock { $0.unmapped } == 0)
      seen.frames.withLock { $0.removeAll() }
    }
    #expect(driver.state.withLock { $0.unmapped } == 5)
    #expect(driver.state.withLock { $0.late } == 0)
  }

  /// Pictures that nobody kept are lent again; those that somebody then keeps are theirs all the same, and no buffer is queued twice.
  @Test(.timeLimit(.minutes(5))) func picturesThatAreLentAgainCanBeKept() throws {
    let size = 64 * 32 * 3 / 2
    let driver = StandInDriver(
      PictureLayout(pixelFormat: .nv12, width: 64, height: 32, strides: [64]), bytes: size + 64)
    let held = Mutex<[PixelBuffer]>([])
    let keeps = Mutex(false)
    let capture = try CameraCapture(
      Self.device, driver: driver,
      format: CameraFormat(pixelFormat: .nv12, width: 64, height: 32), framesPerSecond: 30,
      deliver: { frame in
        guard case .picture(let picture) = frame.content, keeps.withLock({ $0 }) else { return }
        held.withLock { $0.append(picture) }
      }, notify: { _ in })
    /// Has a frame delivered, whose data is as long as others' or not; what the driver has then.
    func queued(after sequence: Int, lent: Int) -> Set<Int> {
      driver.fill(sequence: UInt32(sequence), used: size + sequence % 3)
      pause(while: capture.statistics.frames < sequence)
      pause(while: driver.state.withLock { $0.queued.count } < 5 - lent)
      return driver.state.withLock { Set($0.queued) }
    }
    for sequence in 1...12 { #expect(queued(after: sequence, lent: 0) == Set(0..<5)) }
    keeps.withLock { $0 = true }
    for lent in 1...3 { #expect(queued(after: 12 + lent, lent: lent).count == 5 - lent) }
    pause(while: held.withLock { $0.count } < 3)
    #expect(driver.state.withLock { $0.queued.count } == 2)
    #expect(
      held.withLock { $0 }.allSatisfy { ($0.plane(0).row(0)[3] &- 3) % 40 == 0 },
      "as the driver wrote them")
    #expect(Set(held.withLock { $0 }.map { $0.plane(0).row(0)[0] }).count == 3)
    keeps.withLock { $0 = false }
    held.withLock { $0.removeAll() }
    for sequence in 16...30 { #expect(queued(after: sequence, lent: 0) == Set(0..<5)) }
    #expect(driver.state.withLock { $0.queued.count } == 5, "none twice")
    capture.stop()
    #expect(capture.statistics.framesCopied == 0)
    #expect(
      driver.state.withLock { $0.queued.count } == 5 && driver.state.withLock { $0.late } == 0)
  }

  /// What comes broken, cut or out of place is counted, and its buffer is filled again.
  @Test(.timeLimit(.minutes(5))) func brokenPicturesAreLeftOut() throws {
    let size = 64 * 32 * 2
    let (driver, capture, seen) = try start(.yuyv, strides: [128], bytes: size)
    driver.fill(sequence: 1, isBroken: true)
    driver.fill(sequence: 2, used: size - 1)
    driver.say(.filled(FilledBuffer(index: 99, sequence: 3, parts: [0..<size])))
    driver.say(.filled(FilledBuffer(index: 0, sequence: 4, parts: [0..<(size + 1)])))
    driver.say(.filled(FilledBuffer(index: 0, sequence: 5, parts: [])))
    driver.fill(sequence: 9)
    seen.wait { $0.count == 1 }
    capture.stop()
    #expect(capture.statistics.framesBroken == 5)
    #expect(capture.statistics.framesLost == 3, "6, 7 and 8")
    let frame = try #require(seen.frames.withLock { $0.first })
    #expect(frame.sequence == 9 && frame.deviceMemory == nil)
  }

  /// A row of zeros, or planes that the format doesn't have, would be read outside of the memory.
  @Test(.timeLimit(.minutes(5)), arguments: [[], [0], [10], [64, 64, 64, 64], [1 << 62]])
  func rowsThatCantBeAreRefused(strides: [Int]) throws {
    #expect(
      throws: CameraError.formatRefused(
        wanted: "NV12 64x32", given: "NV12 64x32 in rows that can't be")
    ) {
      try start(.nv12, strides: strides, bytes: 64 * 32 * 3 / 2)
    }
  }

  @Test(.timeLimit(.minutes(5)), arguments: 0..<50)
  func anyBytesOfAJPEGAreTaken(seed: UInt8) throws {
    let (driver, capture, _) = try start(.mjpeg, strides: [0], bytes: 400 + Int(seed) * 7)
    driver.fill(sequence: 1)
    pause(while: capture.statistics.framesBroken == 0)
    capture.stop()
  }

  /// A JPEG's black is 0 and its white 255; pictures of calls have 16 and 235.
  @Test(.timeLimit(.minutes(5))) func aJPEGsRangeIsLimited() throws {
    // 32x16, the left half black and the right white.
    let file = try #require(
      Data(
        base64Encoded: """
          /9j/4AAQSkZJRgABAgAAAQABAAD//gAQTGF2YzU5LjM3LjEwMAD/2wBDAAgEBAQEBAUFBQUFBQYGBgYGBgYGBgYGBgYHBwcICAgHBwcGBg\
          cHCAgICAkJCQgICAgJCQoKCgwMCwsODg4RERT/xABLAAEBAAAAAAAAAAAAAAAAAAAACAEBAAAAAAAAAAAAAAAAAAAAABABAAAAAAAAAAAA\
          AAAAAAAAABEBAAAAAAAAAAAAAAAAAAAAAP/AABEIABAAIAMBIgACEQADEQD/2gAMAwEAAhEDEQA/AJ/ABf4AP//Z
          """))
    let (driver, capture, seen) = try start(
      .mjpeg, width: 32, height: 16, strides: [0], bytes: file.count, contents: Array(file))
    driver.fill(sequence: 1)
    seen.wait { $0.count == 1 || capture.statistics.framesBroken > 0 }
    capture.stop()
    guard case .picture(let picture)? = seen.frames.withLock({ $0.first })?.content else {
      Issue.record("no picture")
      return
    }
    let row = picture.plane(0).row(8)
    #expect(row[4] == 16 && row[28] == 235, "\(row[4]) and \(row[28])")
    #expect(picture.plane(1).row(4)[8] == 128 && picture.plane(2).row(4)[8] == 128)
  }

  @Test(.timeLimit(.minutes(5))) func driversTimesAreUsedWhereTheyCanBe() throws {
    let (driver, capture, seen) = try start(.nv12, bytes: 64 * 32 * 3 / 2)
    let taken = SystemClock.now - .milliseconds(20)
    driver.fill(sequence: 1, nanoseconds: taken.nanoseconds)
    seen.wait { $0.count == 1 }
    #expect(seen.frames.withLock { $0[0].timestamp } == taken)
    for (sequence, wrong) in zip(
      2..., [0, SystemClock.now.nanoseconds + 5_000_000_000, 1])
    {
      let before = SystemClock.now
      driver.fill(sequence: UInt32(sequence), nanoseconds: wrong)
      seen.wait { $0.frames.withLock { $0.last?.sequence } == UInt32(sequence) }
      #expect(seen.frames.withLock { $0.last.map { $0.timestamp >= before } } == true)
    }
    capture.stop()
  }

  @Test(.timeLimit(.minutes(5))) func aStallIsToldOnceAndItsEnd() throws {
    let (driver, capture, seen) = try start(.nv12, bytes: 64 * 32 * 3 / 2)
    seen.wait { !$0.events.withLock { $0.isEmpty } }
    driver.fill(sequence: 1)
    seen.wait { $0.events.withLock { $0.count } == 2 }
    capture.stop()
    let events = seen.events.withLock { $0 }
    guard case .stalled(let silence) = events[0] else {
      Issue.record("\(events)")
      return
    }
    #expect(silence >= .seconds(1) && events[1] == .resumed && events.count == 2)
    #expect(capture.statistics.stalls == 1)
  }

  @Test(.timeLimit(.minutes(5)), arguments: [Dequeued.gone, .failed(5), .none])
  func theEndIsTold(_ last: Dequeued) throws {
    let (driver, capture, seen) = try start(.nv12, bytes: 64 * 32 * 3 / 2)
    if case .gone = last {
      driver.say(.gone)
    } else if case .failed = last {
      for _ in 0..<60 { driver.say(last) }
    } else {
      driver.state.withLock { $0.isGone = true }
    }
    seen.wait { !$0.events.withLock { $0.isEmpty } }
    let events = seen.events.withLock { $0 }
    if case .failed(let code) = last {
      #expect(events == [.ended(.system(operation: "reading", path: "/dev/video7", code: code))])
    } else {
      #expect(events == [.ended(.unplugged(path: "/dev/video7"))])
    }
    capture.stop()
    #expect(driver.state.withLock { $0.isClosed })
  }

  /// However rare its frames are, and though its driver ends no wait.
  @Test(.timeLimit(.minutes(1))) func aDeviceThatGoesSilentlyIsMissed() throws {
    let driver = StandInDriver(
      PictureLayout(pixelFormat: .nv12, width: 64, height: 32, strides: [64]), bytes: 64 * 48,
      rate: 0.01)
    driver.state.withLock { $0.goesSilently = true }
    let events = Mutex<[CameraCapture.Event]>([])
    let capture = try CameraCapture(
      Self.device, driver: driver,
      format: CameraFormat(pixelFormat: .nv12, width: 64, height: 32), framesPerSecond: 0.01,
      deliver: { _ in }, notify: { event in events.withLock { $0.append(event) } })
    pause(while: driver.state.withLock { $0.calls.waits == 0 })
    driver.state.withLock { $0.isGone = true }
    pause(while: events.withLock { $0.isEmpty })
    #expect(events.withLock { $0 } == [.ended(.unplugged(path: "/dev/video7"))])
    capture.stop()
  }

  /// From its own thread too; after it nothing is told.
  @Test(.timeLimit(.minutes(5))) func stoppingFromWithin() throws {
    let driver = StandInDriver(
      PictureLayout(pixelFormat: .nv12, width: 64, height: 32, strides: [64]), bytes: 64 * 48)
    let holder = Mutex<CameraCapture?>(nil)
    let stopped = DispatchSemaphore(value: 0)
    let ended = Mutex(0)
    let capture = try CameraCapture(
      Self.device, driver: driver,
      format: CameraFormat(pixelFormat: .nv12, width: 64, height: 32), framesPerSecond: 30,
      deliver: { _ in
        holder.withLock { $0 }?.stop()
        stopped.signal()
      }, notify: { _ in ended.withLock { $0 += 1 } })
    holder.withLock { $0 = capture }
    driver.fill(sequence: 1)
    stopped.wait()
    pause(while: !driver.state.withLock({ $0.isClosed }))
    #expect(ended.withLock { $0 } == 0)
    holder.withLock { $0 = nil }
  }

  /// A camera that another program has, or that may not be used, wherever the driver says so: one error, nothing is left open, and
  /// what runs already goes on.
  @Test(.timeLimit(.minutes(5)), arguments: StandInDriver.Stage.allCases)
  func refusalsAreThrownAndLeaveNothing(stage: StandInDriver.Stage) throws {
    let (other, running, seen) = try start(.nv12, bytes: 64 * 32 * 3 / 2)
    for refusal in [
      CameraError.busy(path: "/dev/video7"), .noPermission(path: "/dev/video7"),
      .formatRefused(wanted: "NV12 64x32", given: "YUYV 64x32"),
    ] {
      let driver = StandInDriver(
        PictureLayout(pixelFormat: .nv12, width: 64, height: 32, strides: [64]), bytes: 64 * 48)
      driver.state.withLock { $0.refusal = (stage, refusal) }
      func open() throws {
        _ = try CameraCapture(
          Self.device, driver: driver,
          format: CameraFormat(pixelFormat: .nv12, width: 64, height: 32), framesPerSecond: 30,
          deliver: { _ in Issue.record("a picture") }, notify: { _ in Issue.record("an event") })
      }
      #expect(throws: refusal) { try open() }
      let made = stage == .stream ? 5 : 0
      #expect(driver.state.withLock { $0.unmapped == made && !$0.isStreaming })
    }
    other.fill(sequence: 1)
    seen.wait { $0.count == 1 }
    running.stop()
    #expect(running.statistics.frames == 1)
  }

  @Test func unknownFormatsAreRefused() {
    let format = CameraFormat(
      pixelFormat: CameraPixelFormat(rawValue: 0x3031_3050), width: 64, height: 32)
    #expect(
      throws: CameraError.formatRefused(
        wanted: "pictures of P010", given: "nothing known here")
    ) {
      try CameraCapture(
        Self.device,
        driver: StandInDriver(
          PictureLayout(pixelFormat: .nv12, width: 64, height: 32, strides: [64]), bytes: 64),
        format: format, framesPerSecond: nil, deliver: { _ in }, notify: { _ in })
    }
  }
}
