import Foundation
import Synchronization

/// Why standard output can't be written any more.
package enum OutputFailure: Error, Equatable, Sendable {
  /// Who read it has gone: no reason to say anything.
  case readerGone
  /// What the system says.
  case failed(String)
}

/// Standard output for data, standard error for people. Safe from any thread; writes whole lines at once.
package final class Console: Sendable {
  private struct State {
    /// Lines of the status that stand on the terminal.
    var liveLines = 0
    var failure: OutputFailure?
    var onFailure: [@Sendable () -> Void] = []
  }

  package let showsStatus: Bool
  package let isTerminal: Bool
  private let state = Mutex(State())
  private let outputDescriptor: Int32
  private let errorDescriptor: Int32

  /// - Parameters:
  ///   - isJSON: whether standard output carries JSON lines; then the status is for terminals only.
  ///   - output: the descriptor of standard output.
  ///   - errors: the descriptor of standard error.
  package init(
    isJSON: Bool, output: Int32 = STDOUT_FILENO, errors: Int32 = STDERR_FILENO
  ) {
    // What can't be written is an error of the call that writes.
    signal(SIGPIPE, SIG_IGN)
    outputDescriptor = output
    errorDescriptor = errors
    isTerminal = isatty(errors) == 1
    showsStatus = isTerminal || !isJSON
  }

  /// Columns of the terminal.
  package var width: Int { size.map { $0.columns - 1 } ?? (isTerminal ? 79 : 200) }

  /// Lines of the terminal.
  package var height: Int { size?.lines ?? (isTerminal ? 24 : 200) }

  private var size: (columns: Int, lines: Int)? {
    guard isTerminal else { return nil }
    var size = winsize()
    guard unsafe ioctl(errorDescriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0,
      size.ws_row > 0
    else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Shows the status: in place of the one before on a terminal, as lines of its own elsewhere.
  package func status(_ lines: [String]) {
    guard showsStatus, !lines.isEmpty else { return }
    state.withLock { state in
      let text = lines.joined(separator: "\n")
      guard isTerminal else {
        _ = Self.write(text + "\n", to: errorDescriptor)
        return
      }
      _ = Self.write(Self.erasing(state.liveLines) + text, to: errorDescriptor)
      state.liveLines = lines.count
    }
  }

  /// Writes a line for people.
  package func note(_ text: String) {
    state.withLock { state in
      let end = state.liveLines > 0 ? "\n" : ""
      state.liveLines = 0
      _ = Self.write("\(end)\(text)\n", to: errorDescriptor)
    }
  }

  /// Writes a line of data; nothing any more once that has failed.
  package func output(_ text: String) {
    let handlers = state.withLock { state -> [@Sendable () -> Void] in
      guard state.failure == nil else { return [] }
      // On a terminal both outputs are the same screen.
      if state.liveLines > 0 {
        _ = Self.write(Self.erasing(state.liveLines), to: errorDescriptor)
        state.liveLines = 0
      }
      guard let failure = Self.write(text + "\n", to: outputDescriptor) else { return [] }
      return Self.note(failure, &state)
    }
    for handler in handlers { handler() }
  }

  /// Leaves the live lines as they are; what follows begins on a new one.
  package func endStatus() {
    state.withLock { state in
      if state.liveLines > 0 { _ = Self.write("\n", to: errorDescriptor) }
      state.liveLines = 0
    }
  }

  // MARK: When nobody can be told

  /// Why standard output can't be written any more; nil while it can.
  package var outputFailure: OutputFailure? { state.withLock { $0.failure } }

  /// Calls `handler` once, from any thread, when standard output can't be written any more, and watches for its reader to
  /// go: also while there is nothing to write.
  package func onOutputFailure(_ handler: @escaping @Sendable () -> Void) {
    let (isFirst, hasFailed) = state.withLock { state in
      let isFirst = state.onFailure.isEmpty
      if state.failure == nil { state.onFailure.append(handler) }
      return (isFirst, state.failure != nil)
    }
    if hasFailed { return handler() }
    if isFirst { watchReader() }
  }

  /// - Throws: `JobError` where standard output couldn't be written, unless its reader has gone: that is no failure.
  package func checkOutput() throws(JobError) {
    guard case .failed(let reason) = outputFailure else { return }
    throw JobError("output: cannot write to standard output: \(reason)")
  }

  /// Only of a pipe or a socket the system tells that nobody reads.
  private func watchReader() {
    var status = stat()
    guard unsafe fstat(outputDescriptor, &status) == 0,
      [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
    else { return }
    Thread.detachNewThread { [self] in
      var watched = pollfd(fd: outputDescriptor, events: 0, revents: 0)
      var count: Int32
      repeat { count = unsafe poll(&watched, 1, -1) } while count < 0 && errno == EINTR
      guard count > 0, watched.revents & Int16(POLLERR | POLLHUP) != 0 else { return }
      let handlers = state.withLock { Self.note(.readerGone, &$0) }
      for handler in handlers { handler() }
    }
  }

  private static func note(
    _ failure: OutputFailure, _ state: inout State
  ) -> [@Sendable () -> Void] {
    guard state.failure == nil else { return [] }
    state.failure = failure
    defer { state.onFailure = [] }
    return state.onFailure
  }

  /// What takes so many live lines from a terminal.
  private static func erasing(_ lines: Int) -> String {
    switch lines {
    case 0: ""
    case 1: "\r\u{1B}[J"
    default: "\r\u{1B}[\(lines - 1)A\u{1B}[J"
    }
  }

  /// Writes all of `text`. Returns why that failed; nil when it didn't.
  package static func write(_ text: String, to descriptor: Int32) -> OutputFailure? {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Foundation.write(descriptor, $0.baseAddress, $0.count)
      }
      guard count <= 0 else {
        bytes = bytes.dropFirst(count)
        continue
      }
      let error = errno
      if count < 0, error == EINTR { continue }
      if count < 0, error == EAGAIN {
        // Somebody else has made it non-blocking.
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&waiting, 1, -1)
        continue
      }
      return error == EPIPE
        ? .readerGone
        : .failed(unsafe String(cString: strerror(error)))
    }
    return nil
  }
}
