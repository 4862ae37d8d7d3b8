import CSoraVPX
import CVPX
public import SoraCodecs
public import SoraMedia
import SoraVPX

/// A VP9 decoder over libvpx, for profiles 0 (8 bits a sample) and 2 with 10 bits.
///
/// libvpx decodes into memory of ours, so that pictures are handed out without a copy; the memory comes back when the
/// library and the last holder of the picture are done with it. Of a picture with several spatial layers, the highest is
/// handed out. Confined to one serial executor or thread, as `VideoDecoder` says.
@safe public final class VP9Decoder: VideoDecoder {
  public let kind = VideoCodecKind.vp9
  public let implementationName = VPXLibrary.name
  public private(set) var needsKeyFrame = true
  public var isLastFrameCorrupted: Bool { library.isLastFrameCorrupted }
  public let settings: VideoDecoderSettings

  private let library = VPXDecoder(.vp9)
  private let pool: DecoderPicturePool

  /// Starts a decoder. Throws `CodecError.library`.
  public init(_ settings: VideoDecoderSettings = VideoDecoderSettings()) throws(CodecError) {
    self.settings = settings
    pool = DecoderPicturePool(settings)
    try open(threads: 1)
  }

  // The library gives its memory back to the pool, which it doesn't retain.
  deinit { library.close() }

  public func decode(_ frame: EncodedFrame) throws(CodecError) -> RawVideoFrame? {
    let bytes = unsafe frame.payload.bytes
    guard let header = unsafe VP9FrameHeader(bytes.bindMemory(to: UInt8.self).span) else {
      needsKeyFrame = true
      throw .corruptFrame(detail: "not a VP9 frame header in \(bytes.count) bytes")
    }
    guard header.profile == 0 || header.profile == 2, header.bitDepth <= 10 else {
      needsKeyFrame = true
      let depth = header.bitDepth == 0 ? "" : ", \(header.bitDepth) bits"
      throw .unsupportedProfile(kind: .vp9, profile: "profile \(header.profile)\(depth)")
    }
    guard header.isKeyFrame || !needsKeyFrame else { throw .keyFrameRequired }
    // What fails from here on leaves nothing that a delta frame could stand on.
    needsKeyFrame = true
    if header.isKeyFrame {
      try checkSize(header.width, header.height)
      // The layers of a scalable picture announce more than its first frame does.
      let pixels = max(header.width &* header.height, frame.width &* frame.height)
      let threads = threadCount(pixels)
      if threads > library.threads ?? 0 { try open(threads: threads) }
    }

    let picture = unsafe try library.decode(bytes)
    needsKeyFrame = false
    guard let picture = unsafe picture else { return nil }
    try unsafe checkSize(Int(picture.d_w), Int(picture.d_h))
    guard let buffer = unsafe reference(picture) else {
      needsKeyFrame = true
      throw .corruptFrame(detail: "the library's picture is not 4:2:0 of 8 or 10 bits")
    }
    let colorSpace = unsafe VideoColorSpace(
      vp9ColorSpace: Int(picture.cs.rawValue),
      isFullRange: picture.range == VPX_CR_FULL_RANGE)
    return RawVideoFrame(
      buffer: buffer, timestamp: frame.timestamp, rotation: frame.rotation,
      rtpTimestamp: frame.rtpTimestamp, colorSpace: colorSpace)
  }

  private func checkSize(_ width: Int, _ height: Int) throws(CodecError) {
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    guard !overflow, pixels <= settings.maximumPixels else {
      needsKeyFrame = true
      throw .pictureTooLarge(width: width, height: height)
    }
  }

  /// Threads share a picture's tiles, of which there is one in 256 to 512 columns: smaller pictures have but one.
  private func threadCount(_ pixels: Int) -> Int {
    if settings.threads > 0 { return min(settings.threads, 8) }
    let wanted = pixels < 1_280 * 720 ? 1 : pixels < 1_920 * 1_080 ? 2 : 4
    return max(1, min(wanted, settings.cores))
  }

  private func open(threads: Int) throws(CodecError) {
    try unsafe library.open(threads: threads) { [pool] context in
      if threads > 1 {
        _ = unsafe sora_vpx_set(context, Int32(VP9D_SET_ROW_MT.rawValue), 1)
        _ = unsafe sora_vpx_set(context, Int32(VP9D_SET_LOOP_FILTER_OPT.rawValue), 1)
      }
      return unsafe vpx_codec_set_frame_buffer_functions(
        context, takeBuffer, giveBackBuffer, Unmanaged.passUnretained(pool).toOpaque())
    }
  }

  private func reference(_ picture: vpx_image_t) -> PixelBuffer? {
    let format: PixelFormat
    switch unsafe (picture.fmt, picture.bit_depth) {
    case (VPX_IMG_FMT_I420, 8): format = .i420
    case (VPX_IMG_FMT_I42016, 10): format = .i010
    default: return nil
    }
    guard let y = unsafe picture.planes.0,
      let u = unsafe picture.planes.1,
      let v = unsafe picture.planes.2, unsafe picture.stride.1 == picture.stride.2,
      let slot = unsafe slotNumber(picture.fb_priv)
    else { return nil }
    return unsafe pool.picture(
      slot, width: Int(picture.d_w), height: Int(picture.d_h), format: format, y: y, u: u, v: v,
      yStride: Int(picture.stride.0), uvStride: Int(picture.stride.1))
  }
}

/// Slots go through the library as pointers that nobody follows: the number plus one.
private func slotNumber(_ pointer: UnsafeMutableRawPointer?) -> Int? {
  unsafe pointer.map { Int(bitPattern: $0) - 1 }
}

private let takeBuffer: vpx_get_frame_buffer_cb_fn_t = { owner, size, buffer in
  guard let owner = unsafe owner, let buffer = unsafe buffer else { return -1 }
  let pool = unsafe Unmanaged<DecoderPicturePool>.fromOpaque(owner).takeUnretainedValue()
  guard let taken = unsafe pool.take(size) else { return -1 }
  unsafe buffer.pointee.data = unsafe taken.base.assumingMemoryBound(to: UInt8.self)
  unsafe buffer.pointee.size = unsafe taken.count
  unsafe buffer.pointee.priv = unsafe UnsafeMutableRawPointer(bitPattern: taken.slot + 1)
  return 0
}

private let giveBackBuffer: vpx_release_frame_buffer_cb_fn_t = { owner, buffer in
  guard let owner = unsafe owner, let slot = unsafe slotNumber(buffer?.pointee.priv) else {
    return -1
  }
  unsafe Unmanaged<DecoderPicturePool>.fromOpaque(owner).takeUnretainedValue().giveBack(slot)
  unsafe buffer?.pointee.priv = nil
  return 0
}
