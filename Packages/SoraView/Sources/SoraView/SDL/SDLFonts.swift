import CSoraSDL

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Fonts by SDL2_ttf, which is loaded for the first line of text. Confined to the render thread.
@safe final class SDLFonts {
  private struct Key: Hashable {
    var path: String
    var height: Int
  }

  /// Where distributions put fonts that have most of the world's alphabets; Debian's first.
  private static let usual = [
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
    "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
    "/usr/share/fonts/truetype/freefont/FreeSans.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf", "/usr/share/fonts/TTF/DejaVuSans.ttf",
  ]

  private var fonts: [Key: OpaquePointer] = unsafe [:]
  /// A library that isn't there isn't looked for at every line.
  private var libraryProblem: String?

  /// A font, or why there is none, with the way out.
  ///
  /// - Parameters:
  ///   - path: its file; nil for one of the machine's.
  ///   - height: pixels of a line.
  func font(_ path: String?, height: Int) -> (font: OpaquePointer?, problem: String?) {
    if let libraryProblem { return (nil, libraryProblem) }
    guard let path = path ?? Self.usual.first(where: { unsafe access($0, R_OK) == 0 }) else {
      return (nil, "no text: the machine has no font; install Debian's fonts-dejavu-core")
    }
    let key = Key(path: path, height: height)
    if let known = unsafe fonts[key] { return unsafe (known, nil) }
    guard sora_sdl_load_text() == 0 else {
      let problem =
        "no text without Debian's libsdl2-ttf-2.0-0 (\(SDLLibrary.reason)); install it"
      libraryProblem = problem
      return (nil, problem)
    }
    // A line is a good deal higher than its letters' nominal size.
    guard let font = unsafe sora_sdl_open_font(path, Int32(clamping: max(6, height * 4 / 5))) else {
      return (nil, "no text: \(path): \(SDLLibrary.reason)")
    }
    unsafe fonts[key] = font
    return unsafe (font, nil)
  }
}
