import Synchronization

/// Which of the driver's buffers are lent, and their way back to the driver until the capture ends. From any thread: pictures go where
/// their last reader is.
final class BufferLoans: Sendable {
  /// Buffers that the driver always has.
  private static let reserve = 2

  private struct State {
    var isOpen = true
    /// A bit for each buffer: the kernel has 32 at most (VIDEO_MAX_FRAME).
    var lent: UInt32 = 0
  }

  private let driver: any CaptureDriver
  private let count: Int
  /// The planes of memory that each buffer has.
  let planes: Int
  private let state = Mutex(State())

  /// Gives the driver its buffers.
  ///
  /// - Throws: what the driver says to one.
  init(
    _ driver: any CaptureDriver, buffers: [CaptureBuffer], path: String
  ) throws(CameraError) {
    self.driver = driver
    count = buffers.count
    planes = buffers.first?.count ?? 1
    for index in buffers.indices {
      let code = driver.queue(index, planes: planes)
      if code != 0 { throw .system(operation: "queueing a buffer", path: path, code: code) }
    }
  }

  /// Says whether the buffer is lent now: not where too many are.
  func begin(_ index: Int) -> Bool {
    state.withLock { state in
      guard state.lent.nonzeroBitCount < count - Self.reserve else { return false }
      state.lent |= 1 << UInt32(index)
      return true
    }
  }

  /// Has the driver fill a buffer again that is lent; does nothing where it isn't.
  func end(_ index: Int) {
    state.withLock { state in
      guard Self.clear(index, &state) else { return }
      queue(index, state)
    }
  }

  /// The buffer is the caller's again.
  func cancel(_ index: Int) {
    state.withLock { _ = Self.clear(index, &$0) }
  }

  /// Has the driver fill a buffer again that wasn't lent.
  func giveBack(_ index: Int) {
    guard (0..<count).contains(index) else { return }
    state.withLock { queue(index, $0) }
  }

  private static func clear(_ index: Int, _ state: inout State) -> Bool {
    let bit: UInt32 = 1 << UInt32(index)
    defer { state.lent &= ~bit }
    return state.lent & bit != 0
  }

  /// Under the lock, so that nothing comes after `close`.
  private func queue(_ index: Int, _ state: State) {
    // A camera that is gone says so to who waits for its pictures.
    if state.isOpen { _ = driver.queue(index, planes: planes) }
  }

  func export(_ index: Int, plane: Int) throws(CameraError) -> Int32 {
    let result = state.withLock { state -> Result<Int32, CameraError> in
      guard state.isOpen else { return .failure(.unplugged(path: "the stopped camera")) }
      do throws(CameraError) { return .success(try driver.export(index, plane: plane)) } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// The driver gets no buffer any more.
  func close() { state.withLock { $0.isOpen = false } }
}
