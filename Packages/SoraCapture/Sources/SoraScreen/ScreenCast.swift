import CSoraPipeWire
import SoraMedia

/// What the desktop shows of itself: its portal, and a stream of PipeWire's. Confined to one thread, but for `wake`.
@safe final class ScreenCast: ScreenConnection, @unchecked Sendable {
  // @unchecked: whoever makes it hands it to the thread that uses it and keeps nothing but `wake`, which writes to a file descriptor.

  struct Offer {
    /// Of the portal's interface.
    var version = 0
    /// With a bit for each `PortalScreen.Kind`.
    var kinds: UInt32 = 0
    /// 1 for frames without the pointer, 2 for frames with it.
    var cursorModes: UInt32 = 0
  }

  struct Changes {
    var isDrawn = false
    /// The newest frame's size, where it is another than before.
    var size: (width: Int, height: Int)?
    var isAgreed = false
    var framesBroken = 0
  }

  private let handle: OpaquePointer

  init() throws(ScreenError) {
    guard let handle = unsafe sora_cast_make() else { throw .noMemory }
    unsafe self.handle = unsafe handle
  }

  deinit { unsafe sora_cast_free(handle) }

  /// Returns false where `wake` was called.
  private func check(
    _ status: sora_cast_status, _ operation: String
  ) throws(ScreenError) -> Bool {
    if status == SORA_CAST_DONE { return true }
    let message = unsafe String(cString: sora_cast_message(handle))
    switch status {
    case SORA_CAST_WOKEN: return false
    case SORA_CAST_NO_PORTAL: throw .noPortal(reason: message)
    case SORA_CAST_NO_PIPEWIRE: throw .noPipeWire(reason: message)
    case SORA_CAST_DECLINED: throw .declined
    case SORA_CAST_CLOSED: throw .endedByDesktop
    case SORA_CAST_LOST: throw .streamEnded(reason: message)
    case SORA_CAST_NO_MEMORY: throw .noMemory
    default: throw .portalRefused(operation: operation, reason: message)
    }
  }

  // MARK: The portal

  func connect(bus: String?) throws(ScreenError) -> Offer {
    var offer = sora_cast_offer()
    _ = try check(unsafe sora_cast_connect(handle, bus, &offer), "to be found")
    return Offer(version: Int(offer.version), kinds: offer.kinds, cursorModes: offer.cursor_modes)
  }

  /// Returns false where `wake` was called, as the others do.
  func createSession() throws(ScreenError) -> Bool {
    try check(unsafe sora_cast_create(handle), "a session")
  }

  /// - Parameters:
  ///   - kinds: with a bit for each.
  ///   - cursorMode: 0 where there is no choice.
  ///   - persistence: the mode; nil where the portal knows none.
  func select(
    kinds: UInt32, cursorMode: UInt32, persistence: UInt32?, restoreToken: String?
  ) throws(ScreenError) -> Bool {
    let token = persistence == nil ? nil : restoreToken
    return try check(
      unsafe sora_cast_select(handle, kinds, cursorMode, persistence ?? 0, token),
      "that kind of screen")
  }

  /// Has the user choose, and waits for that.
  func start() throws(ScreenError) -> Bool {
    try check(unsafe sora_cast_start(handle), "the user's choice")
  }

  /// With which the user's choice is had again, where the portal gave one.
  var restoreToken: String? {
    guard let token = unsafe sora_cast_token(handle) else { return nil }
    let text = unsafe String(cString: token)
    return text.isEmpty ? nil : text
  }

  // MARK: Pixels

  let sharesMemory = true

  /// - Parameter framesPerSecond: at most; from above 0 to 240.
  func openStream(framesPerSecond: Double) throws(ScreenError) {
    // A whole number, and the capture leaves out what is too much.
    let most = UInt32(max(framesPerSecond, 1).rounded(.up))
    _ = try check(unsafe sora_cast_open_stream(handle, most), "its stream")
  }

  /// - Parameter isPause: not ended by frames of the same size.
  func wait(milliseconds: Int, isPause: Bool) throws(ScreenError) -> Changes {
    var changes = sora_cast_changes()
    let status = unsafe sora_cast_wait(
      handle, Int32(clamping: milliseconds), isPause ? 1 : 0, &changes)
    _ = try check(status, "waiting")
    let size = (width: Int(changes.width), height: Int(changes.height))
    return Changes(
      isDrawn: changes.is_drawn != 0, size: changes.is_resized != 0 ? size : nil,
      isAgreed: changes.is_agreed != 0, framesBroken: Int(clamping: changes.broken))
  }

  /// The newest frame, converted once (I420 by BT.601, limited range), with the time that its maker told; nil where there is none.
  func picture(into pool: PixelBufferPool) -> (buffer: PixelBuffer, time: Instant?)? {
    var frame = unsafe sora_cast_frame()
    guard unsafe sora_cast_take(handle, &frame) != 0, let pixels = unsafe frame.pixels else {
      return nil
    }
    defer { unsafe sora_cast_give_back(handle) }
    let time = unsafe frame.time
    let buffer = unsafe PixelBuffer.converting(
      pixels, width: Int(frame.width), height: Int(frame.height), stride: Int(frame.stride),
      isRedFirst: frame.is_red_first != 0, into: pool)
    guard let buffer else { return nil }
    return (buffer, time > 0 ? Instant(nanoseconds: time) : nil)
  }

  // MARK: The end

  /// Ends waiting, from now on. From any thread.
  func wake() { unsafe sora_cast_wake(handle) }

  /// Ends session and stream, on the thread that waited.
  func end() { unsafe sora_cast_end(handle) }
}
