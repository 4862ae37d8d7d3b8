// What there is to capture.

extension ScreenDevice {
  /// The monitors of a display, the primary one first.
  ///
  /// - Parameter display: such as `:0`; nil for the one that `DISPLAY` names.
  /// - Throws: `libraryMissing`, `noDisplay`.
  public static func all(display: String? = nil) throws(ScreenError) -> [ScreenDevice] {
    try X11Display(display).monitors()
  }

  /// The monitor of a name, or the primary one.
  ///
  /// - Throws: `noScreen` where there is none; `libraryMissing`, `noDisplay`.
  public static func find(
    _ name: String? = nil, display: String? = nil
  ) throws(ScreenError) -> ScreenDevice {
    let all = try all(display: display)
    guard let found = all.first(where: { name == nil || $0.name == name }) else {
      throw .noScreen(name: name ?? "at all", known: all.map(\.name))
    }
    return found
  }
}

extension ScreenWindow {
  /// The windows of a display, those at the top last: what its window manager lists, or what is shown where there is none.
  ///
  /// - Throws: `libraryMissing`, `noDisplay`.
  public static func all(display: String? = nil) throws(ScreenError) -> [ScreenWindow] {
    try X11Display(display).windows()
  }

  /// The topmost window whose title has these words in it, or whose number they are (`0x...`).
  ///
  /// - Throws: `gone` where there is none; `libraryMissing`, `noDisplay`.
  public static func find(
    _ words: String, display: String? = nil
  ) throws(ScreenError) -> ScreenWindow {
    let open = try X11Display(display)
    if words.hasPrefix("0x"), let id = UInt32(words.dropFirst(2), radix: 16) {
      return try open.window(id).window
    }
    guard let found = try open.windows().last(where: { $0.title.contains(words) }) else {
      throw .gone("a window called \(words)")
    }
    return found
  }
}

extension PortalScreen {
  /// What the desktop's portal offers. Asks it, which starts it where it doesn't run, for ten seconds at most.
  ///
  /// - Parameter bus: the address of a D-Bus; nil for the session's.
  /// - Throws: `ScreenError.noPortal` where there is none, or none that shows screens.
  public static func offered(bus: String? = nil) throws(ScreenError) -> Set<Kind> {
    let offer = try ScreenCast().connect(bus: bus)
    return Set(Kind.allCases.filter { offer.kinds & $0.bit != 0 })
  }
}
