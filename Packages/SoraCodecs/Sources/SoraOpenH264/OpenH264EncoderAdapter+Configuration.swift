import CSoraOpenH264
import SoraCodecs
import SoraMedia
import SoraNAL

extension OpenH264EncoderAdapter {
  /// Fills what the library is started with.
  func fill(_ plan: H264EncodingFormat, _ settings: VideoEncoderSettings, _ rates: EncoderRates) {
    let bits = Int32(clamping: rates.bitsPerSecond)
    let highest =
      settings.maximumBitsPerSecond > 0
      ? Int32(clamping: min(settings.maximumBitsPerSecond, plan.maximumBitsPerSecond)) : 0
    let profile = profile(plan)
    let isText = settings.contentHint == .text
    // Threads share a frame as slices.
    let threads =
      plan.maximumSliceBytes == nil
      ? settings.frugalThreadCount(width: plan.width, height: plan.height) : 1
    unsafe parameters.pointee.iUsageType =
      isText ? SCREEN_CONTENT_REAL_TIME : CAMERA_VIDEO_REAL_TIME
    unsafe parameters.pointee.iPicWidth = Int32(plan.width)
    unsafe parameters.pointee.iPicHeight = Int32(plan.height)
    unsafe parameters.pointee.fMaxFrameRate = Float(rates.framesPerSecond)
    unsafe parameters.pointee.iRCMode = RC_BITRATE_MODE
    unsafe parameters.pointee.iTargetBitrate = bits
    unsafe parameters.pointee.iMaxBitrate = highest
    unsafe parameters.pointee.bEnableFrameSkip = settings.allowsFrameDropping
    unsafe parameters.pointee.iTemporalLayerNum = Int32(settings.scalabilityMode.temporalLayers)
    unsafe parameters.pointee.iSpatialLayerNum = 1
    // Key frames only when asked for: none after a time, none where the scene changes.
    unsafe parameters.pointee.uiIntraPeriod = 0
    unsafe parameters.pointee.bEnableSceneChangeDetect = false
    unsafe parameters.pointee.eSpsPpsIdStrategy = CONSTANT_ID
    unsafe parameters.pointee.bPrefixNalAddingCtrl = false
    unsafe parameters.pointee.bEnableSSEI = false
    unsafe parameters.pointee.bEnableFrameCroppingFlag = true
    unsafe parameters.pointee.bEnableLongTermReference = false
    unsafe parameters.pointee.bEnableDenoise = false
    unsafe parameters.pointee.iMultipleThreadIdc = UInt16(threads)
    unsafe parameters.pointee.iEntropyCodingModeFlag = profile == PRO_BASELINE ? 0 : 1
    unsafe parameters.pointee.iComplexityMode = complexity(settings)
    unsafe parameters.pointee.uiMaxNalSize = UInt32(clamping: plan.maximumSliceBytes ?? 0)
    guard let layer = unsafe sora_openh264_spatial_layer(parameters) else { return }
    unsafe layer.pointee.iVideoWidth = Int32(plan.width)
    unsafe layer.pointee.iVideoHeight = Int32(plan.height)
    unsafe layer.pointee.fFrameRate = Float(rates.framesPerSecond)
    unsafe layer.pointee.iSpatialBitrate = bits
    unsafe layer.pointee.iMaxSpatialBitrate = highest
    unsafe layer.pointee.uiProfileIdc = profile
    unsafe layer.pointee.uiLevelIdc = ELevelIdc(
      rawValue: UInt32(plan.profileLevelID.level.rawValue))
    if let space = settings.colorSpace {
      let points = space.codePoints
      unsafe layer.pointee.bVideoSignalTypePresent = true
      // H.264 table E-2: not said.
      unsafe layer.pointee.uiVideoFormat = 5
      unsafe layer.pointee.bFullRange = space.isFullRange
      unsafe layer.pointee.bColorDescriptionPresent = true
      unsafe layer.pointee.uiColorPrimaries = UInt8(points.primaries)
      unsafe layer.pointee.uiTransferCharacteristics = UInt8(points.transfer)
      unsafe layer.pointee.uiColorMatrix = UInt8(points.matrixCoefficients)
    }
    if let limit = plan.maximumSliceBytes {
      unsafe layer.pointee.sSliceArgument.uiSliceMode = SM_SIZELIMITED_SLICE
      unsafe layer.pointee.sSliceArgument.uiSliceSizeConstraint = UInt32(clamping: limit)
    } else {
      unsafe layer.pointee.sSliceArgument.uiSliceMode =
        threads > 1 ? SM_FIXEDSLCNUM_SLICE : SM_SINGLE_SLICE
      unsafe layer.pointee.sSliceArgument.uiSliceNum = UInt32(threads)
    }
  }

  private func profile(_ plan: H264EncodingFormat) -> EProfileIdc {
    switch plan.profileLevelID.profile {
    case .main: PRO_MAIN
    case .high, .constrainedHigh: PRO_HIGH
    default: PRO_BASELINE
    }
  }

  /// `VideoEncoderSettings.speed`: 0 is the library's most thorough mode, 1 the one between, 2 the fastest.
  private func complexity(_ settings: VideoEncoderSettings) -> ECOMPLEXITY_MODE {
    switch settings.speed {
    case .some(...0): HIGH_COMPLEXITY
    case 1: MEDIUM_COMPLEXITY
    default: LOW_COMPLEXITY
    }
  }
}
