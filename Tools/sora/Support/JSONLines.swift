import Foundation
import Synchronization

/// Lines of JSON from and to another program: one object a line.
package enum JSONLines {
  /// The lines of standard input, until it ends. One reader a process.
  package static func input() -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    // A thread of its own, because reading blocks.
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
    return lines
  }

  private static let output = Mutex(FileHandle.standardOutput)

  /// Writes an object to standard output; nothing where it holds what JSON can't express. Safe from any thread.
  package static func write(_ object: [String: Any]) {
    guard JSONSerialization.isValidJSONObject(object),
      let data = try? JSONSerialization.data(
        withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
    else { return }
    output.withLock { $0.write(data + Data("\n".utf8)) }
  }
}
