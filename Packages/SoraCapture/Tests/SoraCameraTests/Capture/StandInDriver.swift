import SoraCamera
import SoraClock
import SoraMedia
import Synchronization

/// A driver without a device: what it fills, and when it fails, is the test's.
final class StandInDriver: CaptureDriver {
  /// What may be refused.
  enum Stage: CaseIterable {
    case configure
    case makeBuffers
    case stream
  }

  struct State {
    var refusal: (stage: Stage, error: CameraError)?
    var queued: [Int] = []
    /// What `dequeue` gives, in this order.
    var script: [Dequeued] = []
    var isStreaming = false
    var isClosed = false
    var isWoken = false
    var isGone = false
    /// Whether a wait goes on when the device goes.
    var goesSilently = false
    var unmapped = 0
    /// The calls that came after `close`.
    var late = 0
    /// Whether each buffer is filled as soon as somebody asks.
    var isTireless = false
    var calls = Calls()
  }

  /// What a device would have been asked: each is a system call.
  struct Calls: Equatable {
    var waits = 0
    var dequeues = 0
    var queues = 0
  }

  let state = Mutex(State())
  private let layout: PictureLayout
  private let bytes: Int
  private let rate: Double?
  private let contents: [[UInt8]]

  /// - Parameter contents: what each buffer begins with; a pattern fills the rest.
  init(_ layout: PictureLayout, bytes: Int, rate: Double? = 30, contents: [UInt8] = []) {
    self.layout = layout
    self.bytes = bytes
    self.rate = rate
    self.contents = [contents]
  }

  /// - Parameter planes: all bytes of each plane of memory.
  init(_ layout: PictureLayout, planes: [[UInt8]]) {
    self.layout = layout
    bytes = planes.first?.count ?? 0
    rate = 30
    contents = planes
  }

  func configure(_ format: CameraFormat, framesPerSecond: Double?) throws(CameraError) -> (
    layout: PictureLayout, framesPerSecond: Double?
  ) {
    try refuse(.configure)
    return (layout, rate)
  }

  private func refuse(_ stage: Stage) throws(CameraError) {
    if let refusal = state.withLock({ $0.refusal }), refusal.stage == stage { throw refusal.error }
  }

  func makeBuffers(_ count: Int) throws(CameraError) -> [CaptureBuffer] {
    try refuse(.makeBuffers)
    return (0..<count).map { index in
      let planes = contents.enumerated().map { plane, contents in
        let bytes = plane == 0 ? bytes : contents.count
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 64)
        for at in 0..<bytes { memory[at] = UInt8(truncatingIfNeeded: index &* 40 &+ at % 16) }
        memory.copyBytes(from: contents.prefix(bytes))
        return memory
      }
      nonisolated(unsafe) let mapped = planes
      return CaptureBuffer(planes: planes.map { UnsafeRawBufferPointer($0) }) { [self] in
        mapped.forEach { $0.deallocate() }
        state.withLock { $0.unmapped += 1 }
      }
    }
  }

  func queue(_ index: Int, planes: Int) -> Int32 {
    state.withLock { state in
      if state.isClosed { state.late += 1 }
      state.calls.queues += 1
      state.queued.append(index)
      return 0
    }
  }

  /// Has the driver fill its oldest buffer.
  func fill(sequence: UInt32, isBroken: Bool = false, used: Int? = nil, nanoseconds: Int64 = 0) {
    state.withLock { state in
      guard !state.queued.isEmpty else { return }
      let index = state.queued.removeFirst()
      state.script.append(
        .filled(
          FilledBuffer(
            index: index, sequence: sequence, nanoseconds: nanoseconds, isBroken: isBroken,
            parts: parts(used ?? bytes))))
    }
  }

  /// - Parameter used: bytes of the first plane; of others, all.
  private func parts(_ used: Int) -> PlaneRanges {
    var parts = PlaneRanges()
    parts.append(0..<used)
    for plane in contents.dropFirst() { parts.append(0..<plane.count) }
    return parts
  }

  func say(_ dequeued: Dequeued) { state.withLock { $0.script.append(dequeued) } }

  func dequeue(planes: Int) -> Dequeued {
    state.withLock { state in
      state.calls.dequeues += 1
      if !state.script.isEmpty { return state.script.removeFirst() }
      guard state.isTireless, !state.queued.isEmpty else { return .none }
      return .filled(
        FilledBuffer(
          index: state.queued.removeFirst(), sequence: UInt32(state.calls.dequeues),
          parts: parts(bytes)))
    }
  }

  func stream(_ isOn: Bool) throws(CameraError) {
    if isOn { try refuse(.stream) }
    state.withLock { $0.isStreaming = isOn }
  }

  func wait(until deadline: Instant) -> CaptureWait {
    let wasThere = state.withLock { state in
      state.calls.waits += 1
      return !state.isGone
    }
    while SystemClock.now < deadline {
      let came = state.withLock {
        CaptureWait(
          isReady: !$0.script.isEmpty || $0.isTireless && !$0.queued.isEmpty,
          isWoken: $0.isWoken, isGone: $0.isGone && !($0.goesSilently && wasThere))
      }
      if came.isReady || came.isWoken || came.isGone { return came }
      pauseAMillisecond()
    }
    return CaptureWait()
  }

  func wake() { state.withLock { $0.isWoken = true } }

  func export(_ index: Int, plane: Int) throws(CameraError) -> Int32 { Int32(index) }

  func close() {
    state.withLock {
      $0.isClosed = true
      $0.isStreaming = false
    }
  }
}
