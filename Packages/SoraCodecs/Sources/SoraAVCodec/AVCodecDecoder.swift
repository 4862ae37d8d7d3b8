import CAVCodec
import CSoraAVCodec
public import SoraCodecs
public import SoraMedia

/// An H.264 or H.265 decoder over libavcodec, for 8-bit 4:2:0.
///
/// libavcodec decodes into memory of ours, so that pictures are handed out without a copy. It decodes one access unit
/// (Annex B) at a time and hands its picture out at once; only a stream that reorders its pictures (B-frames) is delayed,
/// and comes out in output order. Threads share the slices or rows of one picture, never several pictures. Damage is
/// concealed and reported. Confined to one serial executor or thread, as `VideoDecoder` says.
@safe public final class AVCodecDecoder: VideoDecoder {

  public let stream: AVCodecStream
  public var kind: VideoCodecKind { stream.kind }
  public let implementationName = libraryName
  public private(set) var needsKeyFrame = true
  public private(set) var isLastFrameCorrupted = false
  public let settings: VideoDecoderSettings

  private let pool: DecoderPicturePool
  private var context: UnsafeMutablePointer<AVCodecContext>?
  private var openThreads = 0
  private var inspector: AccessUnitInspector
  private let picture: UnsafeMutablePointer<AVFrame>
  private let input: AVCodecInput

  /// What is to be passed through with each picture, found by its number modulo the count: reordered pictures come out
  /// up to 16 later.
  private var passed: [Passed]
  private var number = 0

  private struct Passed {
    var number = -1
    var timestamp = Instant.zero
    var rotation = VideoRotation.none
    var rtpTimestamp: UInt32 = 0
  }

  /// Starts a decoder. Throws `CodecError.library`.
  public init(_ stream: AVCodecStream, _ settings: VideoDecoderSettings = VideoDecoderSettings())
    throws(CodecError)
  {
    try load()
    self.stream = stream
    self.settings = settings
    input = try AVCodecInput()
    guard let picture = unsafe av_frame_alloc() else {
      throw libraryError("start a decoder", Int32(SORA_AV_NO_MEMORY))
    }
    unsafe self.picture = unsafe picture
    inspector = AccessUnitInspector(stream)
    passed = Array(repeating: Passed(), count: 32)
    // Room for whole coding units and alignment on top of the samples.
    pool = DecoderPicturePool(
      maximumBytes: max(0, min(settings.maximumPixels, 1 << 28)) * 2 + (16 << 20))
    try open(threads: 1)
  }

  deinit {
    // The pool outlives the library's decoder, which gives its pictures back here.
    close()
    var picture: UnsafeMutablePointer<AVFrame>? = unsafe self.picture
    unsafe av_frame_free(&picture)
  }

  public func decode(_ frame: EncodedFrame) throws(CodecError) -> RawVideoFrame? {
    let bytes = frame.payload.span
    let unit: AccessUnitSummary
    do {
      unit = try inspector.inspect(bytes)
    } catch {
      // Before the first key frame, parameter sets aren't known.
      if needsKeyFrame, !inspector.isKeyFrame(bytes) { throw .keyFrameRequired }
      throw refuse("\(error)")
    }
    guard unit.hasPicture else { throw refuse("no picture in \(bytes.byteCount) bytes") }
    guard unit.isKeyFrame || !needsKeyFrame else { throw .keyFrameRequired }
    try checkFormat(unit)
    if unit.isKeyFrame { try prepare(unit) }
    guard let context = unsafe context else { throw .keyFrameRequired }

    guard input.fill(bytes, number: number) else {
      throw libraryError("take a frame", Int32(SORA_AV_NO_MEMORY))
    }
    passed[number % passed.count] = Passed(
      number: number, timestamp: frame.timestamp, rotation: frame.rotation,
      rtpTimestamp: frame.rtpTimestamp)
    number += 1
    var result = unsafe avcodec_send_packet(context, input.packet)
    input.letGo()
    guard result == 0 else { throw refuse("libavcodec: \(errorText(result))") }
    result = unsafe avcodec_receive_frame(context, picture)
    // Nothing yet: the stream reorders its pictures, or this one isn't shown.
    if result == Int32(SORA_AV_AGAIN) {
      needsKeyFrame = false
      return nil
    }
    guard result == 0 else { throw refuse("libavcodec: \(errorText(result))") }
    defer { unsafe av_frame_unref(picture) }
    needsKeyFrame = false
    let isFaulty =
      unsafe picture.pointee.decode_error_flags != 0
      || picture.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0
    if isFaulty { inspector.markDamaged() }
    isLastFrameCorrupted = isFaulty || unit.isDamaged
    return try finish(frame)
  }

  /// The decoded picture, with what came with its access unit.
  private func finish(_ frame: EncodedFrame) throws(CodecError) -> RawVideoFrame {
    // Of several parameter sets in a row, a hostile stream's picture may refer to another than the one looked at.
    let (width, height) = unsafe (Int(picture.pointee.width), Int(picture.pointee.height))
    guard width * height <= settings.maximumPixels else {
      startOver()
      throw .pictureTooLarge(width: width, height: height)
    }
    guard let buffer = unsafe AVCodecPictures.picture(picture, in: pool) else {
      throw refuse("the library's picture is not 8-bit 4:2:0")
    }
    let own = unsafe Int(truncatingIfNeeded: picture.pointee.pts)
    let entry = passed[Int(UInt(bitPattern: own) % UInt(passed.count))]
    let known = entry.number == own
    let colorSpace = unsafe VideoColorSpace(
      matrixCoefficients: Int(picture.pointee.colorspace.rawValue),
      isFullRange: picture.pointee.color_range == AVCOL_RANGE_JPEG)
    return RawVideoFrame(
      buffer: buffer, timestamp: known ? entry.timestamp : frame.timestamp,
      rotation: known ? entry.rotation : frame.rotation,
      rtpTimestamp: known ? entry.rtpTimestamp : frame.rtpTimestamp, colorSpace: colorSpace)
  }

  private func refuse(_ detail: String) -> CodecError {
    startOver()
    return .corruptFrame(detail: detail)
  }

  /// The next key frame is the next to be decoded: what the library holds by then isn't worth anything.
  private func startOver() {
    needsKeyFrame = true
    inspector.restart()
    if let context = unsafe context { unsafe avcodec_flush_buffers(context) }
  }

  private func checkFormat(_ unit: AccessUnitSummary) throws(CodecError) {
    if let format = unit.unsupportedFormat {
      needsKeyFrame = true
      throw .unsupportedProfile(kind: kind, profile: format)
    }
    // Pictures are coded in whole blocks of up to 64 samples, whatever is shown of them.
    guard unit.width * unit.height <= settings.maximumPixels,
      unit.codedPixels <= settings.maximumPixels + (1 << 20)
    else {
      needsKeyFrame = true
      throw .pictureTooLarge(width: unit.width, height: unit.height)
    }
  }

  /// Gives the decoder as many threads as the picture is worth, before a key frame that brings its parameter sets.
  private func prepare(_ unit: AccessUnitSummary) throws(CodecError) {
    let threads = threadCount(unit.width * unit.height)
    if unsafe context == nil || (threads > openThreads && unit.hasParameterSets) {
      try open(threads: threads)
    }
  }

  private func threadCount(_ pixels: Int) -> Int {
    if settings.threads > 0 { return min(settings.threads, 16) }
    let wanted = pixels < 640 * 360 ? 1 : pixels < 1_920 * 1_080 ? 2 : 4
    return max(1, min(wanted, settings.cores))
  }

  private func open(threads: Int) throws(CodecError) {
    close()
    guard let codec = unsafe avcodec_find_decoder(stream.codec) else {
      throw .noImplementation(kind: kind, encoding: false)
    }
    guard let made = unsafe avcodec_alloc_context3(codec) else {
      throw libraryError("start a decoder", Int32(SORA_AV_NO_MEMORY))
    }
    unsafe context = unsafe made
    // What it says of broken streams concerns nobody but us. Its own level is moved out of sight instead of the
    // process's, which belongs to the app. (Only the low eight bits of a level count.)
    unsafe made.pointee.log_level_offset = 100
    unsafe made.pointee.flags |= AV_CODEC_FLAG_LOW_DELAY | AV_CODEC_FLAG_OUTPUT_CORRUPT
    // Left and top edges that are cut off needn't be multiples of anything.
    unsafe made.pointee.flags |= AV_CODEC_FLAG_UNALIGNED
    unsafe made.pointee.thread_type = FF_THREAD_SLICE
    unsafe made.pointee.thread_count = Int32(threads)
    // The H.265 decoder conceals nothing, and says nothing of damage unless it is told to stop at it.
    if stream == .h265 { unsafe made.pointee.err_recognition = AV_EF_EXPLODE | AV_EF_CRCCHECK }
    unsafe made.pointee.max_pixels =
      Int64(max(0, min(settings.maximumPixels, 1 << 28))) * 2 + (1 << 20)
    unsafe made.pointee.opaque = unsafe Unmanaged.passUnretained(pool).toOpaque()
    unsafe made.pointee.get_buffer2 = unsafe AVCodecPictures.take
    let result = unsafe avcodec_open2(made, codec, nil)
    guard result == 0 else {
      close()
      throw libraryError("start a decoder", result)
    }
    openThreads = threads
    needsKeyFrame = true
  }

  private func close() {
    unsafe avcodec_free_context(&context)
  }
}
