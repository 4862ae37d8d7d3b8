import CAVCodec
import CSoraAVCodec
import SoraCodecs
import SoraMedia

/// Lends libavcodec memory of a `DecoderPicturePool` to decode into.
///
/// libavcodec's buffer has one pointer for its owner, which is the pool; the number of the slot lies at the start of the
/// slot's memory, before the samples.
enum AVCodecPictures {
  /// Bytes before the first plane: the slot's number, and the alignment that SIMD wants.
  private static let header = 64
  /// What SIMD code may touch behind the last sample.
  private static let margin = 128

  /// `AVCodecContext.get_buffer2`; the context's `opaque` is the pool, which outlives the context.
  static let take:
    @convention(c) (UnsafeMutablePointer<AVCodecContext>?, UnsafeMutablePointer<AVFrame>?, Int32)
      -> Int32 = { context, frame, _ in
        guard let context = unsafe context, let frame = unsafe frame,
          let owner = unsafe context.pointee.opaque
        else {
          return Int32(SORA_AV_INVALID)
        }
        let format = unsafe frame.pointee.format
        guard format == AV_PIX_FMT_YUV420P.rawValue || format == AV_PIX_FMT_YUVJ420P.rawValue,
          unsafe frame.pointee.width > 0, unsafe frame.pointee.height > 0
        else { return Int32(SORA_AV_INVALID) }
        // Whole macroblocks or coding units are written, whatever is shown of them.
        var width = unsafe frame.pointee.width
        var height = unsafe frame.pointee.height
        unsafe avcodec_align_dimensions(context, &width, &height)
        var yStride = (Int(width) + 63) & ~63
        // Rows that lie multiples of 1024 apart fall into the same cache lines.
        if yStride & 1023 == 0 { yStride += 128 }
        let uvStride = yStride / 2
        let ySize = yStride * Int(height)
        let uvSize = uvStride * ((Int(height) + 1) / 2)
        let pool = unsafe Unmanaged<DecoderPicturePool>.fromOpaque(owner).takeUnretainedValue()
        guard let taken = unsafe pool.take(header + ySize + 2 * uvSize + margin) else {
          return Int32(SORA_AV_NO_MEMORY)
        }
        unsafe taken.base.storeBytes(of: taken.slot, as: Int.self)
        let bytes = unsafe taken.base.assumingMemoryBound(to: UInt8.self)
        guard let buffer = unsafe av_buffer_create(bytes, taken.count, giveBack, owner, 0) else {
          unsafe pool.giveBack(taken.slot)
          return Int32(SORA_AV_NO_MEMORY)
        }
        unsafe frame.pointee.buf.0 = unsafe buffer
        unsafe frame.pointee.data.0 = unsafe bytes + header
        unsafe frame.pointee.data.1 = unsafe bytes + header + ySize
        unsafe frame.pointee.data.2 = unsafe bytes + header + ySize + uvSize
        unsafe frame.pointee.linesize.0 = Int32(yStride)
        unsafe frame.pointee.linesize.1 = Int32(uvStride)
        unsafe frame.pointee.linesize.2 = Int32(uvStride)
        unsafe withUnsafeMutablePointer(to: &frame.pointee.data) {
          unsafe frame.pointee.extended_data = unsafe UnsafeMutableRawPointer($0)
            .assumingMemoryBound(
              to: UnsafeMutablePointer<UInt8>?.self)
        }
        return 0
      }

  private static let giveBack:
    @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?) -> Void = {
      owner, bytes in
      guard let owner = unsafe owner, let bytes = unsafe bytes else { return }
      let slot = unsafe UnsafeRawPointer(bytes).load(as: Int.self)
      unsafe Unmanaged<DecoderPicturePool>.fromOpaque(owner).takeUnretainedValue().giveBack(slot)
    }

  /// The picture of a decoded frame, in the pool's memory; nil where it isn't 8-bit 4:2:0 there.
  static func picture(_ frame: UnsafePointer<AVFrame>, in pool: DecoderPicturePool) -> PixelBuffer?
  {
    let format = unsafe frame.pointee.format
    guard format == AV_PIX_FMT_YUV420P.rawValue || format == AV_PIX_FMT_YUVJ420P.rawValue,
      let memory = unsafe frame.pointee.buf.0?.pointee.data, let y = unsafe frame.pointee.data.0,
      let u = unsafe frame.pointee.data.1, let v = unsafe frame.pointee.data.2,
      unsafe frame.pointee.linesize.1 == frame.pointee.linesize.2
    else { return nil }
    return unsafe pool.picture(
      UnsafeRawPointer(memory).load(as: Int.self), width: Int(frame.pointee.width),
      height: Int(frame.pointee.height), y: y, u: u, v: v, yStride: Int(frame.pointee.linesize.0),
      uvStride: Int(frame.pointee.linesize.1))
  }
}
