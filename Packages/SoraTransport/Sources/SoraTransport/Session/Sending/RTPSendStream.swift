import SoraMedia
public import SoraRTP

/// Where a source that isn't sent any more goes on when it is again.
struct SourcePlace {
  /// The next sequence number. SRTP takes each of a source's once, and none behind its window (RFC 3711 §3.3.2): one that began anew with
  /// the same key would be refused for minutes.
  var number: UInt16
  var timestampOffset: UInt32 = 0
}

/// One outgoing stream of a client: cuts frames into the packets of a source, and keeps them for retransmission.
///
/// Made by `RTPSession.addSendStream`; confined as the session is.
public final class RTPSendStream {
  public typealias Statistics = RTPTrackSender.Statistics
  public typealias RemoteReport = RTPTrackSender.RemoteReport

  public internal(set) var parameters: RTPSendParameters
  /// The source as its parameters named it first. A collision (RFC 3550 §8.2) changes the one in `parameters`.
  public let describedSSRC: UInt32
  let sender: RTPTrackSender
  public var statistics: Statistics { sender.statistics }
  /// What the receiver last reported.
  public var remote: RemoteReport { sender.remote }
  /// Bytes of a packet at most, before SRTP: what fits an IPv6 path of 1,280 bytes with room to spare.
  static let maximumPacket = 1180
  /// Bytes of a packet's payload at most: 12 bytes of header and at most 36 of extensions go before it, and a packet's
  /// retransmission is two bytes longer.
  public static let maximumPayload = maximumPacket - 50

  /// Position in the session; part of the pacer's tokens.
  let index: Int
  let history: PacketHistory
  /// Makes repair packets, where they were negotiated.
  private(set) var repair: RepairSender?
  /// What became of stored packets.
  public var historyStatistics: PacketHistory.Statistics { history.statistics }
  var padding = PaddingCursor()
  /// Plays keys of a telephone in the place of audio, where that was negotiated.
  var tones: TelephoneEventSender?
  /// When the key began that is told, on the stream's clock: the same for all its packets, whatever audio frames say meanwhile.
  private var toneTimestamp: UInt32 = 0
  /// When the owner is to be told that the receiver wants a key frame.
  var keyFrameDemand = KeyFrameDemand()
  private var payloader: any RTPPayloader
  /// Where its extension was negotiated, and the codec's payloads are each of one layer.
  private var dependencies: DependencyDescriptorSender?
  private var hasRotated = false
  private var sequenceNumber: UInt16
  private var clock: RTPStreamClock

  /// - Parameter cname: RTCP's name of the endpoint.
  init?(_ parameters: RTPSendParameters, index: Int, cname: String, random: RandomSource) {
    guard let payloader = Self.makePayloader(parameters, random) else { return nil }
    self.parameters = parameters
    describedSSRC = parameters.ssrc
    self.index = index
    self.payloader = payloader
    // RFC 3550 §5.1: both start at random; the low half keeps the first wrap away from loss of the first packets.
    sequenceNumber = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    sender = RTPTrackSender(parameters.ofSource(cname: cname), random: random)
    clock = RTPStreamClock(offset: UInt32(truncatingIfNeeded: random.next()))
    history = PacketHistory(capacity: parameters.kind == .audio ? 128 : 1024)
    setDependencies(random)
    setRepair(random)
  }

  /// Where its sources go on when they are sent again, by source.
  var places: [UInt32: SourcePlace] {
    var places = [
      parameters.ssrc: SourcePlace(number: sequenceNumber, timestampOffset: clock.offset)
    ]
    if let rtx = parameters.rtx { places[rtx.ssrc] = SourcePlace(number: sender.rtxNumber) }
    if let repair, case .flexible(let ssrc, _)? = parameters.repair {
      places[ssrc] = SourcePlace(number: repair.number)
    }
    return places
  }

  /// Goes on with sources that were sent before.
  func resume(at places: [UInt32: SourcePlace]) {
    if let place = places[parameters.ssrc] {
      sequenceNumber = place.number
      clock.resume(at: place.timestampOffset)
    }
    if let rtx = parameters.rtx, let place = places[rtx.ssrc] { sender.rtxNumber = place.number }
    if case .flexible(let ssrc, _)? = parameters.repair, let place = places[ssrc] {
      repair?.number = place.number
    }
  }

  private func setRepair(_ random: RandomSource) {
    guard let kind = parameters.repair, parameters.kind == .video else {
      repair = nil
      return
    }
    if repair?.kind != kind {
      repair = RepairSender(
        kind, ssrc: parameters.ssrc, maximumPayload: Self.maximumPacket, random: random)
    }
  }

  /// Goes on as another source (RFC 3550 §8.2): what is sent from now on has its name, and tells the receiver what it is.
  func change(ssrc: UInt32) {
    parameters.ssrc = ssrc
    sender.begin(as: ssrc)
    repair?.change(ssrc: ssrc)
  }

  /// Sends retransmissions from another source.
  func change(rtxSSRC ssrc: UInt32) {
    parameters.rtx?.ssrc = ssrc
    sender.parameters.rtx?.ssrc = ssrc
  }

  /// A stream that is described at all is so from a key frame on.
  private func setDependencies(_ random: RandomSource) {
    guard parameters.extensions.dependencyDescriptor != nil, payloader.tellsLayerParts else {
      dependencies = nil
      return
    }
    if dependencies == nil { dependencies = DependencyDescriptorSender(random: random) }
  }

  /// Takes over the outcome of a later negotiation.
  func update(_ new: RTPSendParameters, random: RandomSource) {
    let old = self.parameters
    var parameters = new
    // Changed since a collision, of which the description may not know yet.
    parameters.ssrc = old.ssrc
    if let rtx = old.rtx { parameters.rtx?.ssrc = rtx.ssrc }
    if parameters.codecName != old.codecName
      || parameters.formatParameters != old.formatParameters
      || parameters.redundancy != old.redundancy
      || parameters.redundancy != nil && parameters.payloadType != old.payloadType
    {
      // A codec that can't be cut into packets leaves the stream as it was.
      guard let payloader = Self.makePayloader(parameters, random) else { return }
      self.payloader = payloader
    }
    self.parameters = parameters
    sender.parameters = parameters.ofSource(cname: sender.parameters.cname)
    setDependencies(random)
    setRepair(random)
  }

  private static func makePayloader(
    _ parameters: RTPSendParameters, _ random: RandomSource
  ) -> (any RTPPayloader)? {
    guard
      let format = RTPPayloadFormats.named(
        parameters.codecName, parameters: parameters.formatParameters)
    else { return nil }
    guard let redundancy = parameters.redundancy, parameters.kind == .audio else {
      return format.makePayloader(random: random)
    }
    return REDPayloadFormat(
      primaryPayloadType: parameters.payloadType, redundancy: redundancy.copies,
      clockRate: parameters.clockRate
    ).makePayloader(random: random)
  }

  /// Cuts a frame into packets in the history.
  ///
  /// - Parameter enqueue: called for each packet with its token and size.
  func packetize(
    _ frame: EncodedFrame, level: RTPAudioLevel?, at now: Instant,
    enqueue: (_ token: PacketToken, _ size: Int) -> Void
  ) {
    var values = sender.namingValues
    if parameters.feedback != .bySource { values.transportSequenceNumber = 0 }
    values.absSendTime = 0
    values.audioLevel = level
    // 3GPP TS 26.114 §7.4.5: receivers keep the last orientation, so the way back has to be told too.
    if parameters.kind == .video, hasRotated || frame.rotation != .none {
      hasRotated = true
      values.videoOrientation = frame.rotation
    }
    let timestamp = frame.rtpTimestamp &+ clock.offset
    if tones?.isSounding == true {
      // A pressed key is told in its place. Its clock goes on.
      clock.noteFrame(timestamp, at: frame.timestamp)
      return
    }
    // The descriptor with its own header, and a longer one for each of seven others where it needs the two-byte form.
    let longest = dependencies?.begin(frame) ?? 0
    let maximumPayload =
      Self.maximumPayload - (longest > 0 ? longest + 12 : 0)
      - (repair == nil ? 0 : RepairSender.overhead)
    repair?.note(sender.remote)
    guard payloader.begin(frame, maximumPayload: maximumPayload) > 0 else {
      sender.counters.framesDropped &+= 1
      return
    }
    while true {
      let number = sequenceNumber
      let slot = unsafe history.reserve(sequenceNumber: number)
      var writer = unsafe RTPPacketWriter(into: slot)
      let header = RTPHeader(
        payloadType: outerPayloadType, sequenceNumber: number, timestamp: timestamp,
        ssrc: parameters.ssrc)
      guard write(header, values, to: &writer) else {
        sender.counters.framesDropped &+= 1
        return
      }
      startBlock(parameters.payloadType, &writer)
      guard let part = unsafe payloader.next(into: writer.free) else { break }
      writer.advance(by: part.count)
      unsafe RTPPacket.setMarker(part.marker, in: slot)
      history.commit(sequenceNumber: number, count: writer.count, at: now)
      sequenceNumber &+= 1
      enqueue(PacketToken(stream: index, number: number), writer.count)
      protect(number, timestamp, at: now, enqueue)
    }
    if repair?.frameEnds() == true { sendRepairs(timestamp, at: now, enqueue) }
    clock.noteFrame(timestamp, at: frame.timestamp)
    sender.counters.framesSent &+= 1
    if frame.isKeyFrame {
      sender.counters.keyFramesSent &+= 1
      keyFrameDemand.keyFrameLeaves(at: now)
    }
  }

  // MARK: Telephone events

  /// Puts a report on a key into a packet of its own (RFC 4733 §2.5.1), in the history, with the timestamp of its segment's beginning.
  ///
  /// - Parameters:
  ///   - report: what the packet says.
  ///   - payloadType: that of telephone events.
  ///   - isFirst: sets the marker.
  ///   - start: when the event began.
  ///   - segment: ticks from there to the beginning of the segment.
  ///   - now: the present time.
  ///   - enqueue: called with the packet's token and size.
  func packetize(
    _ report: TelephoneEvent, payloadType: UInt8, isFirst: Bool, start: Instant, segment: UInt32,
    at now: Instant, enqueue: (_ token: PacketToken, _ size: Int) -> Void
  ) {
    var values = sender.namingValues
    if parameters.feedback != .bySource { values.transportSequenceNumber = 0 }
    values.absSendTime = 0
    if isFirst { toneTimestamp = clock.timestamp(at: start, rate: parameters.clockRate) }
    let number = sequenceNumber
    let slot = unsafe history.reserve(sequenceNumber: number)
    var writer = unsafe RTPPacketWriter(into: slot)
    let header = RTPHeader(
      payloadType: payloadType, sequenceNumber: number, timestamp: toneTimestamp &+ segment,
      ssrc: parameters.ssrc, marker: isFirst)
    guard write(header, values, to: &writer),
      unsafe writer.free.count >= TelephoneEvent.byteCount
    else { return }
    for (place, byte) in report.bytes.enumerated() { unsafe writer.free[place] = byte }
    writer.advance(by: TelephoneEvent.byteCount)
    history.commit(sequenceNumber: number, count: writer.count, at: now)
    sequenceNumber &+= 1
    enqueue(PacketToken(stream: index, number: number), writer.count)
  }

  // MARK: Repair

  /// The payload type of the packets, whatever is inside them.
  private var outerPayloadType: UInt8 {
    if parameters.kind == .audio {
      return parameters.redundancy?.payloadType ?? parameters.payloadType
    }
    if case .uneven(let red, _, _)? = repair?.kind { return red }
    return parameters.payloadType
  }

  /// The payload type of retransmissions; nil where there are none.
  var retransmissionPayloadType: UInt8? {
    if case .uneven(_, _, let rtx)? = repair?.kind { return rtx }
    return parameters.rtx?.payloadType
  }

  /// RED's header of a single block (RFC 2198 §3), where packets go inside RED.
  private func startBlock(_ payloadType: UInt8, _ writer: inout RTPPacketWriter) {
    guard case .uneven? = repair?.kind, unsafe writer.free.count > 0 else { return }
    unsafe writer.free[0] = payloadType & 0x7F
    writer.advance(by: 1)
  }

  /// Adds a packet that was cut to the group that is protected together, before its time and number are stamped.
  private func protect(
    _ number: UInt16, _ timestamp: UInt32, at now: Instant,
    _ enqueue: (_ token: PacketToken, _ size: Int) -> Void
  ) {
    guard let repair, repair.share > 0 else { return }
    if !repair.hasRoom(for: number) { sendRepairs(timestamp, at: now, enqueue) }
    guard let packet = unsafe history.stored(sequenceNumber: number),
      let header = unsafe try? RTPHeader(parsing: packet.bytes)
    else { return }
    var red = 0
    if case .uneven = repair.kind { red = REDPayload.primaryHeaderCount }
    let protected = unsafe FECPacket(
      packet.bytes, header: header, red: red, payloadType: parameters.payloadType,
      map: parameters.extensions)
    unsafe repair.add(packet.bytes, protected, number: number)
  }

  /// Cuts the repair packets of a complete group.
  private func sendRepairs(
    _ timestamp: UInt32, at now: Instant, _ enqueue: (_ token: PacketToken, _ size: Int) -> Void
  ) {
    guard let repair else { return }
    var values = sender.namingValues
    values.rid = nil
    if parameters.feedback != .bySource { values.transportSequenceNumber = 0 }
    values.absSendTime = 0
    repair.takeRepairs { payload in
      let target: PacketHistory
      var header = RTPHeader(
        payloadType: outerPayloadType, sequenceNumber: sequenceNumber, timestamp: timestamp,
        ssrc: parameters.ssrc)
      if let own = repair.history, case .flexible(let ssrc, let payloadType) = repair.kind {
        target = own
        header.ssrc = ssrc
        header.payloadType = payloadType
        header.sequenceNumber = repair.takeNumber()
      } else {
        target = history
        sequenceNumber &+= 1
      }
      let slot = unsafe target.reserve(sequenceNumber: header.sequenceNumber)
      var writer = unsafe RTPPacketWriter(into: slot)
      guard
        unsafe (try? writer.writeHeader(header, extensions: values, map: parameters.extensions))
          != nil
      else { return }
      if case .uneven(_, let payloadType, _) = repair.kind { startBlock(payloadType, &writer) }
      guard unsafe payload.withUnsafeBytes({ unsafe try? writer.append($0) }) != nil else { return }
      target.commit(sequenceNumber: header.sequenceNumber, count: writer.count, at: now)
      sender.counters.fecPacketsSent &+= 1
      sender.counters.fecBytesSent &+= UInt64(payload.byteCount)
      enqueue(
        PacketToken(
          stream: index, number: header.sequenceNumber, isRepair: target !== history),
        writer.count)
    }
  }

  /// Writes a packet's header with all its extensions.
  private func write(
    _ header: RTPHeader, _ values: RTPHeaderExtensions, to writer: inout RTPPacketWriter
  ) -> Bool {
    let empty = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    let descriptor =
      unsafe payloader.nextLayerPart.flatMap { unsafe dependencies?.descriptor(of: $0) } ?? empty
    return
      unsafe (try? writer.writeHeader(
        header, extensions: values, map: parameters.extensions, dependencyDescriptor: descriptor))
      != nil
  }

  /// Whether this stream's packets may fill probes: where a congestion signal comes back, and they can be repeated.
  var canPad: Bool {
    parameters.kind == .video && parameters.rtx != nil
      && (parameters.feedback == .bySource || parameters.extensions.transportSequenceNumber != nil)
  }

  /// A stored packet for a probe, with its number: the last ones in turn, of two neighbours the larger, so that a probe isn't
  /// made of many small packets. nil before the first has left.
  func paddingPacket() -> (number: UInt16, packet: UnsafeRawBufferPointer)? {
    guard parameters.rtx != nil, let newest = padding.newest else { return nil }
    var best: (number: UInt16, packet: UnsafeRawBufferPointer)?
    for _ in 0..<4 {
      guard let number = padding.next(),
        let packet = unsafe history.stored(sequenceNumber: number)
      else { continue }
      if unsafe packet.count > best?.packet.count ?? 0 {
        unsafe best = (number, UnsafeRawBufferPointer(packet))
      }
      if packet.count > 600 { break }
    }
    return unsafe best
      ?? history.stored(sequenceNumber: newest).map { (newest, UnsafeRawBufferPointer($0)) }
  }

  /// The sender's part of a sender report (RFC 3550 §6.4.1); nil before the first packet.
  func senderInfo(wallClock: WallClock, at now: Instant) -> RTCPSenderInfo? {
    guard clock.isRunning else { return nil }
    return sender.makeReport(
      ntp: wallClock.ntp(at: now),
      rtpTimestamp: clock.timestamp(at: now, rate: parameters.clockRate), at: now)
  }
}

extension RTPSendParameters {
  /// What of it concerns the source rather than its frames.
  fileprivate func ofSource(cname: String) -> RTPTrackSender.Parameters {
    var parameters = RTPTrackSender.Parameters(
      kind: kind, ssrc: ssrc, rtx: rtx, mid: RTPExtensionText(mid),
      rid: rid.flatMap { RTPExtensionText($0) }, extensions: extensions, clockRate: clockRate,
      acceptsNack: acceptsNack, cname: cname)
    parameters.repeatsPackets = true
    return parameters
  }
}
