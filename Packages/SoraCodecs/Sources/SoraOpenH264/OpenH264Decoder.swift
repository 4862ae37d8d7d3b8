import CSoraOpenH264
public import SoraCodecs
public import SoraMedia
import SoraNAL
import SoraWire

/// An H.264 decoder over OpenH264: Constrained Baseline, and Main and High without B-frames; progressive, 8 bits a sample,
/// 4:2:0. Pictures of streams with B-frames come out, but not always in their order.
///
/// The library reuses a picture's memory with the next call, so each picture is copied once, into pooled memory that comes
/// back when the last reference to it is dropped. Confined to one serial executor or thread, as `VideoDecoder` says.
@safe public final class OpenH264Decoder: VideoDecoder {
  public let kind = VideoCodecKind.h264
  public let implementationName = libraryName
  public private(set) var needsKeyFrame = true
  public private(set) var isLastFrameCorrupted = false
  public let settings: VideoDecoderSettings

  /// What belongs to a picture that the library may show later (B-frames).
  private struct Pending {
    var timestamp = Instant.zero
    var rotation = VideoRotation.none
    var rtpTimestamp: UInt32 = 0
    var colorSpace: VideoColorSpace?
  }

  private var decoder: OpaquePointer?
  private let planes: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>
  private let pool = PixelBufferPool()
  private var pending = [Pending](repeating: Pending(), count: 32)
  private var frames: UInt64 = 0
  /// Whether the sequence parameter set says that pictures are shown in another order than they come in.
  private var announcesReordering = false
  /// Whether it said so for the last key frame, or there were B-frames since.
  private var isReordered = false
  /// What the last sequence parameter set says of colours: the library looks over it.
  private var colorSpace: VideoColorSpace?

  /// Starts a decoder. Throws `CodecError.library`.
  public init(_ settings: VideoDecoderSettings = VideoDecoderSettings()) throws(CodecError) {
    self.settings = settings
    unsafe planes = .allocate(capacity: 3)
    unsafe planes.initialize(repeating: nil, count: 3)
    try open()
  }

  deinit {
    close()
    unsafe planes.deallocate()
  }

  public func decode(_ frame: EncodedFrame) throws(CodecError) -> RawVideoFrame? {
    let bytes = unsafe frame.payload.bytes
    let unit = H264AccessUnit(frame.payload.span)
    guard unit.units > 0, bytes.count <= Int(Int32.max) else {
      throw refuse("no NAL unit in \(bytes.count) bytes")
    }
    guard unit.isKeyFrame || !needsKeyFrame else { throw .keyFrameRequired }
    try check(unit)
    if unsafe decoder == nil { try open() }
    guard let decoder = unsafe decoder else { throw .keyFrameRequired }

    if let set = unit.sequenceParameterSet { colorSpace = set.colorSpace }
    frames &+= 1
    pending[Int(frames % UInt64(pending.count))] = Pending(
      timestamp: frame.timestamp, rotation: frame.rotation, rtpTimestamp: frame.rtpTimestamp,
      colorSpace: colorSpace)
    var info = SBufferInfo()
    info.uiInBsTimeStamp = frames
    let state = unsafe sora_openh264_decoder_decode(
      decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count), planes,
      &info)
    // A picture that was completed from its neighbours is shown, and said to be damaged.
    let concealed = dsDataErrorConcealed.rawValue
    guard state.rawValue & ~concealed == 0 else {
      if state.rawValue >= dsInvalidArgument.rawValue { close() }
      throw refuse(Self.describe(state))
    }
    isLastFrameCorrupted = state.rawValue & concealed != 0
    needsKeyFrame = false
    if let set = unit.sequenceParameterSet {
      announcesReordering = (set.reordering?.frames ?? 0) > 0
    }
    if unit.isKeyFrame { isReordered = announcesReordering }
    isReordered = isReordered || unit.sliceType == .b
    // In Main and High the library keeps pictures back in case that others are to be shown before them. Hardly anybody
    // does that in a call; who does says so beforehand, or by his first B-slice.
    if info.iBufferStatus != 1, !isReordered {
      guard unsafe sora_openh264_decoder_flush(decoder, planes, &info) == dsErrorFree else {
        throw refuse("the library doesn't give its picture")
      }
    }
    guard info.iBufferStatus == 1 else { return nil }
    guard let buffer = unsafe copy(info.UsrData.sSystemBuffer, info.pDst) else {
      throw refuse("the library's picture is not I420")
    }
    let source = pending[Int(info.uiOutYuvTimeStamp % UInt64(pending.count))]
    return RawVideoFrame(
      buffer: buffer, timestamp: source.timestamp, rotation: source.rotation,
      rtpTimestamp: source.rtpTimestamp, colorSpace: source.colorSpace)
  }

  /// Refuses what the library can't decode, and what is too large, before it reserves memory.
  private func check(_ unit: H264AccessUnit) throws(CodecError) {
    if let error = unit.sequenceParameterSetError { throw refuse(error.description) }
    guard let set = unit.sequenceParameterSet else { return }
    guard unit.largestPicture <= settings.maximumPixels else {
      needsKeyFrame = true
      throw .pictureTooLarge(width: set.width, height: set.height)
    }
    guard set.chromaFormat == 1, set.lumaBits == 8, set.chromaBits == 8, set.isProgressive else {
      needsKeyFrame = true
      let kind = set.isProgressive ? "\(set.lumaBits) bits" : "interlaced pictures"
      throw .unsupportedProfile(kind: .h264, profile: "profile \(set.profileIDC), \(kind)")
    }
  }

  private func refuse(_ detail: String) -> CodecError {
    needsKeyFrame = true
    return .corruptFrame(detail: detail)
  }

  private func open() throws(CodecError) {
    try load()
    close()
    guard let made = unsafe sora_openh264_decoder_create() else {
      throw libraryError("make a decoder", -1)
    }
    var parameters = unsafe SDecodingParam()
    unsafe parameters.uiTargetDqLayer = .max
    unsafe parameters.eEcActiveIdc = ERROR_CON_SLICE_COPY
    unsafe parameters.sVideoProperty.size = UInt32(MemoryLayout<SVideoProperty>.size)
    unsafe parameters.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC
    let result = unsafe sora_openh264_decoder_open(made, &parameters)
    guard result == 0 else {
      unsafe sora_openh264_decoder_destroy(made)
      throw libraryError("start a decoder", result)
    }
    unsafe decoder = unsafe made
    needsKeyFrame = true
  }

  private func close() {
    if let decoder = unsafe decoder { unsafe sora_openh264_decoder_destroy(decoder) }
    unsafe decoder = nil
  }

  private func copy(
    _ picture: SSysMEMBuffer,
    _ source: (
      UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?
    )
  ) -> PixelBuffer? {
    guard picture.iFormat == Int32(videoFormatI420.rawValue), picture.iWidth > 0,
      picture.iHeight > 0, let y = unsafe source.0, let u = unsafe source.1, let v = unsafe source.2
    else { return nil }
    let target = pool.take(width: Int(picture.iWidth), height: Int(picture.iHeight))
    unsafe Self.copy(y, picture.iStride.0, to: target.plane(0))
    unsafe Self.copy(u, picture.iStride.1, to: target.plane(1))
    unsafe Self.copy(v, picture.iStride.1, to: target.plane(2))
    return target.buffer
  }

  private static func copy(
    _ source: UnsafeMutablePointer<UInt8>, _ stride: Int32, to plane: MutablePlane
  ) {
    for y in 0..<plane.height {
      unsafe plane.row(y).copyMemory(
        from: UnsafeRawBufferPointer(start: source + y * Int(stride), count: plane.width))
    }
  }

  /// The states that a decoder can be in at once, in words.
  private static func describe(_ state: DECODING_STATE) -> String {
    let names: [(DECODING_STATE, String)] = [
      (dsFramePending, "the picture isn't complete"), (dsRefLost, "a reference is missing"),
      (dsBitstreamError, "the bitstream is damaged"), (dsDepLayerLost, "a layer is missing"),
      (dsNoParamSets, "a parameter set is missing"),
      (dsRefListNullPtrs, "a list of references is damaged"),
      (dsInvalidArgument, "an argument is invalid"),
      (dsInitialOptExpected, "the decoder isn't initialized"), (dsOutOfMemory, "out of memory"),
    ]
    return names.filter { state.rawValue & $0.0.rawValue != 0 }.map(\.1).joined(separator: ", ")
  }
}
