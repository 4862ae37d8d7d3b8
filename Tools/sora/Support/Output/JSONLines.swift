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

  private static let output = Mutex(STDOUT_FILENO)

  /// Writes an object to standard output; nothing where it holds what JSON can't express. Safe from any thread. Ends the
  /// process where nobody reads any more.
  package static func write(_ object: [String: Any]) {
    guard JSONSerialization.isValidJSONObject(object),
      let data = try? JSONSerialization.data(
        withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
    else { return }
    output.withLock { descriptor in
      let line = String(decoding: data, as: UTF8.self) + "\n"
      if Console.write(line, to: descriptor) != nil { exit(1) }
    }
  }
}
