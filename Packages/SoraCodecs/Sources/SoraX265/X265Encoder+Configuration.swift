import CSoraX265
import CX265
import SoraCodecs
import SoraNAL

extension X265Encoder {
  /// Starts over in another size, with one key frame.
  func resize(width: Int, height: Int) throws(CodecError) {
    var wanted = settings
    wanted.width = width
    wanted.height = height
    try wanted.validate()
    format = try H265EncodingFormat(wanted)
    settings = wanted
    try open()
  }

  func open() throws(CodecError) {
    close()
    let preset = settings.speed.map { min(max($0, 0), 9) } ?? Self.preset(settings)
    guard x265_param_default_preset(parameters, Self.presets[preset], "zerolatency") == 0 else {
      throw libraryError("read its preset", -1, Self.presets[preset])
    }
    parameters.pointee.logLevel = X265_LOG_NONE
    parameters.pointee.sourceWidth = Int32(format.width)
    parameters.pointee.sourceHeight = Int32(format.height)
    parameters.pointee.internalBitDepth = 8
    parameters.pointee.internalCsp = X265_CSP_I420
    parameters.pointee.levelIdc = Int32(format.levelID) / 3
    parameters.pointee.bHighTier = 0
    parameters.pointee.fpsNum = UInt32(max(1, settings.framesPerSecond * 1_000))
    parameters.pointee.fpsDenom = 1_000
    try setThreads()
    setBlocks()

    // Key frames only when asked for, and whole: who can't decode asks for one.
    parameters.pointee.keyframeMax = -1
    parameters.pointee.scenecutThreshold = 0
    parameters.pointee.bOpenGOP = 0
    parameters.pointee.bIntraRefresh = 0
    parameters.pointee.bRepeatHeaders = 1
    parameters.pointee.bAnnexB = 1
    parameters.pointee.bEnableAccessUnitDelimiters = 0
    parameters.pointee.bEmitInfoSEI = 0
    parameters.pointee.bEnablePsnr = 0
    parameters.pointee.bEnableSsim = 0

    // `QuantizerControl` chooses the quantizer of each picture. The library's own control is left to see that no picture
    // breaks the level's buffer; without any, it wouldn't state a level.
    let kilobits = Int32(clamping: format.maximumBitsPerSecond / 1_000)
    parameters.pointee.rc.rateControlMode = Int32(X265_RC_ABR.rawValue)
    parameters.pointee.rc.bitrate = kilobits
    parameters.pointee.rc.vbvMaxBitrate = kilobits
    parameters.pointee.rc.vbvBufferSize = kilobits
    parameters.pointee.rc.aqMode = X265_AQ_NONE
    setContent()
    guard x265_param_apply_profile(parameters, "main") == 0 else {
      throw libraryError("take the profile", -1, "main")
    }
    resetPicture()
    encoder = sora_x265_open(parameters)
    guard encoder != nil else { throw libraryError("start an encoder", -1, "it refused") }
    needsKeyFrame = true
    control.restart()
  }

  /// Threads share the rows of one picture (wavefronts); several pictures at a time would delay each of them.
  private func setThreads() throws(CodecError) {
    let threads = settings.threadCount(width: format.width, height: format.height)
    parameters.pointee.frameNumThreads = 1
    parameters.pointee.lookaheadThreads = 0
    parameters.pointee.lookaheadSlices = 0
    parameters.pointee.bEnableWavefront = threads > 1 ? 1 : 0
    let pools = threads > 1 ? String(threads) : "none"
    guard x265_param_parse(parameters, "pools", pools) == 0 else {
      throw libraryError("take its threads", -1, pools)
    }
  }

  /// A picture must hold one coding tree block at least.
  private func setBlocks() {
    var largest = parameters.pointee.maxCUSize
    while largest > 16, Int(largest) > min(format.width, format.height) { largest /= 2 }
    parameters.pointee.maxCUSize = largest
    parameters.pointee.maxTUSize = min(parameters.pointee.maxTUSize, largest)
    parameters.pointee.rc.qgSize = min(parameters.pointee.rc.qgSize, largest)
    // Small pictures have small things in them.
    if format.width * format.height <= 320 * 240 { parameters.pointee.minCUSize = 8 }
  }

  /// Text and still pictures: letters stay sharp where blocks may go without a transform, and with less smoothing.
  private func setContent() {
    switch settings.contentHint {
    case .motion: break
    case .detail, .text:
      parameters.pointee.deblockingFilterBetaOffset = -2
      parameters.pointee.deblockingFilterTCOffset = -2
      guard settings.contentHint == .text else { break }
      parameters.pointee.bEnableTransformSkip = 1
      parameters.pointee.bEnableTSkipFast = 1
      // Psychovisual noise makes letters dirty.
      parameters.pointee.psyRd = 0
    }
  }

  /// Where frames may be dropped, pictures aren't made unrecognizable instead: rather blur than stutter for motion, the
  /// other way round for details.
  var coarsestQuantizer: Int {
    guard settings.allowsFrameDropping else { return QuantizerControl.range.upperBound }
    return settings.contentHint == .motion ? 46 : 40
  }

  /// The library's presets, fastest first; `VideoEncoderSettings.speed` is an index into these.
  static let presets = [
    "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow",
    "placebo",
  ]

  /// What keeps up with 30 frames a second, with half of the machine left. Measured on a moving picture with noise at 720p
  /// and 2 Mbit/s (2.5 GHz Xeon, one thread): ultrafast takes 21 ms a frame, superfast 39 ms.
  private static func preset(_ settings: VideoEncoderSettings) -> Int {
    switch settings.width &* settings.height {
    case ...(640 * 480): 1
    case ...(1_280 * 720): settings.cores >= 4 ? 1 : 0
    default: settings.cores >= 8 ? 1 : 0
    }
  }
}
