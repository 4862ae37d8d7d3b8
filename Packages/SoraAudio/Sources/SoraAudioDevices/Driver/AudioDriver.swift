/// What gives sound devices, so that what is done with them can be tested without any. Safe from any thread.
package protocol AudioBackend: Sendable {
  var system: AudioSystem { get }
  /// The devices that there are now, in a constant order.
  func devices() throws(AudioDeviceError) -> [AudioDevice]
  /// Opens a device, or the default of a direction, with which the stream moves.
  func open(_ request: AudioPortRequest) throws(AudioDeviceError) -> any AudioPort
  func watch() throws(AudioDeviceError) -> any AudioWatcher
}

/// What is asked of a device that is opened.
package struct AudioPortRequest: Sendable, Hashable {
  package var device: AudioDevice?
  package var direction: AudioDevice.Direction
  package var channels: Int
  /// Samples of each channel that come or go at once.
  package var period: Int
  /// Samples of each channel that a player holds.
  package var buffer: Int
  /// What the system calls the stream.
  package var title: String

  package init(
    device: AudioDevice?, direction: AudioDevice.Direction, channels: Int, period: Int = 480,
    buffer: Int = 1_440, title: String = "Sora"
  ) {
    self.device = device
    self.direction = direction
    self.channels = channels
    self.period = period
    self.buffer = buffer
    self.title = title
  }

  /// What errors call the device.
  var name: String { device?.id ?? "the default \(direction)" }
}

/// What `AudioPort.wait` waited for.
package struct AudioPortEvents: OptionSet, Sendable {
  package let rawValue: Int32
  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// A period can be read or written.
  package static let ready = Self(rawValue: 1)
  package static let woken = Self(rawValue: 2)
  package static let changed = Self(rawValue: 4)
  /// The device, or its server, is gone: see `AudioPort.reason`.
  package static let ended = Self(rawValue: 8)
}

/// One device that is open, in one direction: 16 bits at 48 kHz. One thread's, but for `wake`.
package protocol AudioPort: AnyObject, Sendable {
  /// Waits until a period can be read or written, for `wake`, for the end, or for so long.
  func wait(milliseconds: Int) -> AudioPortEvents
  /// From any thread.
  func wake()
  /// Samples of each channel that can be read or written now; 0 after the end.
  var available: Int { get }
  /// Appends so many samples of each channel, or what there is.
  func read(_ frames: Int, into samples: inout [Int16])
  /// Takes interleaved samples; no more than are available.
  func write(_ samples: Span<Int16>)
  /// From the microphone, or to the loudspeaker; nil if unknown.
  var latency: Duration? { get }
  /// How often a buffer ran empty, or over.
  var xruns: Int { get }
  /// Has a player's buffer hold so many samples of each channel from now on, where that can be changed.
  func setBuffer(_ frames: Int)
  /// Why it ended.
  var reason: AudioDeviceError { get }
  func close()
}

/// Waits for changes of devices. One thread's, but for `wake`.
package protocol AudioWatcher: AnyObject, Sendable {
  func wait(milliseconds: Int) -> AudioWatch
  func wake()
  func close()
}

package enum AudioWatch: Sendable {
  case nothing
  case changed
  case ended
}
