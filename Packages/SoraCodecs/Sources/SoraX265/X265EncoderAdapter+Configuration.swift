import CSoraX265
import CX265
import SoraCodecs
import SoraMedia
import SoraNAL

extension X265EncoderAdapter {
  /// Fills what the library is started with.
  func fill(_ plan: H265EncodingFormat, _ settings: VideoEncoderSettings) throws(CodecError) {
    let speed = settings.speed ?? Self.usualSpeed(settings)
    let preset = settings.presetName(usual: speed)
    guard unsafe x265_param_default_preset(parameters, preset, "zerolatency") == 0 else {
      throw libraryError("read its preset", -1, preset)
    }
    unsafe parameters.pointee.logLevel = X265_LOG_NONE
    unsafe parameters.pointee.sourceWidth = Int32(plan.width)
    unsafe parameters.pointee.sourceHeight = Int32(plan.height)
    unsafe parameters.pointee.internalBitDepth = 8
    unsafe parameters.pointee.internalCsp = X265_CSP_I420
    unsafe parameters.pointee.levelIdc = Int32(plan.levelID) / 3
    unsafe parameters.pointee.bHighTier = 0
    unsafe parameters.pointee.fpsNum = UInt32(max(1, settings.framesPerSecond * 1_000))
    unsafe parameters.pointee.fpsDenom = 1_000
    try setThreads(Self.threads(settings, plan))
    if speed < 0 { hurry(plan) }
    setBlocks(plan)

    // Key frames only when asked for, and whole: who can't decode asks for one.
    unsafe parameters.pointee.keyframeMax = -1
    unsafe parameters.pointee.scenecutThreshold = 0
    unsafe parameters.pointee.bOpenGOP = 0
    unsafe parameters.pointee.bIntraRefresh = 0
    unsafe parameters.pointee.bRepeatHeaders = 1
    unsafe parameters.pointee.bAnnexB = 1
    unsafe parameters.pointee.bEnableAccessUnitDelimiters = 0
    unsafe parameters.pointee.bEmitInfoSEI = 0
    unsafe parameters.pointee.bEnablePsnr = 0
    unsafe parameters.pointee.bEnableSsim = 0

    // The driver chooses the quantizer of each frame. The library's own control is left to see that no frame breaks the
    // level's buffer; without any, it wouldn't state a level.
    let kilobits = Int32(clamping: plan.maximumBitsPerSecond / 1_000)
    unsafe parameters.pointee.rc.rateControlMode = Int32(X265_RC_ABR.rawValue)
    unsafe parameters.pointee.rc.bitrate = kilobits
    unsafe parameters.pointee.rc.vbvMaxBitrate = kilobits
    unsafe parameters.pointee.rc.vbvBufferSize = kilobits
    unsafe parameters.pointee.rc.aqMode = X265_AQ_NONE
    if let space = settings.colorSpace { setColors(space) }
    setContent(settings.contentHint)
    guard unsafe x265_param_apply_profile(parameters, "main") == 0 else {
      throw libraryError("take the profile", -1, "main")
    }
  }

  /// Video usability information (H.265 §E.3.1).
  private func setColors(_ space: VideoColorSpace) {
    let points = space.codePoints
    unsafe parameters.pointee.vui.bEnableVideoSignalTypePresentFlag = 1
    unsafe parameters.pointee.vui.bEnableVideoFullRangeFlag = space.isFullRange ? 1 : 0
    unsafe parameters.pointee.vui.bEnableColorDescriptionPresentFlag = 1
    unsafe parameters.pointee.vui.colorPrimaries = Int32(points.primaries)
    unsafe parameters.pointee.vui.transferCharacteristics = Int32(points.transfer)
    unsafe parameters.pointee.vui.matrixCoeffs = Int32(points.matrixCoefficients)
  }

  /// Threads share the rows of one frame (wavefronts); several frames at a time would delay each of them.
  private func setThreads(_ threads: Int) throws(CodecError) {
    unsafe parameters.pointee.frameNumThreads = 1
    unsafe parameters.pointee.lookaheadThreads = 0
    unsafe parameters.pointee.lookaheadSlices = 0
    unsafe parameters.pointee.bEnableWavefront = threads > 1 ? 1 : 0
    let pools = threads > 1 ? String(threads) : "none"
    guard unsafe x265_param_parse(parameters, "pools", pools) == 0 else {
      throw libraryError("take its threads", -1, pools)
    }
  }

  /// A frame must hold one coding tree block at least.
  private func setBlocks(_ plan: H265EncodingFormat) {
    var largest = unsafe parameters.pointee.maxCUSize
    while largest > 16, Int(largest) > min(plan.width, plan.height) { largest /= 2 }
    unsafe parameters.pointee.maxCUSize = largest
    unsafe parameters.pointee.maxTUSize = min(parameters.pointee.maxTUSize, largest)
    unsafe parameters.pointee.rc.qgSize = min(parameters.pointee.rc.qgSize, largest)
    // Small frames have small things in them.
    if plan.width * plan.height <= 320 * 240 { unsafe parameters.pointee.minCUSize = 8 }
  }

  /// Text and still images: letters stay sharp where blocks may go without a transform, and with less smoothing.
  private func setContent(_ hint: VideoContentHint) {
    switch hint {
    case .motion: break
    case .detail, .text:
      unsafe parameters.pointee.deblockingFilterBetaOffset = -2
      unsafe parameters.pointee.deblockingFilterTCOffset = -2
      guard hint == .text else { break }
      unsafe parameters.pointee.bEnableTransformSkip = 1
      unsafe parameters.pointee.bEnableTSkipFast = 1
      // Psychovisual noise makes letters dirty.
      unsafe parameters.pointee.psyRd = 0
    }
  }

  /// Faster than the library's fastest preset: small blocks only, and fewer ways tried for each. Takes a quarter less time
  /// for up to 1 dB (`Benchmarks/codecs.py --speeds`).
  private func hurry(_ plan: H265EncodingFormat) {
    unsafe parameters.pointee.rdLevel = 1
    // H.265 §A.4.1: not at level 5 and above.
    guard plan.levelID < 150 else { return }
    unsafe parameters.pointee.maxCUSize = 16
    unsafe parameters.pointee.maxTUSize = 16
  }

  /// One thread up to 960x540 where cores are few: threads that share a frame's rows wait for each other, and where one of
  /// them has to wait for another program, a frame takes several times as long as with one alone.
  private static func threads(_ settings: VideoEncoderSettings, _ plan: H265EncodingFormat) -> Int {
    if settings.threads == 0, settings.cores < 4, plan.width * plan.height <= 960 * 540 { return 1 }
    return settings.threadCount(width: plan.width, height: plan.height)
  }

  /// Slower presets than veryfast gain little in a call. Measured by `Benchmarks/codecs.py --speeds`: superfast takes 1.3 to
  /// 2.1 times as long as ultrafast for up to 5 dB, veryfast 1.1 to 1.2 times as long as that for 1 dB and more.
  static func speeds(_ settings: VideoEncoderSettings) -> EncoderSpeeds? {
    EncoderSpeeds(costs: [0.75, 1, 2, 2.4], fastest: -1, usual: usualSpeed(settings))
  }

  /// What keeps up with 30 frames per second, with half of the machine left, where nothing has been measured yet. On a
  /// moving scene with noise at 720p and 2 Mbit/s (2.5 GHz Xeon, one thread) ultrafast takes 21 ms a frame, superfast 39 ms.
  private static func usualSpeed(_ settings: VideoEncoderSettings) -> Int {
    switch settings.width &* settings.height {
    case ...(640 * 480): 1
    case ...(1_280 * 720): settings.cores >= 4 ? 1 : 0
    default: settings.cores >= 8 ? 1 : 0
    }
  }
}
