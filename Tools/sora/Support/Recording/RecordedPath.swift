import Foundation

/// Whether a file can be written, before there is anything for it.
enum RecordedPath {
  /// Leaves what lies there as it is, and nothing where nothing was: a call that fails must cost nobody a recording.
  static func check(_ path: String) throws(UsageError) {
    if isWritable(path) { return }
    throw UsageError("--record: cannot create \(path): \(unsafe String(cString: strerror(errno)))")
  }

  private static func isWritable(_ path: String) -> Bool {
    // Not opened: who reads a pipe would take that for all that comes.
    if unsafe access(path, W_OK) == 0 { return true }
    guard errno == ENOENT else { return false }
    let made = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard made >= 0, close(made) == 0 else { return false }
    return unsafe unlink(path) == 0
  }
}
