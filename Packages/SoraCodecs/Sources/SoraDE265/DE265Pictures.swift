import CDE265
import SoraCodecs
import SoraMedia

/// Lends libde265 memory of a `DecoderPicturePool` to decode into.
///
/// Slots go through the library as pointers that nobody follows: the number plus one.
enum DE265Pictures {
  /// What SIMD code may touch behind the last sample.
  private static let margin = 128

  /// The pool must outlive the decoder that it is set on.
  static func set(_ pool: DecoderPicturePool, on context: UnsafeMutableRawPointer) {
    var functions = unsafe de265_image_allocation(get_buffer: take, release_buffer: giveBack)
    unsafe de265_set_image_allocation_functions(
      context, &functions, Unmanaged.passUnretained(pool).toOpaque())
  }

  private static let take:
    @convention(c) (
      UnsafeMutableRawPointer?, UnsafeMutablePointer<de265_image_spec>?, OpaquePointer?,
      UnsafeMutableRawPointer?
    ) -> Int32 = { _, specification, image, owner in
      guard let specification = unsafe specification, let image = unsafe image,
        let owner = unsafe owner
      else { return 0 }
      let width = unsafe Int(specification.pointee.width)
      let height = unsafe Int(specification.pointee.height)
      guard unsafe specification.pointee.format == de265_image_format_YUV420P8,
        unsafe de265_get_bits_per_pixel(image, 0) == 8,
        unsafe de265_get_bits_per_pixel(image, 1) == 8,
        (1...1 << 15).contains(width), (1...1 << 15).contains(height)
      else { return 0 }
      var yStride = (width + 63) & ~63
      // Rows that lie multiples of 1024 apart fall into the same cache lines.
      if yStride & 1023 == 0 { yStride += 128 }
      let uvStride = yStride / 2
      let ySize = yStride * height
      let uvSize = uvStride * ((height + 1) / 2)
      let pool = unsafe Unmanaged<DecoderPicturePool>.fromOpaque(owner).takeUnretainedValue()
      guard let taken = unsafe pool.take(ySize + 2 * uvSize + margin) else { return 0 }
      let slot = unsafe UnsafeMutableRawPointer(bitPattern: taken.slot + 1)
      unsafe de265_set_image_plane(image, 0, taken.base, Int32(yStride), slot)
      unsafe de265_set_image_plane(image, 1, taken.base + ySize, Int32(uvStride), slot)
      unsafe de265_set_image_plane(image, 2, taken.base + ySize + uvSize, Int32(uvStride), slot)
      return 1
    }

  private static let giveBack:
    @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutableRawPointer?) -> Void = {
      _, image, owner in
      guard let image = unsafe image, let owner = unsafe owner, let slot = unsafe slot(image) else {
        return
      }
      unsafe Unmanaged<DecoderPicturePool>.fromOpaque(owner).takeUnretainedValue().giveBack(slot)
    }

  private static func slot(_ image: OpaquePointer) -> Int? {
    unsafe de265_get_image_plane_user_data(image, 0).map { Int(bitPattern: $0) - 1 }
  }

  /// The picture of a decoded image, in the pool's memory; nil where it isn't 8-bit 4:2:0 there.
  static func picture(_ image: OpaquePointer, in pool: DecoderPicturePool) -> PixelBuffer? {
    var yStride: Int32 = 0
    var uStride: Int32 = 0
    var vStride: Int32 = 0
    guard unsafe de265_get_chroma_format(image) == de265_chroma_420, let slot = unsafe slot(image),
      let y = unsafe de265_get_image_plane(image, 0, &yStride),
      let u = unsafe de265_get_image_plane(image, 1, &uStride),
      let v = unsafe de265_get_image_plane(image, 2, &vStride), uStride == vStride
    else { return nil }
    return unsafe pool.picture(
      slot, width: Int(de265_get_image_width(image, 0)),
      height: Int(de265_get_image_height(image, 0)), y: y, u: u, v: v, yStride: Int(yStride),
      uvStride: Int(uStride))
  }

  /// A copy of an image that lies in the library's own memory; nil where it isn't 8-bit 4:2:0.
  static func copy(_ image: OpaquePointer, into pool: PixelBufferPool) -> PixelBuffer? {
    let width = unsafe Int(de265_get_image_width(image, 0))
    let height = unsafe Int(de265_get_image_height(image, 0))
    guard unsafe de265_get_chroma_format(image) == de265_chroma_420,
      (1...1 << 15).contains(width), (1...1 << 15).contains(height)
    else { return nil }
    let target = pool.take(width: width, height: height)
    for index in 0..<3 {
      var stride: Int32 = 0
      let channel = Int32(index)
      let plane = target.plane(index)
      guard unsafe de265_get_bits_per_pixel(image, channel) == 8,
        let source = unsafe de265_get_image_plane(image, channel, &stride),
        unsafe Int(de265_get_image_width(image, channel)) == plane.width,
        unsafe Int(de265_get_image_height(image, channel)) == plane.height
      else { return nil }
      for y in 0..<plane.height {
        unsafe (plane.base + y * plane.stride).copyMemory(
          from: source + y * Int(stride), byteCount: plane.width)
      }
    }
    return target.buffer
  }
}
