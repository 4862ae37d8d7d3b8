import Foundation
import Synchronization

/// Standard output for data, standard error for people. Safe from any thread; writes whole lines at once.
package final class Console: Sendable {
  private struct State {
    var hasLiveLine = false
  }

  package let showsStatus: Bool
  package let isTerminal: Bool
  private let state = Mutex(State())

  /// - Parameter isJSON: whether standard output carries JSON lines; then the status line is for terminals only.
  package init(isJSON: Bool) {
    isTerminal = isatty(STDERR_FILENO) == 1
    showsStatus = isTerminal || !isJSON
  }

  /// Columns of the terminal.
  package var width: Int {
    guard isTerminal else { return 200 }
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 79 }
    return Int(size.ws_col) - 1
  }

  /// Shows the status: in place of the one before on a terminal, as a line of its own elsewhere.
  package func status(_ text: String) {
    guard showsStatus else { return }
    state.withLock { state in
      Self.write(isTerminal ? "\r\u{1B}[K\(text)" : "\(text)\n", to: STDERR_FILENO)
      state.hasLiveLine = isTerminal
    }
  }

  /// Writes a line for people.
  package func note(_ text: String) { line(text, to: STDERR_FILENO) }

  /// Writes a line of data.
  package func output(_ text: String) { line(text, to: STDOUT_FILENO) }

  /// Leaves the live line as it is; what follows begins on a new one.
  package func endStatus() {
    state.withLock { state in
      if state.hasLiveLine { Self.write("\n", to: STDERR_FILENO) }
      state.hasLiveLine = false
    }
  }

  private func line(_ text: String, to descriptor: Int32) {
    state.withLock { state in
      // On a terminal both outputs are the same screen.
      if state.hasLiveLine {
        Self.write(descriptor == STDOUT_FILENO ? "\r\u{1B}[K" : "\n", to: STDERR_FILENO)
      }
      state.hasLiveLine = false
      Self.write(text + "\n", to: descriptor)
    }
  }

  /// Nobody is left to be told when a standard stream can't be written.
  private static func write(_ text: String, to descriptor: Int32) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }
}
