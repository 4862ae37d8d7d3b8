import SoraMedia
import Synchronization

/// The driver's buffers: lends pictures in them, and gives each back to the driver when nobody reads it any more.
final class BufferLender: Sendable {
  /// Buffers that the driver always has.
  private static let reserve = 2

  private struct State {
    var isOpen = true
    var lent = 0
  }

  private let driver: any CaptureDriver
  private let buffers: [CaptureBuffer]
  private let layout: PictureLayout
  private let state = Mutex(State())

  /// - Throws: what the driver says to a buffer.
  init(
    _ driver: any CaptureDriver, buffers: [CaptureBuffer], layout: PictureLayout, path: String
  ) throws(CameraError) {
    self.driver = driver
    self.buffers = buffers
    self.layout = layout
    for index in buffers.indices {
      let code = driver.queue(index, planes: buffers[index].count)
      if code != 0 { throw .system(operation: "queueing a buffer", path: path, code: code) }
    }
  }

  /// The most memory planes of a buffer.
  var planes: Int { buffers.first?.count ?? 1 }

  /// What the driver wrote; nil where it names a buffer or bytes that there aren't.
  func contents(of filled: FilledBuffer) -> FilledMemory? {
    buffers.indices.contains(filled.index) ? buffers[filled.index].contents(filled.parts) : nil
  }

  /// A picture in the driver's memory; nil where too many are lent already, or it can't be read from there. The buffer is the
  /// caller's still, then.
  func lend(_ filled: FilledBuffer, _ contents: FilledMemory) -> PixelBuffer? {
    let isFree = state.withLock { state in
      guard state.lent < buffers.count - Self.reserve else { return false }
      state.lent += 1
      return true
    }
    guard isFree else { return nil }
    let index = filled.index
    let buffer = buffers[index]
    let lent = layout.lend(contents) { [self] in
      _ = buffer
      state.withLock { $0.lent -= 1 }
      giveBack(index)
    }
    if lent == nil { state.withLock { $0.lent -= 1 } }
    return lent
  }

  /// Has the driver fill a buffer again. From any thread.
  func giveBack(_ index: Int) {
    // A camera that is gone says so to who waits for its pictures.
    state.withLock { state in
      guard state.isOpen, buffers.indices.contains(index) else { return }
      _ = driver.queue(index, planes: buffers[index].count)
    }
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
