import CSoraSDL
import SoraMedia

/// A window of SDL's, or a picture that SDL draws in memory. Confined to the render thread.
@safe final class SDLCanvas: ViewCanvas {
  /// A texture, and what it takes to draw it.
  @safe private struct Texture {
    let pointer: OpaquePointer
    let color: sora_sdl_color
    /// Whether its samples are squeezed into limited range on their way, because SDL has no such colours.
    let isSqueezed: Bool
  }

  /// SDL 2.26 has the two limited ones, and full BT.601.
  private static let fullBT709 = VideoColorSpace(matrix: .bt709, isFullRange: true)

  private let canvas: OpaquePointer
  private let fonts: SDLFonts
  private let fontPath: String?
  private let onClose: () -> Void
  private var textures: [Int: Texture] = [:]
  private var textureCount = 0
  private let squeezed = ColorSpaceConverter(limit: 2)
  /// SDL's textures have 8 bits a sample.
  private let shallow = BitDepthConverter(limit: 2)
  private(set) var textProblem: String?

  init(
    _ canvas: OpaquePointer, fonts: SDLFonts, fontPath: String?, onClose: @escaping () -> Void
  ) {
    unsafe self.canvas = unsafe canvas
    self.fonts = fonts
    self.fontPath = fontPath
    self.onClose = onClose
  }

  private static func check(_ status: Int32, _ operation: String) throws(ViewError) {
    if status != 0 { throw .failed(operation: operation, reason: SDLLibrary.reason) }
  }

  var number: Int { Int(unsafe sora_sdl_window_id(canvas)) }

  var size: (width: Int, height: Int) {
    var (width, height): (Int32, Int32) = (0, 0)
    unsafe sora_sdl_size(canvas, &width, &height)
    return (Int(width), Int(height))
  }

  var refreshRate: Double { Double(unsafe sora_sdl_refresh_rate(canvas)) }

  func setWaitsForDisplay(_ waits: Bool) {
    // What draws by the processor knows nothing of the display: its waiting would be a sleep, which the pacer has already.
    let isSoftware = unsafe String(cString: sora_sdl_renderer(canvas)) == "software"
    // Where it can't be, the pacer's rate is all there is.
    _ = unsafe sora_sdl_set_vsync(canvas, waits && !isSoftware ? 1 : 0)
  }

  func close() {
    textures = [:]
    unsafe sora_sdl_close(canvas)
    onClose()
  }

  // MARK: Textures

  func makeTexture(
    width: Int, height: Int, format: PixelFormat, colorSpace: VideoColorSpace
  ) throws(ViewError) -> ViewTexture {
    let isSqueezed = colorSpace == Self.fullBT709
    let color =
      colorSpace.matrix == .bt709
      ? SORA_SDL_BT709 : colorSpace.isFullRange ? SORA_SDL_BT601_FULL : SORA_SDL_BT601
    guard
      let pointer = unsafe sora_sdl_make_texture(
        canvas, format == .nv12 ? SORA_SDL_NV12 : SORA_SDL_I420, color, Int32(clamping: width),
        Int32(clamping: height))
    else { throw .failed(operation: "making a texture", reason: SDLLibrary.reason) }
    return keep(
      unsafe Texture(pointer: pointer, color: color, isSqueezed: isSqueezed), width, height)
  }

  private func keep(_ texture: Texture, _ width: Int, _ height: Int) -> ViewTexture {
    textureCount += 1
    textures[textureCount] = texture
    return ViewTexture(number: textureCount, width: width, height: height)
  }

  func drop(_ texture: ViewTexture) {
    if let texture = textures.removeValue(forKey: texture.number) {
      unsafe sora_sdl_free_texture(texture.pointer)
    }
  }

  func upload(_ picture: PixelBuffer, into texture: ViewTexture) throws(ViewError) {
    guard let texture = textures[texture.number] else { return }
    let shallow = shallow.convert(picture, to: 8)
    let picture =
      texture.isSqueezed ? squeezed.convert(shallow, from: Self.fullBT709, to: .bt709) : shallow
    let (y, u) = (picture.plane(0), picture.plane(1))
    let status: Int32
    switch picture.format {
    case .nv12:
      status = unsafe sora_sdl_upload_nv12(
        texture.pointer, texture.color, y.base, Int32(clamping: y.stride), u.base,
        Int32(clamping: u.stride))
    case .i420, .i010:
      let v = picture.plane(2)
      status = unsafe sora_sdl_upload_i420(
        texture.pointer, texture.color, y.base, Int32(clamping: y.stride), u.base,
        Int32(clamping: u.stride), v.base, Int32(clamping: v.stride))
    }
    // The planes are the picture's.
    withExtendedLifetime(picture) {}
    try Self.check(status, "copying a frame to the display")
  }

  func makeText(_ text: String, height: Int) -> ViewTexture? {
    let (font, problem) = unsafe fonts.font(fontPath, height: height)
    textProblem = problem
    guard let font = unsafe font else { return nil }
    var (width, lines): (Int32, Int32) = (0, 0)
    guard
      let pointer = unsafe sora_sdl_make_text(
        canvas, font, text, ViewColor.white.packed, &width, &lines)
    else { return nil }
    return keep(
      unsafe Texture(pointer: pointer, color: SORA_SDL_BT601, isSqueezed: false), Int(width),
      Int(lines))
  }

  // MARK: Drawing

  func clear(_ color: ViewColor) { _ = unsafe sora_sdl_clear(canvas, color.packed) }

  func fill(_ rect: PixelRectangle, _ color: ViewColor) {
    _ = unsafe sora_sdl_fill(canvas, Self.rect(rect), color.packed)
  }

  func draw(_ texture: ViewTexture, _ placement: FramePlacement) {
    guard let texture = textures[texture.number] else { return }
    let flips = placement.flips
    _ = unsafe sora_sdl_draw(
      canvas, texture.pointer, texture.color, Self.rect(placement.source),
      Self.rect(placement.unturned), Int32(placement.rotation.rawValue), flips.x ? 1 : 0,
      flips.y ? 1 : 0)
  }

  private static func rect(_ rect: PixelRectangle) -> sora_sdl_rect {
    sora_sdl_rect(
      x: Int32(clamping: rect.x), y: Int32(clamping: rect.y), width: Int32(clamping: rect.width),
      height: Int32(clamping: rect.height))
  }

  func present() { unsafe sora_sdl_present(canvas) }

  func read() throws(ViewError) -> RGBImage {
    let (width, height) = size
    var bytes = [UInt8](repeating: 0, count: width * height * 3)
    try Self.check(
      unsafe sora_sdl_read(canvas, &bytes, Int32(clamping: width * 3)), "reading the window")
    return RGBImage(width: width, height: height, bytes: bytes)
  }
}
