import Foundation
import SoraCamera
import Synchronization

/// A driver whose controls a test makes up.
final class MadeUpControls: ControlQueries {
  let path = "/dev/video7"
  private let answers: [ControlAnswer]
  private let items: @Sendable (UInt32) -> String?
  /// What reading and writing answers in place of values.
  private let code: Int32
  let values = Mutex<[UInt32: Int64]>([:])
  let questions = Mutex(0)

  init(
    _ answers: [ControlAnswer], code: Int32 = 0,
    items: @escaping @Sendable (UInt32) -> String? = { _ in nil }
  ) {
    self.answers = answers
    self.items = items
    self.code = code
  }

  func control(after id: UInt32) throws(DriverFailure) -> ControlAnswer {
    questions.withLock { $0 += 1 }
    guard let next = answers.first(where: { $0.id > id }) else { throw DriverFailure(EINVAL) }
    return next
  }

  func menuItem(_ index: UInt32, of control: ControlAnswer) throws(DriverFailure) -> String {
    questions.withLock { $0 += 1 }
    guard let name = items(index) else { throw DriverFailure(EINVAL) }
    return name
  }

  func readControl(_ id: UInt32, is64: Bool) throws(DriverFailure) -> Int64 {
    if code != 0 { throw DriverFailure(code) }
    let value = values.withLock { $0[id] ?? 0 }
    return is64 ? value : Int64(Int32(truncatingIfNeeded: value))
  }

  func writeControl(_ id: UInt32, is64: Bool, _ value: Int64) throws(DriverFailure) {
    if code != 0 { throw DriverFailure(code) }
    values.withLock { $0[id] = value }
  }
}
