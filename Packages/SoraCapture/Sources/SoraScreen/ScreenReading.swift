import SoraMedia

/// What ends a wait from another thread.
protocol ScreenConnection: AnyObject, Sendable {
  /// Whether pixels come through memory that is shared with who makes them.
  var sharesMemory: Bool { get }
  /// Ends waiting, from now on. From any thread.
  func wake()
}

/// A frame that was read.
struct ScreenPicture {
  var buffer: PixelBuffer
  /// When it was made, where that is told.
  var time: Instant?
}

/// Reads what is captured, as far as it has changed. Confined to one thread, but for its making.
protocol ScreenReading: AnyObject {
  var connection: any ScreenConnection { get }
  /// Of what is read, in pixels; 0 where it isn't known yet.
  var size: (width: Int, height: Int) { get }
  /// Whether there is something new to read.
  var isChanged: Bool { get }
  /// Whether the pointer has to be asked for its place, again and again.
  var followsPointer: Bool { get }
  /// Frames that came and couldn't be read.
  var framesDropped: Int { get }

  /// What comes before the first frame; returns what a user has allowed, where one was asked and `wake` wasn't called.
  func begin() throws(ScreenError) -> PortalScreen?
  /// Waits for changes; returns whether what is read got another size.
  ///
  /// - Parameter isPause: only for the time, or for `wake`.
  func wait(milliseconds: Int, isPause: Bool) throws(ScreenError) -> Bool
  func followPointer() throws(ScreenError)
  /// Reads what has changed; nil where there are no pixels now.
  func picture() throws(ScreenError) -> ScreenPicture?
  /// The last call.
  func end()
}
