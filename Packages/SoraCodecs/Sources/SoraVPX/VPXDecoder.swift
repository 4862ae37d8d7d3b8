package import CSoraVPX
package import SoraCodecs

/// One decoder of libvpx, as VP8 and VP9 share it: its life, what it says of a frame, and its pictures.
///
/// Confined to its owner's executor or thread.
@safe package final class VPXDecoder {
  private let codec: VPXCodec
  private let context: UnsafeMutablePointer<vpx_codec_ctx_t>
  /// Threads of the library's that decode; nil before `open`, and after a frame that it couldn't decode.
  package private(set) var threads: Int?
  /// Whether the library found the last frame's bytes damaged, and made a picture all the same.
  package private(set) var isLastFrameCorrupted = false

  package init(_ codec: VPXCodec) {
    self.codec = codec
    unsafe context = .allocate(capacity: 1)
    unsafe context.initialize(to: vpx_codec_ctx_t())
  }

  deinit {
    close()
    unsafe context.deallocate()
  }

  /// Starts anew, with nothing decoded before.
  ///
  /// - Parameters:
  ///   - threads: how many decode a frame.
  ///   - setUp: settles what is the codec's own, before the first frame.
  package func open(
    threads: Int,
    setUp: (UnsafeMutablePointer<vpx_codec_ctx_t>) -> vpx_codec_err_t = { _ in VPX_CODEC_OK }
  ) throws(CodecError) {
    try VPXLibrary.load()
    close()
    var configuration = vpx_codec_dec_cfg_t(threads: UInt32(threads), w: 0, h: 0)
    unsafe context.pointee = unsafe vpx_codec_ctx_t()
    let interface = unsafe codec == .vp8 ? vpx_codec_vp8_dx() : vpx_codec_vp9_dx()
    var result = unsafe sora_vpx_decoder_init(context, interface, &configuration, 0)
    guard result == VPX_CODEC_OK else {
      throw unsafe VPXLibrary.error("start a decoder", result, context)
    }
    self.threads = threads
    result = unsafe setUp(context)
    guard result == VPX_CODEC_OK else {
      throw unsafe VPXLibrary.error("set a decoder up", result, context)
    }
  }

  /// Decodes a frame, and returns its picture, whose planes stay until the next call; nil where the frame shows none.
  ///
  /// - Throws: `CodecError.corruptFrame`; the decoder is closed then, since the library's state after an error isn't specified.
  package func decode(_ frame: UnsafeRawBufferPointer) throws(CodecError) -> vpx_image_t? {
    let result = unsafe vpx_codec_decode(
      context, frame.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt32(frame.count), nil, 0)
    guard result == VPX_CODEC_OK else {
      let detail = unsafe VPXLibrary.errorText(result, context)
      close()
      throw .corruptFrame(detail: detail)
    }
    var corrupted: Int32 = 0
    let known = unsafe sora_vpx_get(context, Int32(VP8D_GET_FRAME_CORRUPTED.rawValue), &corrupted)
    isLastFrameCorrupted = known == VPX_CODEC_OK && corrupted != 0
    var iterator: vpx_codec_iter_t?
    return unsafe vpx_codec_get_frame(context, &iterator)?.pointee
  }

  /// Gives back all that the library holds. Idempotent.
  package func close() {
    if threads != nil { unsafe vpx_codec_destroy(context) }
    threads = nil
  }
}
