package import CSoraVPX
package import SoraCodecs

/// An encoder of libvpx, and what VP8 and VP9 do alike with it: real-time deadline, constant bitrate, no lookahead, no
/// alternate reference, key frames only when asked for.
@safe package final class VPXEncoder {
  /// What the library is started with, and given again when rates change.
  package var configuration = unsafe vpx_codec_enc_cfg_t()

  private let codec: VPXCodec
  private let context = VPXContext()
  private var image = unsafe vpx_image_t()

  package init(_ codec: VPXCodec) {
    self.codec = codec
  }

  private var interface: OpaquePointer {
    unsafe codec == .vp8 ? vpx_codec_vp8_cx() : vpx_codec_vp9_cx()
  }

  /// Fills `configuration` for frames of a size, without rates.
  package func configure(
    _ settings: VideoEncoderSettings, width: Int, height: Int, threads: Int
  ) throws(CodecError) {
    try VPXLibrary.load()
    let result = unsafe vpx_codec_enc_config_default(interface, &configuration, 0)
    guard result == VPX_CODEC_OK else {
      throw unsafe VPXLibrary.error("read its defaults", result)
    }
    unsafe configuration.g_w = UInt32(width)
    unsafe configuration.g_h = UInt32(height)
    if settings.bitDepth == 10 {
      // VP9's for more than 8 bits, 4:2:0.
      unsafe configuration.g_profile = 2
      unsafe configuration.g_bit_depth = VPX_BITS_10
      unsafe configuration.g_input_bit_depth = 10
    }
    unsafe configuration.g_timebase = vpx_rational_t(num: 1, den: 90_000)
    unsafe configuration.g_threads = UInt32(threads)
    unsafe configuration.g_pass = VPX_RC_ONE_PASS
    unsafe configuration.g_lag_in_frames = 0
    // A frame whose predecessors may have been left out must not rely on their probabilities.
    unsafe configuration.g_error_resilient =
      settings.scalabilityMode.isLayered ? vpx_codec_er_flags_t(VPX_ERROR_RESILIENT_DEFAULT) : 0
    unsafe configuration.rc_end_usage = VPX_CBR
    unsafe configuration.rc_dropframe_thresh = settings.allowsFrameDropping ? 30 : 0
    unsafe configuration.rc_resize_allowed = 0
    unsafe configuration.rc_min_quantizer = settings.contentHint == .text ? 8 : 2
    unsafe configuration.rc_max_quantizer = 56
    // Milliseconds at the target rate: a call can't wait for a bucket of several seconds to empty.
    unsafe configuration.rc_buf_initial_sz = 500
    unsafe configuration.rc_buf_optimal_sz = 600
    unsafe configuration.rc_buf_sz = 1_000
    unsafe configuration.kf_mode = VPX_KF_DISABLED
    unsafe configuration.kf_max_dist = 99_999
  }

  /// Starts the library with `configuration` and the tools that both codecs know.
  package func open(_ settings: VideoEncoderSettings, speed: Int) throws(CodecError) {
    let flags = settings.bitDepth > 8 ? Int(VPX_CODEC_USE_HIGHBITDEPTH) : 0
    try unsafe context.open("start an encoder") {
      unsafe sora_vpx_encoder_init($0, interface, &configuration, flags)
    }
    let tokens = unsafe codec.tokenCount(
      width: Int(configuration.g_w), height: Int(configuration.g_h))
    // Later on the library takes no more: another size starts it anew.
    _ = unsafe context.ask { unsafe sora_vpx_give_back_tokens($0, tokens) }
    try set(VP8E_SET_CPUUSED, speed, "set its speed")
    try set(VP8E_SET_ENABLEAUTOALTREF, 0, "turn off alternate references")
    try set(
      VP8E_SET_STATIC_THRESHOLD, settings.contentHint == .motion ? 1 : 100,
      "set its static threshold")
  }

  package func close() { context.close() }

  /// Gives a running library the rates of `configuration`.
  package func applyRates() throws(CodecError) {
    try unsafe context.call("change its rates") {
      unsafe vpx_codec_enc_config_set($0, &configuration)
    }
  }

  /// Bounds key frames at these rates.
  package func limitKeyFrames(_ rates: EncoderRates) throws(CodecError) {
    let percent = unsafe rates.keyFramePercent(ofBuffer: Int(configuration.rc_buf_optimal_sz))
    try set(VP8E_SET_MAX_INTRA_BITRATE_PCT, percent, "bound its key frames")
  }

  package func set(_ control: vp8e_enc_control_id, _ value: Int, _ operation: String)
    throws(CodecError)
  {
    try unsafe context.call(operation) {
      unsafe sora_vpx_set($0, Int32(control.rawValue), Int32(truncatingIfNeeded: value))
    }
  }

  /// A control whose value is a structure, which the library reads, or writes.
  package func exchange<Value: BitwiseCopyable>(
    _ control: vp8e_enc_control_id, _ value: inout Value, _ operation: String
  ) throws(CodecError) {
    try unsafe context.call(operation) { context in
      unsafe withUnsafeMutablePointer(to: &value) {
        unsafe sora_vpx_set_pointer(context, Int32(control.rawValue), $0)
      }
    }
  }

  /// Compresses the part of `picture` that has this size, and hands over what comes out at the end of it.
  package func encode(
    _ picture: EncoderPicture, width: Int, height: Int, _ order: FrameOrder, flags: Int32,
    packet body: (vpx_codec_cx_pkt_t) -> Void
  ) throws(CodecError) {
    unsafe describe(picture, width, height)
    let flags = order.isKeyFrame ? Int32(VPX_EFLAG_FORCE_KF) : flags
    try unsafe context.call("encode") {
      unsafe vpx_codec_encode(
        $0, &image, order.ticks, UInt(order.duration), vpx_enc_frame_flags_t(flags),
        UInt(VPX_DL_REALTIME))
    }
    var iterator: vpx_codec_iter_t?
    while let packet = unsafe context.ask({ unsafe vpx_codec_get_cx_data($0, &iterator) }) {
      unsafe body(packet.pointee)
    }
  }

  /// Points the library's image at the frame's own memory. It only reads from it, inside of `vpx_codec_encode`.
  private func describe(_ picture: EncoderPicture, _ width: Int, _ height: Int) {
    let format =
      switch unsafe picture.format {
      case .i420: VPX_IMG_FMT_I420
      case .nv12: VPX_IMG_FMT_NV12
      case .i010: VPX_IMG_FMT_I42016
      }
    unsafe vpx_img_wrap(&image, format, UInt32(width), UInt32(height), 1, picture.y)
    unsafe image.planes.0 = picture.y
    unsafe image.planes.1 = picture.u
    unsafe image.planes.2 = picture.v
    unsafe image.stride.0 = picture.yStride
    unsafe image.stride.1 = picture.uStride
    unsafe image.stride.2 = picture.vStride
  }
}

extension EncoderOutput {
  /// Adds what the library made, where it is a frame or a part of one; returns whether it is.
  @discardableResult
  package func append(_ packet: vpx_codec_cx_pkt_t, parts: Int = 1) -> Bool {
    guard unsafe packet.kind == VPX_CODEC_CX_FRAME_PKT, unsafe packet.data.frame.sz > 0 else {
      return false
    }
    let part = unsafe packet.data.frame
    if unsafe part.flags & UInt32(VPX_FRAME_IS_KEY) != 0 { isKeyFrame = true }
    unsafe append(
      UnsafeRawBufferPointer(start: part.buf, count: part.sz), expecting: part.sz * parts)
    return true
  }
}
