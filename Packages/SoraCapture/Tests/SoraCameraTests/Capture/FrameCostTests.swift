import CSoraMallocCount
import SoraCamera
import SoraMedia
import Synchronization
import Testing

/// What a frame costs in steady state, counted.
@Suite struct FrameCostTests {
  /// Formats of the three ways that frames go: as the driver wrote them, in planes of their own, and converted.
  enum Format: CaseIterable {
    case nv12
    case nv12Planes
    case yuyv

    var layout: PictureLayout {
      switch self {
      case .nv12: PictureLayout(pixelFormat: .nv12, width: 64, height: 32, strides: [64])
      case .nv12Planes:
        PictureLayout(
          // NM12.
          pixelFormat: CameraPixelFormat(rawValue: 0x3231_4D4E), width: 64, height: 32,
          strides: [64, 64])
      case .yuyv: PictureLayout(pixelFormat: .yuyv, width: 64, height: 32, strides: [128])
      }
    }

    var planes: [Int] {
      switch self {
      case .nv12: [64 * 48]
      case .nv12Planes: [64 * 32, 64 * 16]
      case .yuyv: [128 * 32]
      }
    }
  }

  /// Counts on the capture's thread, from one frame to another.
  private final class Meter: Sendable {
    struct State {
      var frames = 0
      var held: PixelBuffer?
      var (start, end): (Reading?, Reading?) = (nil, nil)
    }

    struct Reading {
      var allocations: UInt64
      var calls: StandInDriver.Calls
    }

    private static let (first, last) = (50, 250)
    static let count = last - first
    private let state = Mutex(State())
    private let keeps: Bool

    init(keeps: Bool) { self.keeps = keeps }

    func take(_ frame: CapturedFrame, _ driver: StandInDriver) {
      guard case .picture(let picture) = frame.content else { return }
      state.withLock { state in
        if keeps { state.held = picture }
        state.frames += 1
        guard state.frames == Self.first || state.frames == Self.last else { return }
        let reading = Reading(
          allocations: sora_malloc_count(), calls: driver.state.withLock { $0.calls })
        if state.start == nil { state.start = reading } else { state.end = reading }
      }
    }

    /// Waits for the last frame; what a frame cost.
    func result() -> (start: Reading, end: Reading)? {
      pause(while: state.withLock { $0.end == nil })
      return state.withLock { state in
        state.held = nil
        return state.start.flatMap { start in state.end.map { (start, $0) } }
      }
    }
  }

  private func measure(_ format: Format, keeps: Bool) throws -> (
    allocations: UInt64, calls: StandInDriver.Calls
  ) {
    let driver = StandInDriver(
      format.layout, planes: format.planes.map { [UInt8](repeating: 90, count: $0) })
    driver.state.withLock { $0.isTireless = true }
    let meter = Meter(keeps: keeps)
    let capture = try CameraCapture(
      CameraDevice(path: "/dev/video7", name: "Stand-in", bus: "none", driver: "none"),
      driver: driver,
      format: CameraFormat(pixelFormat: format.layout.pixelFormat, width: 64, height: 32),
      framesPerSecond: 30, deliver: { meter.take($0, driver) }, notify: { _ in })
    defer { capture.stop() }
    let (start, end) = try #require(meter.result())
    return (
      end.allocations - start.allocations,
      StandInDriver.Calls(
        waits: end.calls.waits - start.calls.waits,
        dequeues: end.calls.dequeues - start.calls.dequeues,
        queues: end.calls.queues - start.calls.queues)
    )
  }

  @Test(.timeLimit(.minutes(5)), arguments: Format.allCases, [false, true])
  func aFrameIsOneWaitAndOneBufferTakenAndGivenBack(_ format: Format, keeps: Bool) throws {
    let count = Meter.count
    #expect(
      try measure(format, keeps: keeps).calls
        == StandInDriver.Calls(waits: count, dequeues: count, queues: count))
  }

  /// A frame over the driver's memory that somebody keeps is an object of its own.
  @Test(
    .enabled(
      if: sora_malloc_count_is_telling() != 0,
      "allocations aren't counted in this build (debug, or sanitizers)"
    ), .timeLimit(.minutes(5)), arguments: Format.allCases, [false, true])
  func onlyFramesThatAreKeptAllocate(_ format: Format, keeps: Bool) throws {
    let most = keeps && format != .yuyv ? Meter.count : 0
    #expect(try measure(format, keeps: keeps).allocations <= most)
  }
}
