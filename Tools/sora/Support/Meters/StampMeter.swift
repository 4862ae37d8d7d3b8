package import SoraCapture

/// What frame stamps tell about a way: which frames are missing, came twice or out of order, and how late they were.
package struct StampMeter: Sendable, Equatable {
  /// Frames whose stamp could be read.
  package private(set) var stamped = 0
  /// Frames without a readable stamp.
  package private(set) var unstamped = 0
  /// Frames between the first and the last that never came. One whose stamp can't be read has come, and isn't missing.
  package private(set) var missing = 0
  /// Times that at least one frame was missing between two that came.
  package private(set) var gaps = 0
  package private(set) var duplicates = 0
  package private(set) var outOfOrder = 0
  /// Times that the sender began anew.
  package private(set) var restarts = 0
  package private(set) var latency = LatencyHistogram()
  private var last: UInt32?
  /// Frames without a readable stamp since `last`.
  private var unstampedSinceLast = 0

  /// A jump of the index beyond this, either way, is a sender that began anew.
  private static let restartDistance: Int32 = 10_000

  package init() {}

  /// - Parameter now: the wall clock in milliseconds when the frame was received.
  package mutating func add(_ stamp: FrameStamp?, atRealtimeMilliseconds now: Int64) {
    guard let stamp else {
      unstamped += 1
      unstampedSinceLast += 1
      return
    }
    stamped += 1
    latency.add(milliseconds: stamp.age(atRealtimeMilliseconds: now))
    guard let previous = last else { return moveOn(to: stamp.index) }
    // Serial arithmetic: the index wraps after years, and a sender that restarts begins at 0.
    let step = Int32(bitPattern: stamp.index &- previous)
    switch step {
    case 1: moveOn(to: stamp.index)
    case 0: duplicates += 1
    case 2...Self.restartDistance:
      let absent = max(0, Int(step) - 1 - unstampedSinceLast)
      gaps += absent > 0 ? 1 : 0
      missing += absent
      moveOn(to: stamp.index)
    case -100..<0 where stamp.index > 2:
      outOfOrder += 1
      missing = max(0, missing - 1)
    default:
      restarts += 1
      moveOn(to: stamp.index)
    }
  }

  private mutating func moveOn(to index: UInt32) {
    last = index
    unstampedSinceLast = 0
  }
}
