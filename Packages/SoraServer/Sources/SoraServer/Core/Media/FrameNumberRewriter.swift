import SoraRTP

/// Numbers of frames in dependency descriptors towards one subscriber: they go on over changes of the publisher's source. Frames that
/// are left out keep theirs, for descriptors name others by how many numbers lie between. Plain memory.
package struct FrameNumberRewriter {
  /// What the numbers of the publisher's present source are moved by.
  package private(set) var shift: UInt16 = 0
  /// Of the packet that went on last; nil before the first that has one.
  private var newest: UInt16?
  /// The newest one that has left.
  private var sent: UInt16?
  private var isRebased = false

  package init() {}

  /// The publisher's source changed.
  ///
  /// - Parameter withdraws: whether what hasn't left won't: its numbers are free.
  package mutating func rebase(withdraws: Bool = false) {
    isRebased = true
    if withdraws, let sent { newest = sent }
  }

  /// A packet has left.
  ///
  /// - Parameter number: the subscriber's.
  package mutating func left(_ number: UInt16) {
    if sent.map({ sequenceNumber(number, isNewerThan: $0) }) ?? true { sent = number }
  }

  /// The newest packet of the source is about to go on: the first of a source is the next frame.
  ///
  /// - Parameter number: the publisher's.
  package mutating func advance(to number: UInt16) {
    if isRebased {
      isRebased = false
      if let newest { shift = newest &+ 1 &- number }
    }
    newest = number &+ shift
  }
}
