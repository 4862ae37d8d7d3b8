/// The streams that a session sends, and where sources go on that were sent before. Confined to its session.
struct SendStreamTable {
  private(set) var streams: [RTPSendStream] = []
  /// By index, so that a pacer token finds its stream; an index is never used twice.
  private var slots: [RTPSendStream?] = []
  /// Of sources that were sent and aren't any more.
  private var places: [UInt32: SourcePlace] = [:]

  /// The index of the next stream.
  var nextIndex: Int { slots.count }

  /// The stream with an index; nil once it has ended.
  subscript(index: Int) -> RTPSendStream? { index < slots.count ? slots[index] : nil }

  func stream(ssrc: UInt32) -> RTPSendStream? {
    for stream in streams where stream.parameters.ssrc == ssrc { return stream }
    return nil
  }

  func stream(of sender: RTPTrackSender) -> RTPSendStream? {
    streams.first { $0.sender === sender }
  }

  /// Whether media or retransmissions are sent from a source.
  func sends(from ssrc: UInt32) -> Bool {
    streams.contains { $0.parameters.ssrc == ssrc || $0.parameters.rtx?.ssrc == ssrc }
  }

  /// Adds a stream with the next index, which goes on where its sources ended.
  mutating func add(_ stream: RTPSendStream) {
    stream.resume(at: places)
    streams.append(stream)
    slots.append(stream)
  }

  /// Ends a stream. False where it had ended.
  mutating func remove(_ stream: RTPSendStream) -> Bool {
    guard let position = streams.firstIndex(where: { $0 === stream }) else { return false }
    streams.remove(at: position)
    slots[stream.index] = nil
    places.merge(stream.places) { _, new in new }
    return true
  }
}
