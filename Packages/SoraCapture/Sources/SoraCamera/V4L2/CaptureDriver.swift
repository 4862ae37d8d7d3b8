/// What a device that gives pictures is asked, so that what is done with the pictures can be tested without one.
///
/// `wake` and `queue` come from any thread, the others from the thread that captures.
protocol CaptureDriver: AnyObject, Sendable {
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
  /// Waits for a filled buffer, for `wake`, or for so long.
  func wait(milliseconds: Int) -> CaptureWait
  func wake()
  /// A file descriptor of a buffer's memory, which the caller closes.
  func export(_ index: Int, plane: Int) throws(CameraError) -> Int32
  /// Lets the device go; what is mapped stays.
  func close()
}

enum Dequeued: Equatable {
  case filled(FilledBuffer)
  case none
  case gone
  case failed(Int32)
}

struct FilledBuffer: Equatable {
  var index: Int
  /// The driver counts pictures, lost ones too.
  var sequence: UInt32
  /// On the monotonic clock; 0 where the driver has another.
  var nanoseconds: Int64
  /// The driver knows that data is missing.
  var isBroken: Bool
  /// Where the data lies in each plane of memory.
  var parts: [Range<Int>]
}

struct CaptureWait {
  var isReady = false
  var isWoken = false
  var isGone = false
}
