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
  public var isLastFrameCorrupted: Bool { library.isLastFrameCorrupted }
  public let settings: VideoDecoderSettings

  private let library = VPXDecoder(.vp8)
  private let pool = PixelBufferPool()

  /// Starts a decoder. Throws `CodecError.library`.
  public init(_ settings: VideoDecoderSettings = VideoDecoderSettings()) throws(CodecError) {
    self.settings = settings
    try unsafe library.open(threads: 1)
  }

  public func decode(_ frame: EncodedFrame) throws(CodecError) -> RawVideoFrame? {
    let bytes = unsafe frame.payload.bytes
    guard let header = unsafe VP8FrameHeader(bytes.bindMemory(to: UInt8.self).span) else {
      needsKeyFrame = true
      throw .corruptFrame(detail: "not a VP8 frame header in \(bytes.count) bytes")
    }
    guard header.isKeyFrame || !needsKeyFrame else { throw .keyFrameRequired }
    // What fails from here on leaves nothing that a delta frame could stand on.
    needsKeyFrame = true
    if header.isKeyFrame {
      let (pixels, overflow) = header.width.multipliedReportingOverflow(by: header.height)
      guard !overflow, pixels <= settings.maximumPixels else {
        throw .pictureTooLarge(width: header.width, height: header.height)
      }
      let threads = threadCount(pixels)
      if threads != library.threads { try unsafe library.open(threads: threads) }
    }

    let picture = unsafe try library.decode(bytes)
    needsKeyFrame = false
    guard let picture = unsafe picture else { return nil }
    guard let buffer = unsafe copy(picture) else {
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
