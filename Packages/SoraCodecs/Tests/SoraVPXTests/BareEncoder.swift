import CSoraVPX
import SoraMedia
import SoraVPX

/// An encoder of libvpx without anything of ours around it, which keeps the memory that it hasn't used, or gives it back.
final class BareEncoder {
  struct Failed: Error {}

  /// Bytes that it has given back.
  let givenBack: Int

  private var configuration = vpx_codec_enc_cfg_t()
  private let context = UnsafeMutablePointer<vpx_codec_ctx_t>.allocate(capacity: 1)

  init(_ codec: VPXCodec, width: Int, height: Int, threads: Int = 1, givesBack: Bool) throws {
    try VPXLibrary.load()
    let interface = codec == .vp8 ? vpx_codec_vp8_cx() : vpx_codec_vp9_cx()
    vpx_codec_enc_config_default(interface, &configuration, 0)
    configuration.g_w = UInt32(width)
    configuration.g_h = UInt32(height)
    configuration.g_threads = UInt32(threads)
    configuration.g_lag_in_frames = 0
    configuration.rc_end_usage = VPX_CBR
    configuration.rc_target_bitrate = 3_000
    context.initialize(to: vpx_codec_ctx_t())
    guard sora_vpx_encoder_init(context, interface, &configuration, 0) == VPX_CODEC_OK else {
      throw Failed()
    }
    givenBack =
      givesBack
      ? sora_vpx_give_back_tokens(context, codec.tokenCount(width: width, height: height)) : 0
    let partitions = threads > 1 ? 1 : 0
    for (control, value) in [
      (VP8E_SET_CPUUSED, codec == .vp8 ? -6 : 8),
      codec == .vp8
        ? (VP8E_SET_TOKEN_PARTITIONS, partitions) : (VP9E_SET_TILE_COLUMNS, partitions),
    ] {
      guard
        sora_vpx_set(context, Int32(control.rawValue), Int32(value)) == VPX_CODEC_OK
      else { throw Failed() }
    }
  }

  /// Gives back what it hasn't used, where it holds memory for so many tokens; returns how many bytes.
  func giveBack(_ tokens: Int) -> Int { sora_vpx_give_back_tokens(context, tokens) }

  deinit {
    vpx_codec_destroy(context)
    context.deallocate()
  }

  /// Goes on with pictures of another size, no larger than the first one.
  func resize(_ width: Int, _ height: Int) throws {
    configuration.g_w = UInt32(width)
    configuration.g_h = UInt32(height)
    guard vpx_codec_enc_config_set(context, &configuration) == VPX_CODEC_OK else { throw Failed() }
  }

  /// What it makes of the pictures.
  func encode(_ pictures: [PixelBuffer]) throws -> [[UInt8]] {
    try pictures.indices.flatMap { try encode(pictures[$0], at: $0) }
  }

  private func encode(_ picture: PixelBuffer, at time: Int) throws -> [[UInt8]] {
    let planes = (0..<3).map { picture.plane($0) }
    let (width, height) = (UInt32(picture.width), UInt32(picture.height))
    var image = vpx_image_t()
    let memory = planes.map {
      UnsafeMutableRawPointer(mutating: $0.base).assumingMemoryBound(to: UInt8.self)
    }
    vpx_img_wrap(&image, VPX_IMG_FMT_I420, width, height, 1, memory[0])
    (image.planes.0, image.planes.1, image.planes.2) = (memory[0], memory[1], memory[2])
    (image.stride.0, image.stride.1, image.stride.2) =
      (Int32(planes[0].stride), Int32(planes[1].stride), Int32(planes[2].stride))
    let flags = vpx_enc_frame_flags_t(time == 0 ? VPX_EFLAG_FORCE_KF : 0)
    let deadline = UInt(VPX_DL_REALTIME)
    guard vpx_codec_encode(context, &image, Int64(time), 1, flags, deadline) == VPX_CODEC_OK
    else { throw Failed() }
    var iterator: vpx_codec_iter_t?
    var made: [[UInt8]] = []
    while let packet = vpx_codec_get_cx_data(context, &iterator) {
      guard packet.pointee.kind == VPX_CODEC_CX_FRAME_PKT else { continue }
      let frame = packet.pointee.data.frame
      made.append(Array(UnsafeRawBufferPointer(start: frame.buf, count: frame.sz)))
    }
    return made
  }
}
