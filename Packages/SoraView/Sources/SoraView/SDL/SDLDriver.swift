import CSoraSDL

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Windows by SDL2, which is loaded for the first one. Confined to the render thread.
final class SDLDriver: ViewDriver {
  private let fonts = SDLFonts()

  func openWindow(_ settings: VideoWindowSettings) throws(ViewError) -> any ViewCanvas {
    try Self.load()
    guard !isDisplayLost else { throw .noDisplay(reason: "it has gone; start the program anew") }
    guard unsafe sora_sdl_start_video(Self.displays.joined(separator: ",")) == 0 else {
      throw .noDisplay(reason: SDLLibrary.reason)
    }
    let position = settings.position
    let frame = sora_sdl_rect(
      x: Int32(clamping: position?.x ?? 0), y: Int32(clamping: position?.y ?? 0),
      width: Int32(clamping: settings.width), height: Int32(clamping: settings.height))
    let flags =
      (settings.isResizable ? SORA_SDL_RESIZABLE : 0)
      | (settings.isFullscreen ? SORA_SDL_FULLSCREEN : 0)
      | (settings.hasBorder ? 0 : SORA_SDL_BORDERLESS) | (position == nil ? 0 : SORA_SDL_PLACED)
    guard let canvas = unsafe sora_sdl_open_window(settings.title, frame, UInt32(flags)) else {
      let reason = SDLLibrary.reason
      sora_sdl_stop_video()
      throw .failed(operation: "opening a window", reason: reason)
    }
    return unsafe SDLCanvas(canvas, fonts: fonts, fontPath: settings.fontPath) {
      sora_sdl_stop_video()
    }
  }

  func openMemory(_ settings: VideoWindowSettings) throws(ViewError) -> any ViewCanvas {
    try Self.load()
    guard
      let canvas = unsafe sora_sdl_open_memory(
        Int32(clamping: settings.width), Int32(clamping: settings.height))
    else { throw .failed(operation: "making a picture", reason: SDLLibrary.reason) }
    return unsafe SDLCanvas(canvas, fonts: fonts, fontPath: settings.fontPath) {}
  }

  var isDisplayLost: Bool { sora_sdl_is_display_lost() != 0 }

  func nextEvent() -> ViewDriverEvent? {
    while true {
      let event = sora_sdl_next_event()
      let kind: ViewDriverEvent.Kind
      switch event.kind {
      case SORA_SDL_NONE: return nil
      case SORA_SDL_CLOSE: kind = .close
      case SORA_SDL_RESIZED: kind = .resized
      case SORA_SDL_EXPOSED: kind = .exposed
      case SORA_SDL_HIDDEN: kind = .hidden
      case SORA_SDL_SHOWN: kind = .shown
      case SORA_SDL_KEY:
        kind = .key(Self.text(event.key).lowercased())
      default: continue
      }
      return ViewDriverEvent(canvas: Int(event.window_id), kind: kind)
    }
  }

  /// The ways to a display that this process may have, in SDL's words. SDL's own list ends with one that draws into nothing, and asking for
  /// Wayland where there is no session prints to standard error.
  private static var displays: [String] {
    func isSet(_ name: String) -> Bool { unsafe getenv(name) != nil }
    var found: [String] = []
    if isSet("DISPLAY") { found.append("x11") }
    if isSet("WAYLAND_DISPLAY") { found.append("wayland") }
    // A screen without a session, as kiosks have it.
    return found + ["KMSDRM"]
  }

  private static func text<Characters>(_ characters: Characters) -> String {
    unsafe withUnsafeBytes(of: characters) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  private static func load() throws(ViewError) {
    guard sora_sdl_load() == 0 else {
      throw .libraryMissing(package: "libsdl2-2.0-0", reason: SDLLibrary.reason)
    }
  }
}
