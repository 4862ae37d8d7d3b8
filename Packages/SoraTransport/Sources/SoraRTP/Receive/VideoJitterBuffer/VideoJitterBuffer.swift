public import SoraMedia

/// Puts the packets of one video stream back into frames and hands these out in decode order, at the right time.
///
/// Feed it every packet with `insert`, then call `nextFrame(at:)` until it returns `nil`, and again at
/// `nextDeadline`. Ask `takeKeyFrameRequest(at:)` after each round whether the sender must be asked for a key frame.
/// Each payload is copied once, into its frame; packets that come before their turn are copied twice. Memory is
/// bounded. Sans-I/O, confined to its owner.
public final class VideoJitterBuffer {
  public struct Configuration: Sendable {
    /// The least playout delay.
    public var minimumDelay = Duration.zero
    /// The most playout delay.
    public var maximumDelay = Duration.milliseconds(500)
    /// How long before its render time a frame is handed out, for decoding.
    public var decodeLead = Duration.milliseconds(10)
    /// The largest payload that may come out of order.
    public var maximumPayload = 1500
    /// Frames held at the same time.
    public var maximumFrames = 256

    public init() {}
  }

  let configuration: Configuration
  public internal(set) var statistics = VideoJitterBufferStatistics()
  /// The format of the frame that `nextFrame(at:)` returned last.
  public var currentFormat: (any RTPPayloadFormat)? { formats.current }

  var formats = PayloadTypeMap()
  private var dependencyReader = DependencyReader()
  private var window = ArrivalWindow()
  private var timestampExtender = TimestampExtender()
  private var pool = FrameBufferPool()

  var stash: PacketStash
  /// Frames in order of their sequence numbers.
  var frames: [FrameAssembly] = []
  var timing: PlayoutTiming
  var continuity = DecodeContinuity()
  var wait = RetransmissionWait(roundTrip: .milliseconds(100))
  var keyFrameTimer = KeyFrameRequestTimer()
  var rotation = VideoRotation.none
  /// When a frame is due, or has been waited for.
  var releaseDeadline: Instant?
  /// When `nextFrame(at:)` or `takeKeyFrameRequest(at:)` has something to do without new packets; `nil` if only packets help.
  public var nextDeadline: Instant? { earliest(releaseDeadline, keyFrameTimer.deadline) }

  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
    stash = PacketStash(
      window: ArrivalWindow.size, slotSize: max(64, configuration.maximumPayload),
      maximumSlots: ArrivalWindow.size)
    timing = PlayoutTiming(
      clockRate: 90_000, minimum: configuration.minimumDelay, maximum: configuration.maximumDelay)
    frames.reserveCapacity(32)
  }

  /// Packets with `payloadType` carry `format`, a video format with a 90 kHz clock; `nil` takes it back.
  public func setFormat(_ format: (any RTPPayloadFormat)?, payloadType: UInt8) {
    formats.set(format, payloadType: payloadType)
  }

  /// The round-trip time to the sender, which says how long waiting for a retransmission makes sense.
  public func setRoundTrip(_ value: Duration) {
    wait.setRoundTrip(value)
  }

  /// Keeps frames back for at least so long, counted from the fastest frames: the configuration's least or this, whichever is more.
  public func setMinimumDelay(_ value: Duration) {
    timing.setMinimum(max(configuration.minimumDelay, value))
  }

  /// Keeps frames back for so long, counted from the fastest frames, whatever recent jitter asks for: what comes later is shown when it
  /// comes, and with zero nothing is waited for that isn't missing. May be more than the configuration's most, as far as frames and
  /// packets can be held. `nil`, as in the beginning, follows recent jitter.
  public func setTargetDelay(_ value: Duration?) {
    timing.setTarget(value)
  }

  /// The playout delay in use: how much later than the fastest frames a frame is shown.
  public var playoutDelay: Duration { .nanoseconds(timing.delay) }

  /// The playout delay that recent jitter asks for, or `setTargetDelay`.
  public var targetDelay: Duration { .nanoseconds(timing.target) }

  /// The first sequence number that is still of use; earlier ones needn't be asked for again.
  public var oldestUsefulSequenceNumber: UInt16? {
    continuity.lastDone.map { UInt16(truncatingIfNeeded: $0 &+ 1) }
  }

  /// Takes one packet. `payload` is what `header` delimits, lent for the call; packets restored from
  /// retransmissions say so. `rotation` is the packet's video orientation, if it carried one, and `dependencyDescriptor` the
  /// content of that extension, or empty.
  public func insert(
    _ header: RTPHeader, payload: RawSpan, isRetransmission: Bool = false,
    rotation: VideoRotation? = nil,
    dependencyDescriptor: RawSpan = RawSpan(),
    at now: Instant
  ) {
    statistics.packetsReceived += 1
    guard let sequence = place(header.sequenceNumber, isRetransmission) else { return }
    guard !window.contains(sequence) else {
      statistics.packetsDiscarded.duplicate += 1
      return
    }
    if let lastDone = continuity.lastDone, sequence <= lastDone {
      statistics.packetsDiscarded.late += 1
      return
    }
    if payload.isEmpty {
      window.insertPadding(sequence)
      statistics.paddingPackets += 1
      closePadding(after: sequence, now)
      return
    }
    guard let depayloader = formats.depayloader(payloadType: header.payloadType) else {
      statistics.packetsDiscarded.unknownFormat += 1
      return
    }
    var info: RTPPayloadInfo
    do throws(RTPError) {
      info = try depayloader.parse(payload, marker: header.marker)
    } catch {
      statistics.packetsDiscarded.malformed += 1
      return
    }
    if dependencyDescriptor.byteCount > 0,
      !dependencyReader.read(dependencyDescriptor, into: &info)
    {
      statistics.unreadableDependencyDescriptors += 1
    }
    guard makeRoom(for: sequence) else {
      statistics.packetsDiscarded.overflow += 1
      return
    }
    window.insert(sequence)
    let index = frameIndex(header, sequence, info, now)
    let gapSince =
      frames[index].packetCount > 0
      ? frames[index].gapSince : index + 1 < frames.count ? frames[index + 1].firstArrival : nil
    frames[index].hasRetransmission = frames[index].hasRetransmission || isRetransmission
    if let rotation { frames[index].rotation = rotation }
    add(payload, info, sequence, to: index, depayloader, now)
    if let gapSince, frames[index].gapSince == nil {
      wait.recovered(after: now.nanoseconds(since: gapSince))
    }
    // The packet may show that the one behind it is the first of its frame.
    if index + 1 < frames.count { findStart(index + 1, now) }
    noteCompletion(index, now)
    if index > 0 { noteCompletion(index - 1, now) }
  }

  /// Extends the sequence number; `nil` when the packet is to be ignored.
  private func place(_ number: UInt16, _ isRetransmission: Bool) -> Int64? {
    switch window.place(number, isRetransmission: isRetransmission) {
    case .inside(let sequence): return sequence
    case .late: statistics.packetsDiscarded.late += 1
    case .jump: statistics.packetsDiscarded.jump += 1
    case .restart(let sequence):
      restart()
      return sequence
    }
    return nil
  }

  /// The source began anew with other numbers.
  private func restart() {
    statistics.restarts += 1
    dropFrames(frames.count)
    stash.removeAll()
    timestampExtender = TimestampExtender()
    dependencyReader = DependencyReader()
    continuity = DecodeContinuity()
    keyFrameTimer.forgetRequest()
    timing.restart()
  }

  /// Drops old frames until the window and the frame limit admit `sequence`; false if it is itself too old.
  private func makeRoom(for sequence: Int64) -> Bool {
    while let head = frames.first,
      sequence - head.extent.lowest >= Int64(ArrivalWindow.size)
        || frames.count >= configuration.maximumFrames
    {
      dropHead()
      continuity.breakOff()
    }
    if let last = frames.last, last.extent.highest - sequence >= Int64(ArrivalWindow.size) {
      return false
    }
    return continuity.lastDone.map { sequence > $0 } ?? true
  }

  /// The frame that the packet belongs to, made when it is the first of it.
  private func frameIndex(
    _ header: RTPHeader, _ sequence: Int64, _ info: RTPPayloadInfo, _ now: Instant
  ) -> Int {
    var index = frames.count
    while index > 0 {
      let frame = frames[index - 1]
      if frame.rtpTimestamp == header.timestamp, frame.payloadType == header.payloadType {
        return index - 1
      }
      if frame.extent.lowest < sequence { break }
      index -= 1
    }
    frames.insert(
      FrameAssembly(
        header: header, timestamp: timestampExtender.extend(header.timestamp), sequence: sequence,
        info: info, at: now), at: index)
    return index
  }

  private func add(
    _ payload: RawSpan, _ info: RTPPayloadInfo, _ sequence: Int64, to index: Int,
    _ depayloader: any RTPDepayloader, _ now: Instant
  ) {
    frames[index].extent.insert(sequence, isEnd: info.isFrameEnd)
    frames[index].packetCount += 1
    if !frames[index].extent.isStarted,
      info.isFrameStart || (info.mayBeFrameStart && isBehindOtherFrame(sequence, index))
    {
      start(index, at: sequence, info)
    }
    guard frames[index].extent.isStarted, frames[index].extent.next == sequence,
      let buffer = frames[index].buffer
    else {
      if frames[index].gapSince == nil { frames[index].gapSince = now }
      if stash.insert(payload, info: info, sequence: sequence) {
        statistics.stashCopies += 1
        statistics.bytesCopied += UInt64(payload.byteCount)
      } else {
        // Forget that it came, so that a retransmission is welcome.
        window.remove(sequence)
        statistics.packetsDiscarded.overflow += 1
      }
      if frames[index].extent.isStarted, sequence < frames[index].extent.first {
        growForward(index, depayloader)
      }
      return
    }
    append(payload, info, to: buffer, index, depayloader)
    frames[index].extent.advance()
    drain(index, buffer, depayloader)
  }

  private func start(_ index: Int, at sequence: Int64, _ info: RTPPayloadInfo) {
    frames[index].extent.start(at: sequence)
    frames[index].info = info
    frames[index].buffer = pool.take(
      isKeyFrame: info.isKeyFrame || info.parts.contains(.sequenceParameters))
  }

  /// Puts stashed packets in front of a frame that was started at a later one: where a frame begins can only be guessed
  /// while its parameter sets haven't come.
  private func growForward(_ index: Int, _ depayloader: any RTPDepayloader) {
    guard let old = frames[index].buffer, !frames[index].parts.isEmpty else { return }
    let end = frames[index].extent.first
    var first = end
    while first > frames[index].extent.lowest,
      unsafe stash.find(first - 1) != nil || isEmpty(first - 1)
    {
      first -= 1
    }
    guard first < end else { return }
    let buffer = pool.take(isKeyFrame: true)
    for sequence in first..<end {
      guard let (payload, info) = unsafe stash.find(sequence) else { continue }
      unsafe append(payload.bytes, info, to: buffer, index, depayloader)
      stash.remove(sequence)
    }
    buffer.mark = old.mark > 0 ? old.mark + buffer.count : 0
    buffer.append(old.span)
    statistics.bytesCopied += UInt64(old.count)
    frames[index].extent.grow(to: first)
    frames[index].buffer = buffer
    if frames[index].extent.hasNoGap { frames[index].gapSince = nil }
  }

  /// Whether the packet before `sequence`, padding left out, is known and none of frame `index`.
  private func isBehindOtherFrame(_ sequence: Int64, _ index: Int) -> Bool {
    guard frames[index].extent.lowest >= sequence else { return false }
    var previous = sequence - 1
    while isEmpty(previous) { previous -= 1 }
    if let lastDone = continuity.lastDone, previous <= lastDone { return true }
    return window.contains(previous)
  }

  /// Starts a frame whose first packet came before it was known to be the first.
  private func findStart(_ index: Int, _ now: Instant) {
    let frame = frames[index]
    guard !frame.extent.isStarted, let (_, info) = unsafe stash.find(frame.extent.lowest),
      info.mayBeFrameStart, isBehindOtherFrame(frame.extent.lowest, index),
      let depayloader = formats.depayloader(payloadType: frame.payloadType)
    else { return }
    start(index, at: frame.extent.lowest, info)
    if let buffer = frames[index].buffer { drain(index, buffer, depayloader) }
    noteCompletion(index, now)
  }

  /// Appends what was stashed behind the packet that has just come.
  private func drain(_ index: Int, _ buffer: EncodedBuffer, _ depayloader: any RTPDepayloader) {
    while !frames[index].extent.hasNoGap {
      let sequence = frames[index].extent.next
      if let (payload, info) = unsafe stash.find(sequence) {
        unsafe append(payload.bytes, info, to: buffer, index, depayloader)
        stash.remove(sequence)
      } else if !isEmpty(sequence) {
        return
      }
      frames[index].extent.advance()
    }
    frames[index].gapSince = nil
  }

  private func append(
    _ payload: RawSpan, _ info: RTPPayloadInfo, to buffer: EncodedBuffer,
    _ index: Int, _ depayloader: any RTPDepayloader
  ) {
    let before = buffer.count
    depayloader.append(payload, info: info, to: buffer)
    frames[index].appended(info)
    statistics.payloadCopies += 1
    statistics.bytesCopied += UInt64(buffer.count - before)
  }

  /// A padding packet may be what a frame was waiting for.
  private func closePadding(after sequence: Int64, _ now: Instant) {
    for index in frames.indices where frames[index].extent.isStarted && !frames[index].isComplete {
      guard frames[index].extent.next <= sequence, let buffer = frames[index].buffer,
        let depayloader = formats.depayloader(payloadType: frames[index].payloadType)
      else { continue }
      drain(index, buffer, depayloader)
      noteCompletion(index, now)
    }
    for index in frames.indices where frames[index].extent.lowest > sequence {
      findStart(index, now)
      break
    }
  }

  /// Whether a packet without content arrived with this number.
  func isEmpty(_ sequence: Int64) -> Bool {
    window.isPadding(sequence)
  }

  /// Frames before the head are done with: its first packet is known now.
  func findStartOfHead(_ now: Instant) {
    if let head = frames.first, !head.extent.isStarted { findStart(0, now) }
  }

  private func noteCompletion(_ index: Int, _ now: Instant) {
    let frame = frames[index]
    let following = index + 1 < frames.count ? frames[index + 1].extent : nil
    guard !frame.isComplete, frame.extent.isWhole(before: following) else { return }
    frames[index].isComplete = true
    statistics.framesReceived += 1
    if frame.packetCount > 1 { statistics.framesAssembledFromMultiplePackets += 1 }
    if frame.info.isKeyFrame { statistics.keyFramesReceived += 1 }
    statistics.totalAssemblyTime += .nanoseconds(now.nanoseconds(since: frame.firstArrival))
    pool.note(size: frame.buffer?.count ?? 0, isKeyFrame: frame.info.isKeyFrame)
    timing.frameCompleted(
      timestamp: frame.timestamp, isTypical: !frame.hasRetransmission, at: now)
  }
}
