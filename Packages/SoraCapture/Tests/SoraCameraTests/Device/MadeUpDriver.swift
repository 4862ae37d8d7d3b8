import Foundation
import SoraCamera
import Synchronization

/// A driver that answers what a test makes up, and counts how often it is asked.
final class MadeUpDriver: DriverQueries {
  typealias Answers<Answer> = @Sendable (_ index: UInt32) throws(DriverFailure) -> Answer

  let path = "/dev/video7"
  private let formatAnswers: Answers<CameraPixelFormat>
  private let sizeAnswers: Answers<FrameSizes>
  private let intervalAnswers: Answers<FrameIntervals>
  private let present: Result<FrameSizes, DriverFailure>
  private let count = Mutex(0)

  init(
    formats: @escaping Answers<CameraPixelFormat> = MadeUpDriver.list([.nv12]),
    sizes: @escaping Answers<FrameSizes>,
    intervals: @escaping Answers<FrameIntervals> = MadeUpDriver.list([]),
    present: Result<FrameSizes, DriverFailure> = .failure(DriverFailure(EINVAL))
  ) {
    formatAnswers = formats
    sizeAnswers = sizes
    intervalAnswers = intervals
    self.present = present
  }

  /// Answers one after the other, and then an error: EINVAL behind the last, as drivers do.
  static func list<Answer: Sendable>(
    _ answers: [Answer], then code: Int32 = EINVAL
  ) -> Answers<Answer> {
    { index throws(DriverFailure) in
      guard index < answers.count else { throw DriverFailure(code) }
      return answers[Int(index)]
    }
  }

  /// How often it was asked.
  var questions: Int { count.withLock { $0 } }

  func format(_ index: UInt32) throws(DriverFailure) -> CameraPixelFormat {
    count.withLock { $0 += 1 }
    return try formatAnswers(index)
  }

  func sizes(of format: CameraPixelFormat, _ index: UInt32) throws(DriverFailure) -> FrameSizes {
    count.withLock { $0 += 1 }
    return try sizeAnswers(index)
  }

  func intervals(
    of format: CameraPixelFormat, width: Int, height: Int, _ index: UInt32
  ) throws(DriverFailure) -> FrameIntervals {
    count.withLock { $0 += 1 }
    return try intervalAnswers(index)
  }

  func presentSize() throws(DriverFailure) -> (width: UInt32, height: UInt32) {
    count.withLock { $0 += 1 }
    guard case .one(let width, let height) = try present.get() else { return (0, 0) }
    return (width, height)
  }
}
