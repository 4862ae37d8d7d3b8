import Foundation

/// The three files that a process expects to find open.
package enum StandardStreams {
  /// Makes sure that no socket or file gets the number of one that the caller has closed: what is printed would go there. Printing to it
  /// fails then, as it should. Writing to a pipe that nobody reads fails too, and no longer ends the process.
  package static func prepare() {
    signal(SIGPIPE, SIG_IGN)
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
      // The lowest number that is free: the one that is missing.
      _ = unsafe open("/dev/null", O_RDONLY)
    }
  }
}
