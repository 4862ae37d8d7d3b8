import CDAV1D
import CSoraDAV1D
public import SoraCodecs
public import SoraMedia

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// AV1 decoding over dav1d: main profile (8 or 10 bits a sample, 4:2:0).
public struct AV1DecoderFactory: VideoCodecFactory {
  public init() {}

  public var capability: VideoCodecCapability {
    VideoCodecCapability(
      kind: .av1, implementation: "dav1d", profiles: ["0"], canEncode: false, canDecode: true)
  }

  /// Throws `CodecError.noImplementation`: dav1d only decodes.
  public func makeEncoder(_ settings: VideoEncoderSettings) throws(CodecError)
    -> sending any VideoEncoder
  {
    throw .noImplementation(kind: .av1, encoding: true)
  }

  public func makeDecoder(_ settings: VideoDecoderSettings) throws(CodecError)
    -> sending any VideoDecoder
  {
    try AV1Decoder(settings)
  }
}

/// An AV1 decoder over dav1d, for 4:2:0 of 8 or 10 bits a sample.
///
/// dav1d decodes into memory of ours, so that pictures are handed out without a copy, and reads frames from where they
/// are. It decodes one picture at a time, since a call can't wait for later ones; threads share its tiles. Of a picture
/// with several spatial layers, the highest is handed out. Confined to one serial executor or thread, as `VideoDecoder`
/// says.
@safe public final class AV1Decoder: VideoDecoder {
  public let kind = VideoCodecKind.av1
  public let implementationName = libraryName
  public private(set) var needsKeyFrame = true
  /// Always false: dav1d refuses what is damaged.
  public let isLastFrameCorrupted = false
  public let settings: VideoDecoderSettings

  private var context: OpaquePointer?
  private var openThreads = 0
  private let pool: DecoderPicturePool
  // dav1d's structures are large: they are kept and filled anew.
  private let data: UnsafeMutablePointer<Dav1dData>
  private let picture: UnsafeMutablePointer<Dav1dPicture>
  private let sequence: UnsafeMutablePointer<Dav1dSequenceHeader>

  /// Starts a decoder. Throws `CodecError.library`.
  public init(_ settings: VideoDecoderSettings = VideoDecoderSettings()) throws(CodecError) {
    self.settings = settings
    pool = DecoderPicturePool(settings)
    unsafe data = .allocate(capacity: 1)
    unsafe data.initialize(to: Dav1dData())
    unsafe picture = .allocate(capacity: 1)
    unsafe picture.initialize(to: Dav1dPicture())
    unsafe sequence = .allocate(capacity: 1)
    unsafe sequence.initialize(to: Dav1dSequenceHeader())
    try open(threads: 1)
  }

  deinit {
    close()
    unsafe data.deallocate()
    unsafe picture.deallocate()
    unsafe sequence.deallocate()
  }

  public func decode(_ frame: EncodedFrame) throws(CodecError) -> RawVideoFrame? {
    let bytes = unsafe frame.payload.bytes
    guard let unit = unsafe AV1TemporalUnit(bytes.bindMemory(to: UInt8.self).span) else {
      throw refuse("not a sequence of OBUs")
    }
    guard unit.isKeyFrame || !needsKeyFrame else { throw .keyFrameRequired }
    if unit.isKeyFrame { try unsafe start(bytes) }
    guard let context = unsafe context else { throw .keyFrameRequired }

    // The library reads the frame's own memory and says when it is done with it.
    let owner = unsafe Unmanaged.passRetained(frame.payload)
    unsafe data.pointee = unsafe Dav1dData()
    guard
      unsafe dav1d_data_wrap(
        data, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, giveBackFrame,
        owner.toOpaque()) == 0
    else {
      unsafe owner.release()
      throw .library(name: "dav1d", operation: "take a frame", code: 0, detail: "out of memory")
    }
    defer { if unsafe data.pointee.sz > 0 { unsafe dav1d_data_unref(data) } }

    var shown: PixelBuffer?
    var colorSpace: VideoColorSpace?
    repeat {
      let before = unsafe data.pointee.sz
      let sent = unsafe dav1d_send_data(context, data)
      guard sent == 0 || sent == -EAGAIN else { throw refuse("dav1d", sent) }
      // With several layers, the last picture is the highest.
      while true {
        let result = unsafe dav1d_get_picture(context, picture)
        if result == -EAGAIN { break }
        guard result == 0 else { throw refuse("dav1d", result) }
        defer { unsafe dav1d_picture_unref(picture) }
        shown = unsafe try reference(picture.pointee)
        if let header = unsafe picture.pointee.seq_hdr {
          colorSpace = unsafe VideoColorSpace(
            matrixCoefficients: Int(header.pointee.mtrx.rawValue),
            isFullRange: header.pointee.color_range != 0)
        }
      }
      guard unsafe sent == 0 || data.pointee.sz < before || shown != nil else {
        throw refuse("dav1d takes no more")
      }
    } while unsafe data.pointee.sz > 0
    needsKeyFrame = false
    guard let shown else { return nil }
    return RawVideoFrame(
      buffer: shown, timestamp: frame.timestamp, rotation: frame.rotation,
      rtpTimestamp: frame.rtpTimestamp, colorSpace: colorSpace)
  }

  /// Checks what a key frame announces, before memory is reserved for it.
  private func start(_ bytes: UnsafeRawBufferPointer) throws(CodecError) {
    let result = unsafe dav1d_parse_sequence_header(
      sequence, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    guard result == 0 else { throw refuse("no sequence header", result) }
    let width = unsafe Int(sequence.pointee.max_width)
    let height = unsafe Int(sequence.pointee.max_height)
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    guard !overflow, pixels <= settings.maximumPixels else {
      needsKeyFrame = true
      throw .pictureTooLarge(width: width, height: height)
    }
    guard unsafe sequence.pointee.hbd <= 1,
      unsafe sequence.pointee.layout == DAV1D_PIXEL_LAYOUT_I420
    else {
      needsKeyFrame = true
      throw .unsupportedProfile(
        kind: .av1,
        profile:
          unsafe "profile \(sequence.pointee.profile), \(8 + 2 * sequence.pointee.hbd) bits")
    }
    let threads = threadCount(pixels)
    if unsafe context == nil || threads > openThreads { try open(threads: threads) }
  }

  /// The library's state after an error isn't specified: a key frame starts a fresh decoder.
  private func refuse(_ detail: String, _ code: Int32 = 0) -> CodecError {
    needsKeyFrame = true
    if unsafe context != nil, code != 0 { close() }
    let reason = code == 0 ? "" : unsafe ": \(String(cString: strerror(-code)))"
    return .corruptFrame(detail: detail + reason)
  }

  private func threadCount(_ pixels: Int) -> Int {
    if settings.threads > 0 { return min(settings.threads, 16) }
    let wanted = pixels < 640 * 360 ? 1 : pixels < 1_920 * 1_080 ? 2 : 4
    return max(1, min(wanted, settings.cores))
  }

  private func open(threads: Int) throws(CodecError) {
    try load()
    close()
    var options = unsafe Dav1dSettings()
    unsafe dav1d_default_settings(&options)
    unsafe options.n_threads = Int32(threads)
    unsafe options.max_frame_delay = 1
    // Every layer comes out, the highest last: waiting for one that isn't sent would delay each picture.
    unsafe options.all_layers = 1
    unsafe options.frame_size_limit = UInt32(clamping: settings.maximumPixels)
    unsafe options.logger.callback = nil
    unsafe options.allocator.cookie = unsafe Unmanaged.passUnretained(pool).toOpaque()
    unsafe options.allocator.alloc_picture_callback = unsafe takePicture
    unsafe options.allocator.release_picture_callback = unsafe giveBackPicture
    let result = unsafe dav1d_open(&context, &options)
    guard result == 0 else {
      unsafe context = nil
      throw unsafe .library(
        name: "dav1d", operation: "start a decoder", code: Int(result),
        detail: String(cString: strerror(-result)))
    }
    openThreads = threads
    needsKeyFrame = true
  }

  private func close() {
    if unsafe context != nil { unsafe dav1d_close(&context) }
    unsafe context = nil
  }

  private func reference(_ picture: Dav1dPicture) throws(CodecError) -> PixelBuffer {
    guard unsafe picture.p.bpc == 8 || picture.p.bpc == 10,
      unsafe picture.p.layout == DAV1D_PIXEL_LAYOUT_I420,
      let slot = unsafe slotNumber(picture.allocator_data), let y = unsafe picture.data.0,
      let u = unsafe picture.data.1, let v = unsafe picture.data.2,
      let made = unsafe pool.picture(
        slot, width: Int(picture.p.w), height: Int(picture.p.h),
        format: picture.p.bpc == 8 ? .i420 : .i010, y: y, u: u, v: v,
        yStride: picture.stride.0, uvStride: picture.stride.1)
    else { throw refuse("the picture is not 4:2:0 of 8 or 10 bits") }
    return made
  }
}

/// Slots go through the library as pointers that nobody follows: the number plus one.
private func slotNumber(_ pointer: UnsafeMutableRawPointer?) -> Int? {
  unsafe pointer.map { Int(bitPattern: $0) - 1 }
}

private func giveBackFrame(_ bytes: UnsafePointer<UInt8>?, _ owner: UnsafeMutableRawPointer?) {
  if let owner = unsafe owner { unsafe Unmanaged<EncodedBuffer>.fromOpaque(owner).release() }
}

private func takePicture(
  _ picture: UnsafeMutablePointer<Dav1dPicture>?, _ owner: UnsafeMutableRawPointer?
) -> Int32 {
  guard let picture = unsafe picture, let owner = unsafe owner else { return -EINVAL }
  let pool = unsafe Unmanaged<DecoderPicturePool>.fromOpaque(owner).takeUnretainedValue()
  // The library wants whole blocks of 128 samples, and writes up to 64 bytes beyond.
  let isDeep = unsafe picture.pointee.p.bpc > 8 ? 1 : 0
  let width = unsafe (Int(picture.pointee.p.w) + 127) & ~127
  let height = unsafe (Int(picture.pointee.p.h) + 127) & ~127
  var yStride = width << isDeep
  let layout = unsafe picture.pointee.p.layout
  let hasChroma = layout != DAV1D_PIXEL_LAYOUT_I400
  var uvStride = hasChroma ? (layout == DAV1D_PIXEL_LAYOUT_I444 ? yStride : yStride >> 1) : 0
  // Rows that lie multiples of 1024 apart fall into the same cache lines.
  if yStride & 1023 == 0 { yStride += 64 }
  if hasChroma, uvStride & 1023 == 0 { uvStride += 64 }
  let uvHeight = layout == DAV1D_PIXEL_LAYOUT_I420 ? height >> 1 : height
  let ySize = yStride * height
  let uvSize = uvStride * uvHeight
  guard let taken = unsafe pool.take(ySize + 2 * uvSize + 64) else { return -ENOMEM }
  unsafe picture.pointee.stride.0 = yStride
  unsafe picture.pointee.stride.1 = uvStride
  unsafe picture.pointee.data.0 = unsafe taken.base
  unsafe picture.pointee.data.1 = unsafe hasChroma ? taken.base + ySize : nil
  unsafe picture.pointee.data.2 = unsafe hasChroma ? taken.base + ySize + uvSize : nil
  unsafe picture.pointee.allocator_data = unsafe UnsafeMutableRawPointer(bitPattern: taken.slot + 1)
  return 0
}

private func giveBackPicture(
  _ picture: UnsafeMutablePointer<Dav1dPicture>?, _ owner: UnsafeMutableRawPointer?
) {
  guard let owner = unsafe owner, let slot = unsafe slotNumber(picture?.pointee.allocator_data)
  else { return }
  unsafe Unmanaged<DecoderPicturePool>.fromOpaque(owner).takeUnretainedValue().giveBack(slot)
}

/// Loads the library, once, before anything else of it is called.
func load() throws(CodecError) { try unsafe loadLibrary("dav1d") { unsafe sora_dav1d_load() } }

/// dav1d's name and version, such as "dav1d 1.0.0".
private let libraryName: String = {
  guard (try? load()) != nil else { return "dav1d" }
  return unsafe "dav1d \(String(cString: dav1d_version()))"
}()
