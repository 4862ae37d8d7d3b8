import CSoraX11
import SoraMedia

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A connection to an X server. Confined to one thread, but for `wake`.
@safe final class X11Display: ScreenConnection, @unchecked Sendable {
  // @unchecked: whoever makes it hands it to the thread that uses it and keeps nothing but `wake`, which writes to a file descriptor.

  struct Changes {
    var damage = PixelRectangle(x: 0, y: 0, width: 0, height: 0)
    var isChanged = false
    var isCursorChanged = false
  }

  struct Cursor {
    var x = 0
    var y = 0
    var width = 0
    var height = 0
  }

  private static let room = 256

  let name: String?
  /// What is captured, for errors.
  var subject = "the window"
  private let handle: OpaquePointer
  private let wakeFD: Int32

  init(_ name: String?) throws(ScreenError) {
    self.name = name
    var handle: OpaquePointer?
    let status = unsafe sora_x11_open(name, &handle)
    guard status == SORA_X11_DONE, let handle = unsafe handle else {
      throw status == SORA_X11_NO_LIBRARY ? .libraryMissing : .noDisplay(name: name ?? Self.named)
    }
    var wake: Int32 = -1
    guard unsafe sora_x11_make_wake(&wake) == 0 else {
      unsafe sora_x11_close(handle)
      throw .noMemory
    }
    unsafe self.handle = unsafe handle
    wakeFD = wake
  }

  deinit {
    unsafe sora_x11_close(handle)
    sora_x11_close_wake(wakeFD)
  }

  /// What the environment names.
  private static var named: String? {
    guard let value = unsafe getenv("DISPLAY") else { return nil }
    return unsafe String(cString: value)
  }

  private func check(
    _ status: sora_x11_status, _ operation: String
  ) throws(ScreenError) {
    switch status {
    case SORA_X11_DONE: return
    case SORA_X11_LOST: throw .displayLost(name: name ?? Self.named)
    case SORA_X11_GONE: throw .gone(subject)
    case SORA_X11_PIXELS: throw .unknownPixels
    case SORA_X11_NO_MEMORY: throw .noMemory
    default:
      throw .refused(operation: operation, code: Int(unsafe sora_x11_error(handle)))
    }
  }

  // MARK: What there is

  func desktop() throws(ScreenError) -> PixelRectangle {
    var area = sora_x11_rect()
    try check(unsafe sora_x11_desktop(handle, &area), "telling its size")
    return PixelRectangle(area)
  }

  func monitors() throws(ScreenError) -> [ScreenDevice] {
    var found = [sora_x11_monitor](repeating: .init(), count: Self.room)
    var count: Int32 = 0
    try check(
      unsafe sora_x11_monitors(handle, &found, Int32(Self.room), &count), "listing monitors")
    let listed = found.prefix(Int(count))
    let primary = listed.firstIndex { $0.is_primary != 0 } ?? 0
    let screens = listed.enumerated().map { index, monitor in
      ScreenDevice(
        name: text(of: monitor.name), frame: PixelRectangle(monitor.frame),
        isPrimary: index == primary,
        display: name)
    }
    return screens.filter(\.isPrimary) + screens.filter { !$0.isPrimary }
  }

  func windows() throws(ScreenError) -> [ScreenWindow] {
    var found = [sora_x11_window](repeating: .init(), count: Self.room)
    var count: Int32 = 0
    try check(
      unsafe sora_x11_windows(handle, &found, Int32(Self.room), &count), "listing windows")
    return found.prefix(Int(count)).map(window)
  }

  /// A window and whether it has pixels now.
  func window(_ id: UInt32) throws(ScreenError) -> (window: ScreenWindow, isShown: Bool) {
    var found = sora_x11_window()
    try check(unsafe sora_x11_describe(handle, id, &found), "describing a window")
    return (window(found), found.is_shown != 0)
  }

  private func window(_ found: sora_x11_window) -> ScreenWindow {
    ScreenWindow(
      id: found.id, title: text(of: found.title), frame: PixelRectangle(found.frame), display: name)
  }

  // MARK: Pixels

  var tellsDamage: Bool { unsafe sora_x11_tells_damage(handle) != 0 }
  var sharesMemory: Bool { unsafe sora_x11_shares_memory(handle) != 0 }

  /// - Parameter window: 0 for the desktop.
  func follow(_ window: UInt32) throws(ScreenError) {
    try check(unsafe sora_x11_follow(handle, window), "following it")
  }

  func makeRoom(_ area: PixelRectangle) throws(ScreenError) {
    try check(
      unsafe sora_x11_make_room(handle, Int32(area.width), Int32(area.height)), "making room")
  }

  /// Reads rows of an area, which has the size of the room.
  ///
  /// - Returns: false where there are no pixels now.
  func read(_ area: PixelRectangle, rows: Range<Int>) throws(ScreenError) -> Bool {
    unsafe sora_x11_forget_damage(handle)
    let status = unsafe sora_x11_read(
      handle, Int32(area.x), Int32(area.y), Int32(rows.lowerBound), Int32(rows.count))
    if status == SORA_X11_HIDDEN { return false }
    try check(status, "reading pixels")
    return true
  }

  /// What was read, converted once: I420 by BT.601, limited range.
  func convert(_ area: PixelRectangle, into pool: PixelBufferPool) -> PixelBuffer? {
    guard let pixels = unsafe sora_x11_pixels(handle) else { return nil }
    return unsafe PixelBuffer.converting(
      pixels, width: area.width, height: area.height, stride: area.width * 4, into: pool)
  }

  // MARK: Changes

  /// - Parameter isPause: not ended by changes.
  func wait(milliseconds: Int, isPause: Bool) throws(ScreenError) -> Changes {
    var changes = sora_x11_changes()
    let status = unsafe sora_x11_wait(
      handle, wakeFD, Int32(clamping: milliseconds), isPause ? 1 : 0, &changes)
    try check(status, "waiting")
    return Changes(
      damage: PixelRectangle(changes.damage), isChanged: changes.is_changed != 0,
      isCursorChanged: changes.is_cursor_changed != 0)
  }

  /// Ends `wait`, from now on. From any thread.
  func wake() { sora_x11_wake(wakeFD) }

  // MARK: The pointer

  func pointer() throws(ScreenError) -> (x: Int, y: Int) {
    var (x, y): (Int32, Int32) = (0, 0)
    try check(unsafe sora_x11_pointer(handle, &x, &y), "telling the pointer")
    return (Int(x), Int(y))
  }

  func loadCursor() throws(ScreenError) -> Cursor {
    var cursor = sora_x11_cursor()
    try check(unsafe sora_x11_load_cursor(handle, &cursor), "telling the pointer's picture")
    return Cursor(
      x: Int(cursor.x), y: Int(cursor.y), width: Int(cursor.width), height: Int(cursor.height))
  }

  /// Has the pointer's picture in what was read while `body` runs.
  func withCursor<Value>(x: Int, y: Int, _ body: () -> Value) -> Value {
    unsafe sora_x11_draw_cursor(handle, Int32(clamping: x), Int32(clamping: y))
    defer { unsafe sora_x11_erase_cursor(handle) }
    return body()
  }
}

extension PixelRectangle {
  fileprivate init(_ area: sora_x11_rect) {
    self.init(x: Int(area.x), y: Int(area.y), width: Int(area.width), height: Int(area.height))
  }
}

/// The characters of a fixed array of C's, up to the zero.
private func text<Characters>(of characters: Characters) -> String {
  unsafe withUnsafeBytes(of: characters) { bytes in
    unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}
