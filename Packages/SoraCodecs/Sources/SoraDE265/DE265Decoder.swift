import CDE265
public import SoraCodecs
public import SoraMedia
import SoraNAL
import SoraWire

/// An H.265 decoder over libde265, for the main profile.
///
/// libde265 decodes into memory of ours, so that pictures are handed out without a copy; where it has filtered a picture
/// with sample adaptive offset, the result lies in memory of its own, and is copied once (`copiedPictures`). Each access unit (Annex B) gives
/// its picture at once; a stream that reorders its pictures (B-frames) comes in output order, delayed. What reaches the
/// library has been looked through first: NAL units that decoding doesn't need, and parameter sets and slice headers
/// outside of the standard's ranges, don't. Confined to one serial executor or thread, as `VideoDecoder` says.
@safe public final class DE265Decoder: VideoDecoder {
  public let kind = VideoCodecKind.h265
  public let implementationName = libraryName
  public private(set) var needsKeyFrame = true
  public private(set) var isLastFrameCorrupted = false
  public let settings: VideoDecoderSettings

  private var context: UnsafeMutableRawPointer?
  private var openThreads = 0
  private let pool: DecoderPicturePool
  private let copies = PixelBufferPool()
  /// Pictures that had to be copied out of the library's own memory.
  public private(set) var copiedPictures = 0
  private var inspector = H265StreamInspector()

  /// What is to be passed through with each picture, found by its number modulo the count: reordered pictures come out
  /// up to 16 later.
  private var passed = Array(repeating: Passed(), count: 32)
  private var number = 0

  private struct Passed {
    var number = -1
    var timestamp = Instant.zero
    var rotation = VideoRotation.none
    var rtpTimestamp: UInt32 = 0
    var isDamaged = false
  }

  /// Starts a decoder. Throws `CodecError.library`.
  public init(_ settings: VideoDecoderSettings = VideoDecoderSettings()) throws(CodecError) {
    self.settings = settings
    // Room for whole coding units and alignment on top of the samples.
    pool = DecoderPicturePool(
      maximumBytes: max(0, min(settings.maximumPixels, 1 << 28)) * 2 + (16 << 20))
    try open(threads: 1)
  }

  deinit {
    // The pool outlives the library's decoder, which gives its pictures back here.
    close()
  }

  public func decode(_ frame: EncodedFrame) throws(CodecError) -> RawVideoFrame? {
    let bytes = frame.payload.span
    let unit: H265AccessUnit
    do {
      unit = try inspector.inspect(bytes)
    } catch {
      // Before the first key frame, parameter sets aren't known.
      if needsKeyFrame, !H265StreamInspector.isKeyFrame(bytes) { throw .keyFrameRequired }
      throw refuse("\(error)")
    }
    guard unit.sliceCount > 0 else { throw refuse("no picture in \(bytes.byteCount) bytes") }
    guard unit.isKeyFrame || !needsKeyFrame else { throw .keyFrameRequired }
    guard unit.pictureCount == 1 else {
      throw refuse("\(unit.pictureCount) first slices in one access unit")
    }
    try check(unit)
    if unit.isKeyFrame,
      unsafe context == nil || (unit.hasParameterSets && openThreads < threads(unit))
    {
      try open(threads: threads(unit))
    }
    guard let context = unsafe context else { throw .keyFrameRequired }

    passed[number % passed.count] = Passed(
      number: number, timestamp: frame.timestamp, rotation: frame.rotation,
      rtpTimestamp: frame.rtpTimestamp, isDamaged: unit.isDamaged)
    try unsafe push(bytes, to: context, isReordered: unit.reorderedPictures > 0)
    number += 1
    try unsafe run(context)
    needsKeyFrame = false
    if unsafe isWarned(context) {
      inspector.markDamaged()
      passed[(number - 1) % passed.count].isDamaged = true
    }
    guard let image = unsafe de265_get_next_picture(context) else { return nil }
    return unsafe try finish(image, frame)
  }

  /// Hands over what decoding needs: parameter sets, slices, and ends of sequences.
  private func push(
    _ bytes: RawSpan, to context: UnsafeMutableRawPointer, isReordered: Bool
  ) throws(CodecError) {
    var units = AnnexBUnits(bytes)
    while let unit = units.nextUnit() {
      guard let header = H265NALUnitHeader(unit), header.layerID == 0,
        header.type.isSlice || header.type.isParameterSet || header.type == .endOfSequence
      else { continue }
      let result = unsafe unit.withUnsafeBytes {
        unsafe de265_push_NAL(
          context, $0.baseAddress, Int32(clamping: $0.count), Int64(number), nil)
      }
      guard result == DE265_OK else { throw refuse("libde265: \(errorText(result))") }
    }
    // This empties the library's queue of reordered pictures too: where there is one, the next access unit says that this
    // one is over.
    if !isReordered { unsafe de265_push_end_of_frame(context) }
  }

  /// Decodes what was pushed.
  private func run(_ context: UnsafeMutableRawPointer) throws(CodecError) {
    var more: Int32 = 1
    // Each round decodes a NAL unit or a picture; the bound is for a library that would go on for ever.
    for _ in 0..<100_000 where more != 0 {
      let result = unsafe de265_decode(context, &more)
      if result == DE265_ERROR_WAITING_FOR_INPUT_DATA { return }
      guard de265_isOK(result) != 0 else { throw refuse("libde265: \(errorText(result))") }
      // Pictures that wait to be taken count as more to do.
      if unsafe de265_get_number_of_NAL_units_pending(context) == 0,
        unsafe de265_peek_next_picture(context) != nil
      {
        return
      }
    }
  }

  /// Whether the library had something to say of the data, and not only of its threads.
  private func isWarned(_ context: UnsafeMutableRawPointer) -> Bool {
    var isDamaged = false
    while true {
      let warning = unsafe de265_get_warning(context)
      switch warning {
      case DE265_OK: return isDamaged
      case DE265_WARNING_NO_WPP_CANNOT_USE_MULTITHREADING,
        DE265_WARNING_NUMBER_OF_THREADS_LIMITED_TO_MAXIMUM,
        DE265_WARNING_SPS_MISSING_CANNOT_DECODE_SEI:
        break
      default: isDamaged = true
      }
    }
  }

  /// The decoded picture, with what came with its access unit.
  private func finish(_ image: OpaquePointer, _ frame: EncodedFrame) throws(CodecError)
    -> RawVideoFrame
  {
    let buffer: PixelBuffer
    if let own = unsafe DE265Pictures.picture(image, in: pool) {
      buffer = own
    } else if let copied = unsafe DE265Pictures.copy(image, into: copies) {
      buffer = copied
      copiedPictures += 1
    } else {
      throw refuse("the library's picture is not 8-bit 4:2:0")
    }
    let own = unsafe Int(truncatingIfNeeded: de265_get_image_PTS(image))
    let entry = passed[Int(UInt(bitPattern: own) % UInt(passed.count))]
    isLastFrameCorrupted = entry.isDamaged
    let known = entry.number == own
    let colorSpace = unsafe VideoColorSpace(
      matrixCoefficients: Int(de265_get_image_matrix_coefficients(image)),
      isFullRange: de265_get_image_full_range_flag(image) != 0)
    return RawVideoFrame(
      buffer: buffer, timestamp: known ? entry.timestamp : frame.timestamp,
      rotation: known ? entry.rotation : frame.rotation,
      rtpTimestamp: known ? entry.rtpTimestamp : frame.rtpTimestamp, colorSpace: colorSpace)
  }

  /// The library's state after an error isn't specified: a key frame starts a fresh decoder.
  private func refuse(_ detail: String) -> CodecError {
    needsKeyFrame = true
    inspector.restart(forgettingParameterSets: true)
    close()
    return .corruptFrame(detail: detail)
  }

  private func check(_ unit: H265AccessUnit) throws(CodecError) {
    guard unit.isEightBit420 else {
      needsKeyFrame = true
      throw .unsupportedProfile(kind: .h265, profile: unit.format)
    }
    guard unit.codedWidth * unit.codedHeight <= settings.maximumPixels + (1 << 20),
      unit.width * unit.height <= settings.maximumPixels
    else {
      needsKeyFrame = true
      throw .pictureTooLarge(width: unit.width, height: unit.height)
    }
  }

  /// Threads share a picture's rows where the stream lets them, and its filters anyway.
  private func threads(_ unit: H265AccessUnit) -> Int {
    if settings.threads > 0 { return min(settings.threads, 16) }
    let pixels = unit.width * unit.height
    let wanted = pixels < 640 * 360 ? 1 : pixels < 1_920 * 1_080 ? 2 : 4
    return max(1, min(wanted, settings.cores))
  }

  private func open(threads: Int) throws(CodecError) {
    try load()
    close()
    guard let made = unsafe de265_new_decoder() else {
      throw .library(
        name: "libde265", operation: "start a decoder", code: 0, detail: "out of memory")
    }
    unsafe context = unsafe made
    unsafe DE265Pictures.set(pool, on: made)
    if threads > 1 {
      let result = unsafe de265_start_worker_threads(made, Int32(threads))
      guard de265_isOK(result) != 0 else {
        close()
        throw .library(
          name: "libde265", operation: "start its threads", code: Int(result.rawValue),
          detail: errorText(result))
      }
    }
    openThreads = threads
    needsKeyFrame = true
  }

  private func close() {
    if let context = unsafe context { _ = unsafe de265_free_decoder(context) }
    unsafe context = nil
  }
}
