import CSoraSDL

/// What all of SDL's calls share. On the render thread.
enum SDLLibrary {
  /// Why the last call failed.
  static var reason: String { unsafe String(cString: sora_sdl_reason()) }
}
