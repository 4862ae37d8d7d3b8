import CSoraVPX
import CVPX
public import SoraCodecs
public import SoraMedia
import SoraVPX

/// A VP8 decoder over libvpx.
///
/// libvpx reuses a picture's memory with the next call, so each picture is copied once, into pooled memory that comes
/// back when the last reference to it is dropped. Confined to one serial executor or thread, as `VideoDecoder` says.
@safe public final class VP8Decoder: VideoDecoder {
  public let kind = VideoCodecKind.vp8
  public let implementationName = VPXLibrary.name
  public private(set) var needsKeyFrame = true
  public private(set) var isLastFrameCorrupted = false
  public let settings: VideoDecoderSettings

  private let context: UnsafeMutablePointer<vpx_codec_ctx_t>
  private var isOpen = false
  private var openThreads = 1
  private let pool = PixelBufferPool()

  /// Starts a decoder. Throws `CodecError.library`.
  public init(_ settings: VideoDecoderSettings = VideoDecoderSettings()) throws(CodecError) {
    self.settings = settings
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
    guard let header = unsafe VP8FrameHeader(bytes.bindMemory(to: UInt8.self).span) else {
      needsKeyFrame = true
      throw .corruptFrame(detail: "not a VP8 frame header in \(bytes.count) bytes")
    }
    guard header.isKeyFrame || !needsKeyFrame else { throw .keyFrameRequired }
    if header.isKeyFrame {
      let (pixels, overflow) = header.width.multipliedReportingOverflow(by: header.height)
      guard !overflow, pixels <= settings.maximumPixels else {
        needsKeyFrame = true
        throw .pictureTooLarge(width: header.width, height: header.height)
      }
    }
    if header.isKeyFrame {
      let threads = threadCount(header.width &* header.height)
      if !isOpen || threads != openThreads { try open(threads: threads) }
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
    guard let buffer = unsafe copy(picture.pointee) else {
      needsKeyFrame = true
      throw .corruptFrame(detail: "the library's picture is not I420")
    }
    return RawVideoFrame(
      buffer: buffer, timestamp: frame.timestamp, rotation: frame.rotation,
      rtpTimestamp: frame.rtpTimestamp)
  }

  /// One thread decodes several hundred frames of 720p a second. More of them wait for each other by spinning, which
  /// starves everything else where cores are few.
  private func threadCount(_ pixels: Int) -> Int {
    if settings.threads > 0 { return min(settings.threads, 8) }
    return pixels <= 1_920 * 1_080 || settings.cores < 4 ? 1 : 2
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
    let result = unsafe sora_vpx_decoder_init(context, vpx_codec_vp8_dx(), &configuration, 0)
    guard result == VPX_CODEC_OK else {
      throw unsafe VPXLibrary.error("start a decoder", result, context)
    }
    isOpen = true
    openThreads = threads
  }

  private func copy(_ picture: vpx_image_t) -> PixelBuffer? {
    guard unsafe picture.fmt == VPX_IMG_FMT_I420, unsafe picture.d_w > 0, unsafe picture.d_h > 0,
      let y = unsafe picture.planes.0, let u = unsafe picture.planes.1,
      let v = unsafe picture.planes.2
    else { return nil }
    let target = unsafe pool.take(width: Int(picture.d_w), height: Int(picture.d_h))
    unsafe copy(y, picture.stride.0, to: target.plane(0))
    unsafe copy(u, picture.stride.1, to: target.plane(1))
    unsafe copy(v, picture.stride.2, to: target.plane(2))
    return target.buffer
  }

  private func copy(_ source: UnsafeMutablePointer<UInt8>, _ stride: Int32, to plane: MutablePlane)
  {
    for y in 0..<plane.height {
      unsafe (plane.base + y * plane.stride).copyMemory(
        from: source + y * Int(stride), byteCount: plane.width)
    }
  }
}
