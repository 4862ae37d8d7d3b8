package import CSoraVPX
package import SoraCodecs

/// One decoder of libvpx, as VP8 and VP9 share it: its life, what it says of a frame, and its pictures.
///
/// Confined to its owner's executor or thread.
@safe package final class VPXDecoder {
  private let codec: VPXCodec
  private let context = VPXContext()
  /// Threads of the library's that decode; nil before `open`, and after a frame that it couldn't decode.
  package private(set) var threads: Int?
  /// Whether the library found the last frame's bytes damaged, and made a picture all the same.
  package private(set) var isLastFrameCorrupted = false

  package init(_ codec: VPXCodec) {
    self.codec = codec
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
    let interface = unsafe codec == .vp8 ? vpx_codec_vp8_dx() : vpx_codec_vp9_dx()
    try unsafe context.open("start a decoder") {
      unsafe sora_vpx_decoder_init($0, interface, &configuration, 0)
    }
    self.threads = threads
    try unsafe context.call("set a decoder up", setUp)
  }

  /// Decodes a frame, and returns its picture, whose planes stay until the next call; nil where the frame shows none.
  ///
  /// - Throws: `CodecError.corruptFrame`; the decoder is closed then, since the library's state after an error isn't specified.
  package func decode(_ frame: UnsafeRawBufferPointer) throws(CodecError) -> vpx_image_t? {
    let result = unsafe context.ask {
      unsafe vpx_codec_decode(
        $0, frame.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt32(frame.count), nil, 0)
    }
    guard result == VPX_CODEC_OK else {
      let detail = unsafe context.ask { unsafe VPXLibrary.errorText(result, $0) }
      close()
      throw .corruptFrame(detail: detail)
    }
    var corrupted: Int32 = 0
    let known = unsafe context.ask {
      unsafe sora_vpx_get($0, Int32(VP8D_GET_FRAME_CORRUPTED.rawValue), &corrupted)
    }
    isLastFrameCorrupted = known == VPX_CODEC_OK && corrupted != 0
    var iterator: vpx_codec_iter_t?
    return unsafe context.ask { unsafe vpx_codec_get_frame($0, &iterator)?.pointee }
  }

  /// Gives back all that the library holds. Idempotent.
  package func close() {
    context.close()
    threads = nil
  }
}
