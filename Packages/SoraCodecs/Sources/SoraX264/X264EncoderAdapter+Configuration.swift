import CSoraX264
import SoraCodecs
import SoraMedia
import SoraNAL

extension X264EncoderAdapter {
  /// Fills what the library is started with.
  func fill(_ plan: H264EncodingFormat, _ settings: VideoEncoderSettings, _ rates: EncoderRates)
    throws(CodecError)
  {
    unsafe log.pointee = 0
    let preset = settings.presetName(usual: Self.preset(settings))
    guard unsafe x264_param_default_preset(parameters, preset, "zerolatency") == 0 else {
      throw libraryError("read its preset", -1)
    }
    unsafe sora_x264_log_to(parameters, log)
    // Threads share a frame as slices.
    let threads = settings.frugalThreadCount(width: plan.width, height: plan.height)
    unsafe parameters.pointee.i_threads = Int32(threads)
    unsafe parameters.pointee.b_sliced_threads = threads > 1 ? 1 : 0
    unsafe parameters.pointee.i_width = Int32(plan.width)
    unsafe parameters.pointee.i_height = Int32(plan.height)
    unsafe parameters.pointee.i_csp = X264_CSP_I420
    unsafe parameters.pointee.i_level_idc = Int32(plan.profileLevelID.level.rawValue)
    unsafe parameters.pointee.i_frame_reference = Int32(referenceFrames(plan))
    unsafe parameters.pointee.b_vfr_input = 0
    openFrameRate = settings.framesPerSecond
    unsafe parameters.pointee.i_fps_num = UInt32(max(1, openFrameRate * 1_000))
    unsafe parameters.pointee.i_fps_den = 1_000

    // Key frames only when asked for, and whole: who can't decode asks for one.
    unsafe parameters.pointee.i_keyint_max = X264_KEYINT_MAX_INFINITE
    unsafe parameters.pointee.i_keyint_min = 1
    unsafe parameters.pointee.i_scenecut_threshold = 0
    unsafe parameters.pointee.b_intra_refresh = 0
    unsafe parameters.pointee.b_repeat_headers = 1
    unsafe parameters.pointee.b_annexb = 1
    unsafe parameters.pointee.b_aud = 0
    unsafe parameters.pointee.i_slice_max_size = Int32(clamping: plan.maximumSliceBytes ?? 0)

    unsafe parameters.pointee.rc.i_rc_method = X264_RC_ABR
    unsafe parameters.pointee.rc.i_qp_min = 8
    unsafe parameters.pointee.rc.i_qp_max = Int32(settings.coarsestQuantizer)
    unsafe parameters.pointee.rc.f_vbv_buffer_init = 0.9
    unsafe parameters.pointee.rc.b_filler = 0
    if let space = settings.colorSpace { setColors(space) }
    fill(rates)
    setContent(settings.contentHint)
    guard unsafe x264_param_apply_profile(parameters, Self.profileName(plan)) == 0 else {
      throw libraryError("take the profile", -1)
    }
  }

  /// Video usability information (H.264 §E.2.1).
  private func setColors(_ space: VideoColorSpace) {
    let points = space.codePoints
    unsafe parameters.pointee.vui.b_fullrange = space.isFullRange ? 1 : 0
    unsafe parameters.pointee.vui.i_colorprim = Int32(points.primaries)
    unsafe parameters.pointee.vui.i_transfer = Int32(points.transfer)
    unsafe parameters.pointee.vui.i_colmatrix = Int32(points.matrixCoefficients)
  }

  /// Constant bitrate: the buffer's rate is the target. Its half second bounds a key frame and what may be late.
  ///
  /// The library can't be told another frame rate while it runs. What counts is the bits that a frame may have, so it gets
  /// the bitrate that gives those at the frame rate it knows.
  func fill(_ rates: EncoderRates) {
    let bits = Double(rates.bitsPerSecond)
    let atOpenRate = bits * openFrameRate / rates.framesPerSecond
    let kilobits = Int32(clamping: Int(max(atOpenRate / 1_000, 1)))
    unsafe parameters.pointee.rc.i_bitrate = kilobits
    unsafe parameters.pointee.rc.i_vbv_max_bitrate = kilobits
    // The library wants room for one average frame at least.
    let seconds = max(0.5, 1.5 / rates.framesPerSecond)
    unsafe parameters.pointee.rc.i_vbv_buffer_size = Int32(
      clamping: max(1, Int(bits * seconds / 1_000)))
  }

  /// Text and still images: their edges survive with less smoothing, and static parts cost nothing, so that more bits
  /// go to the parts that are flat.
  private func setContent(_ hint: VideoContentHint) {
    switch hint {
    case .motion: break
    case .detail, .text:
      unsafe parameters.pointee.i_deblocking_filter_alphac0 = -2
      unsafe parameters.pointee.i_deblocking_filter_beta = -2
      // Psychovisual noise makes letters dirty.
      unsafe parameters.pointee.analyse.b_psy = hint == .text ? 0 : 1
    }
  }

  /// More than the preset's one reference helps where content comes back, within what the level allows.
  private func referenceFrames(_ plan: H264EncodingFormat) -> Int {
    let allowed = plan.profileLevelID.level.maximumReferenceFrames(
      width: plan.width, height: plan.height)
    return unsafe max(1, min(Int(parameters.pointee.i_frame_reference), allowed))
  }

  private static func profileName(_ plan: H264EncodingFormat) -> String {
    switch plan.profileLevelID.profile {
    case .main: "main"
    case .high, .constrainedHigh: "high"
    default: "baseline"
    }
  }

  /// Measured on a moving scene with noise at 720p30 and 2 Mbit/s (2.5 GHz Xeon, one thread): ultrafast takes 3.7 ms a
  /// frame, superfast 5.2 ms for 1.6 dB more, veryfast 9.1 ms for 0.1 dB more than that, faster 16.8 ms for 0.5 dB more.
  private static func preset(_ settings: VideoEncoderSettings) -> Int {
    guard settings.width &* settings.height <= 640 * 480 else { return 1 }
    return settings.cores > 1 ? 3 : 2
  }
}
