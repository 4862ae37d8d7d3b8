import SoraMedia

import SoraWire

/// Messages that wait for their first sending, by stream, and whose turn it is.
final class SendQueue {
  /// A part of a message that gets a TSN.
  struct Fragment {
    var message: Int32
    var offset: Int
    var count: Int
    var fragment: UInt32
    var flags: UInt8
  }

  private struct Stream {
    var waiting = Ring<Int32>()
    var nextOrdered: UInt32 = 0
    var nextUnordered: UInt32 = 0
    var priority: UInt16 = 256
    var buffered = 0
    var threshold = 0
    /// Virtual time at which it has had its share.
    var time: Int64 = 0
    /// Being reset: takes no more.
    var isClosing = false
  }

  private var streams = StreamTable<Stream> { _ in Stream() }
  private var schedule = StreamSchedule()
  /// The stream whose message is under way, where messages aren't interleaved.
  private var current: Int?
  private let messages: MessageStore
  private let events: EventQueue
  private let scheduler: SCTPStreamScheduler
  /// Bytes that wait for their first sending.
  private(set) var bytes = 0

  init(messages: MessageStore, events: EventQueue, scheduler: SCTPStreamScheduler) {
    self.messages = messages
    self.events = events
    self.scheduler = scheduler
  }

  var isEmpty: Bool { bytes == 0 }

  func append(_ slot: Int32) {
    let place = streams.reserve(messages[slot].stream)
    let count = messages[slot].payload.count
    if streams[place].waiting.isEmpty { schedule.insert(place, at: streams[place].time) }
    streams[place].waiting.append(slot)
    streams[place].buffered += count
    bytes += count
  }

  /// Whether a fragment can be cut that fits into `room` bytes: a message that fits into a packet isn't cut.
  ///
  /// Messages that are too old by now are given up before. Returns the bytes that the fragment will have; `nil` for none.
  func nextCount(room: Int, whole: Int, at nanoseconds: Int64) -> Int? {
    while let place = current ?? schedule.first {
      guard let slot = streams[place].waiting.first else { return nil }
      if messages[slot].isLimited, !messages[slot].isStarted,
        messages.isExpired(slot, at: nanoseconds)
      {
        messages.abandon(slot)
        removeHead(place)
        continue
      }
      let left = messages[slot].payload.count - messages[slot].offset
      if left <= room { return left }
      // The rest of a packet is filled with a long message's beginning, but not with crumbs.
      return left > whole && room >= min(whole, 256) ? room : nil
    }
    return nil
  }

  /// Whether the message whose turn it is has begun and is too old by now.
  func expiredHead(at nanoseconds: Int64) -> Int32? {
    guard let place = current ?? schedule.first, let slot = streams[place].waiting.first,
      messages[slot].isLimited, messages[slot].isStarted
    else { return nil }
    return messages.isExpired(slot, at: nanoseconds) ? slot : nil
  }

  /// Cuts off the next `count` bytes, which `nextCount` has said.
  func take(_ count: Int, tsn: Int64, interleaving: Bool) -> Fragment? {
    guard let place = current ?? schedule.first, let slot = streams[place].waiting.first else {
      return nil
    }
    var flags: UInt8 = messages[slot].isUnordered ? ChunkFlags.unordered : 0
    if !messages[slot].isStarted {
      flags |= ChunkFlags.beginning
      messages[slot].firstTSN = tsn
      messages[slot].number = number(place, isUnordered: messages[slot].isUnordered, interleaving)
    }
    let offset = messages[slot].offset
    let index = messages[slot].fragments
    messages[slot].offset = offset + count
    messages[slot].fragments = index &+ 1
    messages[slot].lastTSN = tsn
    messages.retain(slot)
    let isEnd = offset + count == messages[slot].payload.count
    if isEnd { flags |= ChunkFlags.end }
    charge(place, count, isEnd: isEnd, interleaving)
    lower(place, by: count)
    return Fragment(
      message: slot, offset: offset, count: count, fragment: index, flags: flags)
  }

  /// Takes what is left of a message out, whose beginning was sent. `true` if there was something.
  func drop(_ slot: Int32) -> Bool {
    guard let place = streams.place(of: messages[slot].stream),
      streams[place].waiting.first == slot
    else { return false }
    if current == place { current = nil }
    removeHead(place)
    return true
  }

  // MARK: - Streams

  func buffered(_ stream: UInt16) -> Int {
    streams.place(of: stream).map { streams[$0].buffered } ?? 0
  }

  func setThreshold(_ threshold: Int, of stream: UInt16) {
    let place = streams.reserve(stream)
    streams[place].threshold = max(0, threshold)
  }

  func setPriority(_ priority: UInt16, of stream: UInt16) {
    let place = streams.reserve(stream)
    streams[place].priority = max(1, priority)
  }

  /// Streams that don't count from 0, or will not when all that waits was sent.
  var used: [UInt16] {
    streams.indices.filter {
      streams[$0].nextOrdered > 0 || streams[$0].nextUnordered > 0 || !streams[$0].waiting.isEmpty
    }
    .map { streams.stream(at: $0) }
  }

  func isClosing(_ stream: UInt16) -> Bool {
    streams.place(of: stream).map { streams[$0].isClosing } ?? false
  }

  func setClosing(_ isClosing: Bool, _ stream: UInt16) {
    let place = streams.reserve(stream)
    streams[place].isClosing = isClosing
  }

  /// Counts a stream from 0 again, and opens it.
  func reset(_ stream: UInt16) {
    let place = streams.reserve(stream)
    streams[place].nextOrdered = 0
    streams[place].nextUnordered = 0
    streams[place].isClosing = false
  }

  /// Counts all streams from 0 again, and puts messages that weren't acknowledged, in this order, before those that wait: for an
  /// association that begins anew.
  func restart(with unacknowledged: [Int32]) {
    current = nil
    for place in streams.indices { reset(streams.stream(at: place)) }
    for slot in unacknowledged.reversed() {
      let place = streams.reserve(messages[slot].stream)
      let sent = messages[slot].offset
      let isQueued = streams[place].waiting.first == slot
      messages[slot].offset = 0
      messages[slot].fragments = 0
      if !isQueued {
        messages.retain(slot)
        streams[place].waiting.prepend(slot)
      }
      if !schedule.contains(place) { schedule.insert(place, at: streams[place].time) }
      streams[place].buffered += sent
      bytes += sent
    }
  }

  /// Gives up what waits on streams that the peer doesn't have.
  func removeStreams(from limit: UInt16) {
    for place in streams.indices where streams.stream(at: place) >= limit {
      while let slot = streams[place].waiting.first {
        messages.abandon(slot)
        if current == place { current = nil }
        removeHead(place)
      }
    }
  }

  // MARK: - Turns

  private func number(_ place: Int, isUnordered: Bool, _ interleaving: Bool) -> UInt32 {
    if isUnordered {
      guard interleaving else { return 0 }
      defer { streams[place].nextUnordered &+= 1 }
      return streams[place].nextUnordered
    }
    let number = streams[place].nextOrdered
    streams[place].nextOrdered = interleaving ? number &+ 1 : (number &+ 1) & 0xFFFF
    return number
  }

  private func charge(_ place: Int, _ count: Int, isEnd: Bool, _ interleaving: Bool) {
    let cost =
      scheduler == .weightedFair
      ? Int64(count) << 16 / Int64(streams[place].priority) : (isEnd || interleaving ? 1 : 0)
    if isEnd {
      if let slot = streams[place].waiting.popFirst() { messages.release(slot) }
    }
    // A stream that is in the middle of a message isn't in the schedule.
    let time = current == place ? streams[place].time : schedule.removeFirst()
    streams[place].time = time + cost
    current = isEnd || interleaving ? nil : place
    if current == nil, !streams[place].waiting.isEmpty {
      schedule.insert(place, at: streams[place].time)
    }
  }

  private func removeHead(_ place: Int) {
    guard let slot = streams[place].waiting.popFirst() else { return }
    let left = messages[slot].payload.count - messages[slot].offset
    messages.release(slot)
    if streams[place].waiting.isEmpty {
      schedule.remove(place)
    } else if !schedule.contains(place) {
      schedule.insert(place, at: streams[place].time)
    }
    lower(place, by: left)
  }

  private func lower(_ place: Int, by count: Int) {
    let before = streams[place].buffered
    streams[place].buffered = before - count
    bytes -= count
    let threshold = streams[place].threshold
    if before > threshold, before - count <= threshold {
      events.append(.bufferedAmountLow(stream: streams.stream(at: place)))
    }
  }
}
