import CSoraX264
import SoraCodecs
import SoraNAL

extension X264Encoder {
  /// Starts over in another size, with one key frame.
  func resize(width: Int, height: Int) throws(CodecError) {
    var wanted = settings
    wanted.width = width
    wanted.height = height
    try wanted.validate()
    format = try H264EncodingFormat(wanted, profiles: Self.profiles)
    settings = wanted
    if let encoder { x264_encoder_close(encoder) }
    encoder = nil
    try open()
  }

  func open() throws(CodecError) {
    log.pointee = 0
    let preset = settings.speed.map { min(max($0, 0), 9) } ?? Self.preset(settings)
    guard x264_param_default_preset(parameters, Self.presets[preset], "zerolatency") == 0 else {
      throw libraryError("read its preset", -1)
    }
    sora_x264_log_to(parameters, log)
    let threads = threadCount
    parameters.pointee.i_threads = Int32(threads)
    parameters.pointee.b_sliced_threads = threads > 1 ? 1 : 0
    parameters.pointee.i_width = Int32(format.width)
    parameters.pointee.i_height = Int32(format.height)
    parameters.pointee.i_csp = X264_CSP_I420
    parameters.pointee.i_level_idc = Int32(format.profileLevelID.level.rawValue)
    parameters.pointee.i_frame_reference = Int32(referenceFrames)
    // With times instead of a rate, the library would keep each frame until the next one comes.
    parameters.pointee.b_vfr_input = 0
    openFrameRate = settings.framesPerSecond
    parameters.pointee.i_fps_num = UInt32(max(1, openFrameRate * 1_000))
    parameters.pointee.i_fps_den = 1_000

    // Key frames only when asked for, and whole: who can't decode asks for one.
    parameters.pointee.i_keyint_max = X264_KEYINT_MAX_INFINITE
    parameters.pointee.i_keyint_min = 1
    parameters.pointee.i_scenecut_threshold = 0
    parameters.pointee.b_intra_refresh = 0
    parameters.pointee.b_repeat_headers = 1
    parameters.pointee.b_annexb = 1
    parameters.pointee.b_aud = 0
    parameters.pointee.i_slice_max_size = Int32(clamping: format.maximumSliceBytes ?? 0)

    parameters.pointee.rc.i_rc_method = X264_RC_ABR
    parameters.pointee.rc.i_qp_min = 8
    parameters.pointee.rc.i_qp_max = coarsestQuantizer
    parameters.pointee.rc.f_vbv_buffer_init = 0.9
    parameters.pointee.rc.b_filler = 0
    fillRates()
    setContent()
    guard x264_param_apply_profile(parameters, Self.profileName(format)) == 0 else {
      throw libraryError("take the profile", -1)
    }
    encoder = sora_x264_open(parameters)
    guard encoder != nil else { throw libraryError("start an encoder", -1) }
    needsKeyFrame = true
    ratesChanged = false
  }

  func applyRates() throws(CodecError) {
    guard let encoder else { return }
    fillRates()
    let result = x264_encoder_reconfig(encoder, parameters)
    guard result == 0 else { throw libraryError("change its rates", Int(result)) }
    ratesChanged = false
  }

  /// Constant bitrate: the buffer's rate is the target. Its half second bounds a key frame and what may be late.
  ///
  /// The library can't be told another frame rate while it runs. What counts is the bits that a frame may have, so it gets
  /// the bitrate that gives those at the frame rate it knows.
  private func fillRates() {
    appliedFrameRate = clock.framesPerSecond ?? settings.framesPerSecond
    let bits = Double(max(format.bitsPerSecond(settings), 1_000))
    let kilobits = Int32(clamping: Int(max(bits * openFrameRate / appliedFrameRate / 1_000, 1)))
    parameters.pointee.rc.i_bitrate = kilobits
    parameters.pointee.rc.i_vbv_max_bitrate = kilobits
    // The library wants room for one average frame at least.
    let seconds = max(0.5, 1.5 / appliedFrameRate)
    parameters.pointee.rc.i_vbv_buffer_size = Int32(clamping: max(1, Int(bits * seconds / 1_000)))
  }

  /// Where frames may be dropped, pictures aren't made unrecognizable instead: rather blur than stutter for motion, the
  /// other way round for details.
  private var coarsestQuantizer: Int32 {
    guard settings.allowsFrameDropping else { return 51 }
    return settings.contentHint == .motion ? 46 : 40
  }

  /// Text and still pictures: their edges survive with less smoothing, and static parts cost nothing, so that more bits
  /// go to the parts that are flat.
  private func setContent() {
    switch settings.contentHint {
    case .motion: break
    case .detail, .text:
      parameters.pointee.i_deblocking_filter_alphac0 = -2
      parameters.pointee.i_deblocking_filter_beta = -2
      // Psychovisual noise makes letters dirty.
      parameters.pointee.analyse.b_psy = settings.contentHint == .text ? 0 : 1
    }
  }

  /// More than the preset's one reference helps where content comes back, within what the level allows.
  private var referenceFrames: Int {
    let allowed = format.profileLevelID.level.maximumReferenceFrames(
      width: format.width, height: format.height)
    return max(1, min(Int(parameters.pointee.i_frame_reference), allowed))
  }

  /// Threads share a picture as slices.
  private var threadCount: Int {
    guard settings.threads == 0 else { return min(settings.threads, 16) }
    return format.width &* format.height <= 1_280 * 720
      ? 1 : settings.threadCount(width: format.width, height: format.height)
  }

  private static func profileName(_ format: H264EncodingFormat) -> String {
    switch format.profileLevelID.profile {
    case .main: "main"
    case .high, .constrainedHigh: "high"
    default: "baseline"
    }
  }

  /// The library's presets, fastest first; `VideoEncoderSettings.speed` is an index into these.
  static let presets = [
    "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow",
    "placebo",
  ]

  /// Measured on a moving picture with noise at 720p30 and 2 Mbit/s (2.5 GHz Xeon, one thread): ultrafast takes 3.7 ms a
  /// frame, superfast 5.2 ms for 1.6 dB more, veryfast 9.1 ms for 0.1 dB more than that, faster 16.8 ms for 0.5 dB more.
  private static func preset(_ settings: VideoEncoderSettings) -> Int {
    guard settings.width &* settings.height <= 640 * 480 else { return 1 }
    return settings.cores > 1 ? 3 : 2
  }
}
