import CAVCodec
import CSoraAVCodec
import SoraCodecs

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The bytes that go into libavcodec: a copy with the padding behind it that its bit readers want.
///
/// The copy's memory is used again as soon as the library has let go of it.
@safe final class AVCodecInput {
  let packet: UnsafeMutablePointer<AVPacket>
  private var memory: UnsafeMutablePointer<AVBufferRef>?

  init() throws(CodecError) {
    guard let packet = unsafe av_packet_alloc() else {
      throw libraryError("start a decoder", Int32(SORA_AV_NO_MEMORY))
    }
    unsafe self.packet = unsafe packet
  }

  deinit {
    letGo()
    unsafe av_buffer_unref(&memory)
    var packet: UnsafeMutablePointer<AVPacket>? = unsafe self.packet
    unsafe av_packet_free(&packet)
  }

  /// Puts `bytes` into the packet; false where there is no memory for them.
  func fill(_ bytes: RawSpan, number: Int) -> Bool {
    let padding = Int(AV_INPUT_BUFFER_PADDING_SIZE)
    guard bytes.byteCount <= Int(Int32.max) - 2 * padding else { return false }
    let wanted = bytes.byteCount + padding
    if let known = unsafe memory,
      unsafe av_buffer_is_writable(known) == 0 || known.pointee.size < wanted
    {
      unsafe av_buffer_unref(&memory)
    }
    if unsafe memory == nil { unsafe memory = unsafe av_buffer_alloc(wanted + wanted / 4) }
    guard let memory = unsafe memory, let base = unsafe memory.pointee.data,
      let reference = unsafe av_buffer_ref(memory)
    else {
      return false
    }
    unsafe bytes.withUnsafeBytes {
      if let source = $0.baseAddress { unsafe memcpy(base, source, $0.count) }
    }
    unsafe memset(base + bytes.byteCount, 0, padding)
    unsafe packet.pointee.buf = unsafe reference
    unsafe packet.pointee.data = unsafe base
    unsafe packet.pointee.size = Int32(bytes.byteCount)
    unsafe packet.pointee.pts = Int64(number)
    unsafe packet.pointee.dts = Int64(number)
    return true
  }

  /// The packet doesn't refer to the bytes any more; the library may.
  func letGo() { unsafe av_packet_unref(packet) }
}
