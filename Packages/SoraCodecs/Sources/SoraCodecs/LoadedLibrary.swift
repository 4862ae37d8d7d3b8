/// Loads a codec's library, once: no app links one, and only those are loaded whose encoder or decoder is made.
///
/// - Parameters:
///   - name: such as "libvpx".
///   - load: answers nil, or why it can't be loaded.
/// - Throws: `CodecError.library` where it isn't installed.
package func loadLibrary(
  _ name: String, _ load: () -> UnsafePointer<CChar>?
) throws(CodecError) {
  guard let reason = unsafe load() else { return }
  throw .library(name: name, operation: "load", code: 0, detail: unsafe String(cString: reason))
}
