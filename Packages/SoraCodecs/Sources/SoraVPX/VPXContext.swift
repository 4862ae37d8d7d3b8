import CSoraVPX
import SoraCodecs

/// libvpx's state of one encoder or decoder, and its life: it stays where it is in memory, and what the library put into it is given back
/// before it is started anew, and at the end.
///
/// Confined to its owner's executor or thread.
@safe final class VPXContext {
  typealias Pointer = UnsafeMutablePointer<vpx_codec_ctx_t>

  private let pointer: Pointer
  private var isOpen = false

  init() {
    unsafe pointer = .allocate(capacity: 1)
    unsafe pointer.initialize(to: vpx_codec_ctx_t())
  }

  deinit {
    close()
    unsafe pointer.deallocate()
  }

  /// Starts the library, after giving back what it held.
  func open(_ operation: String, _ start: (Pointer) -> vpx_codec_err_t) throws(CodecError) {
    close()
    unsafe pointer.pointee = vpx_codec_ctx_t()
    try unsafe call(operation, start)
    isOpen = true
  }

  /// One of the library's functions on it.
  ///
  /// - Throws: `CodecError.library` with what the library says of the failure.
  func call(_ operation: String, _ function: (Pointer) -> vpx_codec_err_t) throws(CodecError) {
    let result = unsafe function(pointer)
    guard result == VPX_CODEC_OK else {
      throw unsafe VPXLibrary.error(operation, result, pointer)
    }
  }

  /// One of the library's functions on it whose failure is its caller's affair.
  func ask<Answer>(_ function: (Pointer) -> Answer) -> Answer { unsafe function(pointer) }

  /// Gives back all that the library holds. Idempotent.
  func close() {
    if isOpen { unsafe vpx_codec_destroy(pointer) }
    isOpen = false
  }
}
