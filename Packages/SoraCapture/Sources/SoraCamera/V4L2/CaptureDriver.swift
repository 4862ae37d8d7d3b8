package import SoraMedia

/// What a device that gives pictures is asked, so that what is done with the pictures can be tested without one.
///
/// `wake` and `queue` come from any thread, the others from the thread that captures.
package protocol CaptureDriver: AnyObject, Sendable {
  /// Sets a format and a frame rate; says what the driver made of them.
  func configure(
    _ format: CameraFormat, framesPerSecond: Double?
  ) throws(CameraError) -> (layout: PictureLayout, framesPerSecond: Double?)
  /// Makes about so many buffers and maps them.
  func makeBuffers(_ count: Int) throws(CameraError) -> [CaptureBuffer]
  /// Gives a buffer to the driver, to be filled; 0 or an errno.
  func queue(_ index: Int, planes: Int) -> Int32
  func dequeue(planes: Int) -> Dequeued
  func stream(_ isOn: Bool) throws(CameraError)
  /// Waits for a filled buffer, for `wake`, or until `deadline`. With nothing to tell it may return earlier: a deadline that moves with
  /// each frame needn't set a timer with each.
  func wait(until deadline: Instant) -> CaptureWait
  /// Ends this wait, and each that follows.
  func wake()
  /// A file descriptor of a buffer's memory, which the caller closes.
  func export(_ index: Int, plane: Int) throws(CameraError) -> Int32
  /// Lets the device go; what is mapped stays.
  func close()
}

package enum Dequeued: Sendable {
  case filled(FilledBuffer)
  case none
  case gone
  case failed(Int32)
}

package struct FilledBuffer: Sendable {
  package var index: Int
  /// The driver counts pictures, lost ones too.
  package var sequence: UInt32
  /// On the monotonic clock; 0 where the driver has another.
  package var nanoseconds: Int64
  /// The driver knows that data is missing.
  package var isBroken: Bool
  package var parts: PlaneRanges

  package init(
    index: Int, sequence: UInt32, nanoseconds: Int64 = 0, isBroken: Bool = false,
    parts: PlaneRanges
  ) {
    self.index = index
    self.sequence = sequence
    self.nanoseconds = nanoseconds
    self.isBroken = isBroken
    self.parts = parts
  }
}

package struct CaptureWait {
  package var isReady = false
  package var isWoken = false
  package var isGone = false

  package init(isReady: Bool = false, isWoken: Bool = false, isGone: Bool = false) {
    self.isReady = isReady
    self.isWoken = isWoken
    self.isGone = isGone
  }
}
