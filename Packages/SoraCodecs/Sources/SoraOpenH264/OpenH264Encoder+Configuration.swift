import CSoraOpenH264
import SoraCodecs
import SoraNAL

extension OpenH264Encoder {
  /// Starts over in another size, with one key frame.
  func resize(width: Int, height: Int) throws(CodecError) {
    var wanted = settings
    wanted.width = width
    wanted.height = height
    try wanted.validate()
    format = try H264EncodingFormat(wanted, profiles: Self.profiles)
    settings = wanted
    try open()
  }

  func open() throws(CodecError) {
    if let encoder { sora_openh264_encoder_destroy(encoder) }
    encoder = nil
    guard format.width >= 16, format.height >= 16 else {
      throw .invalidSetting(
        name: "size", value: "\(settings.width)x\(settings.height)", allowed: "16x16 or more")
    }
    guard let made = sora_openh264_encoder_create() else {
      throw libraryError("make an encoder", -1)
    }
    var isReady = false
    defer { if !isReady { sora_openh264_encoder_destroy(made) } }
    var result = sora_openh264_encoder_defaults(made, parameters)
    guard result == 0 else { throw libraryError("read its defaults", Int(result)) }
    fillParameters()
    result = sora_openh264_encoder_open(made, parameters)
    guard result == 0 else { throw libraryError("start an encoder", Int(result)) }
    isReady = true
    encoder = made
    needsKeyFrame = true
    ratesChanged = false
  }

  private func fillParameters() {
    let bits = Int32(clamping: format.bitsPerSecond(settings))
    appliedFrameRate = clock.framesPerSecond ?? settings.framesPerSecond
    let isText = settings.contentHint == .text
    let threads = format.maximumSliceBytes == nil ? threadCount : 1
    parameters.pointee.iUsageType = isText ? SCREEN_CONTENT_REAL_TIME : CAMERA_VIDEO_REAL_TIME
    parameters.pointee.iPicWidth = Int32(format.width)
    parameters.pointee.iPicHeight = Int32(format.height)
    parameters.pointee.fMaxFrameRate = Float(appliedFrameRate)
    parameters.pointee.iRCMode = RC_BITRATE_MODE
    parameters.pointee.iTargetBitrate = bits
    parameters.pointee.iMaxBitrate = maximumBits
    parameters.pointee.bEnableFrameSkip = settings.allowsFrameDropping
    parameters.pointee.iTemporalLayerNum = Int32(temporalLayers)
    parameters.pointee.iSpatialLayerNum = 1
    // Key frames only when asked for: none after a time, none where the scene changes.
    parameters.pointee.uiIntraPeriod = 0
    parameters.pointee.bEnableSceneChangeDetect = false
    parameters.pointee.eSpsPpsIdStrategy = CONSTANT_ID
    parameters.pointee.bPrefixNalAddingCtrl = false
    parameters.pointee.bEnableSSEI = false
    parameters.pointee.bEnableFrameCroppingFlag = true
    parameters.pointee.bEnableLongTermReference = false
    parameters.pointee.bEnableDenoise = false
    parameters.pointee.iMultipleThreadIdc = UInt16(threads)
    parameters.pointee.iEntropyCodingModeFlag = usesArithmeticCoding ? 1 : 0
    parameters.pointee.iComplexityMode = complexity
    parameters.pointee.uiMaxNalSize = UInt32(clamping: format.maximumSliceBytes ?? 0)
    guard let layer = sora_openh264_spatial_layer(parameters) else { return }
    layer.pointee.iVideoWidth = Int32(format.width)
    layer.pointee.iVideoHeight = Int32(format.height)
    layer.pointee.fFrameRate = Float(appliedFrameRate)
    layer.pointee.iSpatialBitrate = bits
    layer.pointee.iMaxSpatialBitrate = maximumBits
    layer.pointee.uiProfileIdc = profile
    layer.pointee.uiLevelIdc = ELevelIdc(rawValue: UInt32(format.profileLevelID.level.rawValue))
    if let limit = format.maximumSliceBytes {
      layer.pointee.sSliceArgument.uiSliceMode = SM_SIZELIMITED_SLICE
      layer.pointee.sSliceArgument.uiSliceSizeConstraint = UInt32(clamping: limit)
    } else {
      layer.pointee.sSliceArgument.uiSliceMode =
        threads > 1 ? SM_FIXEDSLCNUM_SLICE : SM_SINGLE_SLICE
      layer.pointee.sSliceArgument.uiSliceNum = UInt32(threads)
    }
  }

  func applyRates() throws(CodecError) {
    guard let encoder else { return }
    let bits = Int32(clamping: max(1_000, format.bitsPerSecond(settings)))
    var result = sora_openh264_encoder_set_bitrate(encoder, bits)
    guard result == 0 else { throw libraryError("change its bitrate", Int(result)) }
    appliedFrameRate = clock.framesPerSecond ?? settings.framesPerSecond
    result = sora_openh264_encoder_set_frame_rate(encoder, Float(appliedFrameRate))
    guard result == 0 else { throw libraryError("change its frame rate", Int(result)) }
    ratesChanged = false
  }

  private var maximumBits: Int32 {
    settings.maximumBitsPerSecond > 0
      ? Int32(clamping: min(settings.maximumBitsPerSecond, format.maximumBitsPerSecond)) : 0
  }

  private var usesArithmeticCoding: Bool { profile != PRO_BASELINE }

  private var profile: EProfileIdc {
    switch format.profileLevelID.profile {
    case .main: PRO_MAIN
    case .high, .constrainedHigh: PRO_HIGH
    default: PRO_BASELINE
    }
  }

  /// Threads share a picture as slices.
  private var threadCount: Int {
    guard settings.threads == 0 else { return min(settings.threads, 16) }
    return format.width &* format.height <= 1_280 * 720
      ? 1 : settings.threadCount(width: format.width, height: format.height)
  }

  /// `VideoEncoderSettings.speed`: 0 is the library's most thorough mode, 1 the one between, 2 the fastest.
  private var complexity: ECOMPLEXITY_MODE {
    switch settings.speed {
    case .some(...0): HIGH_COMPLEXITY
    case 1: MEDIUM_COMPLEXITY
    default: LOW_COMPLEXITY
    }
  }
}
