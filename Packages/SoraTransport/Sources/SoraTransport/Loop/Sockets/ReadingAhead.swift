/// Which socket a loop reads before it asks epoll again.
///
/// Where packets come one by one without a pause, as those of one busy connection do, the wait is a system call that ends
/// at once and says what is known: a seventh of what such a packet costs. So a socket that alone had something is read
/// directly, until it has nothing or the others must be asked.
package struct ReadingAhead<Socket: AnyObject> {
  /// Turns in a row without asking about others.
  package static var longestRow: Int { 8 }
  /// Turns that wait after a vain attempt, at most: a socket between whose packets time passes isn't read in vain each
  /// time.
  package static var longestPause: Int { 64 }

  private var last: Socket?
  /// Datagrams that it may still deliver: the bound for one turn covers all that the others wait for.
  package private(set) var left = 0
  private var row = 0
  private var pause = 0
  private var nextPause = 1

  package init() {}

  /// The socket to read now.
  package var candidate: Socket? {
    pause == 0 && row < Self.longestRow && left > 0 ? last : nil
  }

  /// Epoll has been asked.
  package mutating func waited() {
    if pause > 0 { pause -= 1 }
    last = nil
    row = 0
  }

  /// It named nobody but `socket`, which may still deliver `left` datagrams before the others are asked.
  package mutating func found(only socket: Socket, left: Int) {
    last = socket
    self.left = left
  }

  /// The candidate was read and delivered so many.
  package mutating func read(_ datagrams: Int) {
    left -= datagrams
    row += 1
    if datagrams > 0 {
      nextPause = 1
    } else {
      pause = nextPause
      nextPause = min(Self.longestPause, nextPause * 2)
    }
  }

  /// `socket` is being closed.
  package mutating func forget(_ socket: Socket) {
    if last === socket { last = nil }
  }
}
