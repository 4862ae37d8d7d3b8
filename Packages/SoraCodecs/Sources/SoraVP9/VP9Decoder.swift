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
  public private(set) var isLastFrameCorrupted = false
  public let settings: VideoDecoderSettings

  private let context: UnsafeMutablePointer<vpx_codec_ctx_t>
  private let pool: DecoderPicturePool
  private var isOpen = false
  private var openThreads = 1

  /// Starts a decoder. Throws `CodecError.library`.
  public init(_ settings: VideoDecoderSettings = VideoDecoderSettings()) throws(CodecError) {
    self.settings = settings
    pool = DecoderPicturePool(settings)
    unsafe context = .allocate(capacity: 1)
    unsafe context.initialize(to: vpx_codec_ctx_t())
    try open(threads: 1)
  }

  deinit {
    if isOpen { unsafe vpx_codec_destroy(context) }
    unsafe context.deallocate()
  }

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
    if header.isKeyFrame {
      try checkSize(header.width, header.height)
      // The layers of a scalable picture announce more than its first frame does.
      let pixels = max(header.width &* header.height, frame.width &* frame.height)
      let threads = threadCount(pixels)
      if !isOpen || threads > openThreads { try open(threads: threads) }
    }

    let result = unsafe vpx_codec_decode(
      context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt32(bytes.count), nil, 0)
    guard result == VPX_CODEC_OK else {
      needsKeyFrame = true
      let detail = unsafe VPXLibrary.errorText(result, context)
      // The library's state after an error isn't specified: a key frame starts a fresh decoder.
      unsafe vpx_codec_destroy(context)
      isOpen = false
      throw .corruptFrame(detail: detail)
    }
    needsKeyFrame = false

    var corrupted: Int32 = 0
    let known = unsafe sora_vpx_get(context, Int32(VP8D_GET_FRAME_CORRUPTED.rawValue), &corrupted)
    isLastFrameCorrupted = known == VPX_CODEC_OK && corrupted != 0

    var iterator: vpx_codec_iter_t?
    guard let picture = unsafe vpx_codec_get_frame(context, &iterator) else { return nil }
    try unsafe checkSize(Int(picture.pointee.d_w), Int(picture.pointee.d_h))
    guard let buffer = unsafe reference(picture.pointee) else {
      needsKeyFrame = true
      throw .corruptFrame(detail: "the library's picture is not 4:2:0 of 8 or 10 bits")
    }
    let colorSpace = unsafe VideoColorSpace(
      vp9ColorSpace: Int(picture.pointee.cs.rawValue),
      isFullRange: picture.pointee.range == VPX_CR_FULL_RANGE)
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
    try VPXLibrary.load()
    if isOpen {
      unsafe vpx_codec_destroy(context)
      isOpen = false
      needsKeyFrame = true
    }
    var configuration = vpx_codec_dec_cfg_t(threads: UInt32(threads), w: 0, h: 0)
    unsafe context.pointee = unsafe vpx_codec_ctx_t()
    var result = unsafe sora_vpx_decoder_init(context, vpx_codec_vp9_dx(), &configuration, 0)
    guard result == VPX_CODEC_OK else {
      throw unsafe VPXLibrary.error("start a decoder", result, context)
    }
    isOpen = true
    openThreads = threads
    if threads > 1 {
      _ = unsafe sora_vpx_set(context, Int32(VP9D_SET_ROW_MT.rawValue), 1)
      _ = unsafe sora_vpx_set(context, Int32(VP9D_SET_LOOP_FILTER_OPT.rawValue), 1)
    }
    // The pool outlives the library's decoder: `deinit` destroys that first.
    result = unsafe vpx_codec_set_frame_buffer_functions(
      context, takeBuffer, giveBackBuffer, Unmanaged.passUnretained(pool).toOpaque())
    guard result == VPX_CODEC_OK else {
      throw unsafe VPXLibrary.error("set where it decodes to", result, context)
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
