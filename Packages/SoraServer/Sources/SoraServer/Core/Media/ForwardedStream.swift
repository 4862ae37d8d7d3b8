import SoraMedia
import SoraRTP
import SoraTransport
import SoraWire

/// A published medium as one subscriber gets it: what its packets have in the place of the publisher's source, types, numbers and
/// extensions, and how they leave. Which of them do isn't decided here.
///
/// Confined to its core.
final class ForwardedStream {
  /// Where a packet of the publisher's goes: its number towards the subscriber, and what its fields are moved by.
  struct Place {
    var number: UInt16
    var shift: PacketShift
  }

  /// A packet that has left.
  struct Sent {
    /// Bytes of the plain packet.
    var count: Int
    /// The frame's number, where it has a dependency descriptor.
    var frame: UInt16?
  }

  let sender: RTPTrackSender
  /// The types that packets have here, and those that they have at the publisher.
  let types: SFUPayloadTypes.Assignment
  private let sourceTypes: SFUPayloadTypes.Assignment
  /// How the publisher's payloads number pictures; nil where they don't.
  private let pictures: PictureRewriter.Format?
  /// The subscriber's: at hand, for each packet needs both.
  private let transport: PeerTransport
  private let controller: SendController
  /// What of `types` the subscriber takes.
  private var accepted: SFUPayloadTypes.Assignment
  /// Whether the subscriber reports by source what became of packets, so that they need no transport-wide number.
  private var isReportedBySource = false
  /// Packets that the transport didn't take.
  private(set) var notWritable: UInt64 = 0

  /// - Parameters:
  ///   - sender: its place towards the subscriber.
  ///   - types: the subscriber's.
  ///   - sourceTypes: the publisher's.
  ///   - pictures: how the publisher's payloads number pictures; nil where they don't.
  ///   - transport: the subscriber's, which carries it.
  ///   - controller: the subscriber's, which numbers what leaves.
  init(
    _ sender: RTPTrackSender, types: SFUPayloadTypes.Assignment,
    of sourceTypes: SFUPayloadTypes.Assignment, pictures: PictureRewriter.Format?,
    transport: PeerTransport, controller: SendController
  ) {
    self.sender = sender
    self.types = types
    self.sourceTypes = sourceTypes
    self.pictures = pictures
    self.transport = transport
    self.controller = controller
    accepted = SFUPayloadTypes.Assignment(media: types.media)
  }

  /// Takes what the subscriber's answer says.
  func apply(
    extensions: RTPHeaderExtensionMap, isReportedBySource: Bool, acceptsNack: Bool,
    accepted: SFUPayloadTypes.Assignment
  ) {
    self.accepted = accepted
    self.isReportedBySource = isReportedBySource
    sender.parameters.extensions = extensions
    sender.parameters.acceptsNack = acceptsNack
  }

  var ssrc: UInt32 { sender.ssrc }

  /// Whether its packets may fill probes: where a congestion signal comes back, and the subscriber takes them again.
  var canPad: Bool {
    sender.parameters.rtx != nil && accepted.rtx != nil
      && sender.extensions.transportSequenceNumber != nil
  }

  // MARK: Types

  /// Whether a packet of the publisher's has keys of a telephone.
  private func isTelephone(_ header: RTPHeader) -> Bool {
    header.payloadType == sourceTypes.telephone
  }

  /// Whether the subscriber takes nothing of a packet's kind.
  func refuses(_ header: RTPHeader) -> Bool { accepted.telephone == nil && isTelephone(header) }

  /// Whether a packet of the publisher's repeats some before it.
  private func isRedundant(_ header: RTPHeader) -> Bool {
    header.payloadType == sourceTypes.red
  }

  /// The type that a packet of the publisher's has towards the subscriber.
  private func payloadType(_ header: RTPHeader) -> UInt8 {
    if isTelephone(header) { return types.telephone ?? types.media }
    return isRedundant(header) ? accepted.red ?? types.media : types.media
  }

  /// Whether redundant audio names its media by another type here.
  private func renames(_ header: RTPHeader) -> Bool {
    isRedundant(header) && accepted.red != nil && sourceTypes.media != types.media
  }

  // MARK: Sending

  /// Sends one packet on, payload untouched but for picture ids where frames were left out or the layer has changed, and the dependency
  /// descriptor but for its frame's number where the layer has. Of redundant audio who doesn't take that gets the newest block.
  ///
  /// - Returns: nil where it didn't leave.
  func send(
    _ packet: ReadPacket, to place: Place, at now: Instant
  ) -> Sent? {
    let (header, shift) = (packet.read.header, place.shift)
    var out = header
    if isRedundant(header), accepted.red == nil {
      guard let newest = unsafe header.newestBlock(in: packet.bytes.bytes),
        newest.payloadType == sourceTypes.media
      else { return nil }
      out = newest
    }
    out.payloadType = payloadType(header)
    out.ssrc = ssrc
    out.sequenceNumber = place.number
    out.timestamp = header.timestamp &+ shift.timestamp
    var extra = sender.namingValues
    take(packet.read.values, movedBy: shift, into: &extra)
    let map = sender.extensions
    let size = out.payloadCount
    let isLent = keepsPayload(of: header, by: shift)
    let lent = unsafe isLent ? out.payload(in: packet.bytes).bytes : nil
    let capacity = Self.headerRoom(extra) + (isLent ? 0 : size)
    let count = unsafe write(
      out, capacity: capacity, payload: lent, place.number, .first, extra, at: now
    ) { extra, slot in
      guard
        let writer = unsafe try? RTPPacket.rewriteExtensions(
          of: packet.bytes, header: out, extensions: extra, map: map, copiesPayload: !isLent,
          into: slot)
      else { return nil }
      if isLent { return (writer.count + size, size) }
      unsafe rewrite(payloadOf: header, by: shift, at: writer.payloadOffset, in: slot)
      return (writer.count, size)
    }
    guard let count else { return nil }
    let descriptor = extra.dependencyDescriptor
    return Sent(count: count, frame: descriptor.count > 0 ? descriptor.frameNumber : nil)
  }

  /// Sends a kept packet again on the retransmission source (RFC 4588 §4).
  ///
  /// - Parameters:
  ///   - packet: as the publisher sent it.
  ///   - place: where it went.
  ///   - sending: why.
  ///   - now: the present time.
  /// - Returns: the bytes of the plain packet; nil where it didn't leave.
  func resend(
    _ packet: ReadPacket, to place: Place, as sending: RTPTrackSender.Sending, at now: Instant
  ) -> Int? {
    guard let rtx = sender.parameters.rtx else { return nil }
    let (header, shift) = (packet.read.header, place.shift)
    var out = header
    out.ssrc = rtx.ssrc
    out.payloadType = rtx.payloadType
    out.sequenceNumber = sender.takeRTXNumber()
    out.timestamp = header.timestamp &+ shift.timestamp
    var extra = sender.repairValues
    take(packet.read.values, movedBy: shift, into: &extra)
    let map = sender.extensions
    let capacity = Self.headerRoom(extra) + Retransmission.overhead + header.payloadCount
    return unsafe write(out, capacity: capacity, place.number, sending, extra, at: now) {
      extra, slot in
      guard
        let writer = unsafe try? Retransmission.write(
          out, originalNumber: place.number, payload: header.payload(in: packet.bytes),
          extensions: extra,
          map: map, dependencyDescriptor: extra.dependencyDescriptor.bytes(in: packet.bytes),
          into: slot)
      else { return nil }
      unsafe rewrite(
        payloadOf: header, by: shift, at: writer.payloadOffset + Retransmission.overhead, in: slot)
      return (writer.count, header.payloadCount + Retransmission.overhead)
    }
  }

  /// Sends a packet of nothing but padding under a number that is kept for one of a frame that was left out: the subscriber
  /// would ask for it for ever.
  func sendFiller(_ number: UInt16, timestamp: UInt32, at now: Instant) {
    var out = RTPHeader(
      payloadType: types.media, sequenceNumber: number, timestamp: timestamp, ssrc: ssrc)
    out.marker = false
    let extra = sender.namingValues
    let map = sender.extensions
    let capacity = Self.headerRoom(extra)
    _ = unsafe write(out, capacity: capacity, number, .padding, extra, at: now) { extra, slot in
      var writer = unsafe RTPPacketWriter(into: slot)
      guard unsafe (try? writer.writeHeader(out, extensions: extra, map: map)) != nil,
        (try? writer.appendPadding(1)) != nil
      else { return nil }
      return (writer.count, 0)
    }
  }

  // MARK: Writing

  /// Lets `body` write a packet into the datagram that leaves, with its time and transport-wide number, and counts it. Where the payload is
  /// lent, the header is all that is written, and needs room.
  private func write(
    _ header: RTPHeader, capacity: Int, payload: RawSpan? = nil, _ number: UInt16,
    _ sending: RTPTrackSender.Sending,
    _ values: RTPHeaderExtensions, at now: Instant,
    _ body: (RTPHeaderExtensions, UnsafeMutableRawBufferPointer) -> (count: Int, payload: Int)?
  ) -> Int? {
    let isNumbered = sender.extensions.transportSequenceNumber != nil
    let ecn = isReportedBySource ? controller.codepoint : .notECT
    var values = values
    if !isReportedBySource {
      values.transportSequenceNumber = UInt16(truncatingIfNeeded: controller.nextSequence)
    }
    values.absSendTime = RTPHeaderExtensions.absSendTime(at: now)
    var written: (count: Int, payload: Int)?
    let elsewhere = payload?.byteCount ?? 0
    let isSent = unsafe transport.sendRTP(capacity: capacity, payload: payload, ecn: ecn) { slot in
      written = unsafe body(values, slot)
      return written.map { $0.count - elsewhere } ?? 0
    }
    guard isSent, let written else {
      notWritable &+= 1
      return nil
    }
    let source = isReportedBySource ? (header.ssrc, header.sequenceNumber) : nil
    let sequence =
      isNumbered || isReportedBySource
      ? controller.number(packetOf: written.count, source: source, at: now) : nil
    sender.sent(
      number, count: written.count, payload: written.payload, transportSequence: sequence,
      as: sending, ecn: ecn, at: now)
    return written.count
  }

  /// What a publisher's packet says beside its payload goes on with it.
  private func take(
    _ values: ForwardedValues, movedBy shift: PacketShift, into extra: inout RTPHeaderExtensions
  ) {
    extra.audioLevel = values.audioLevel
    extra.videoOrientation = values.videoOrientation
    guard sender.extensions.dependencyDescriptor != nil else { return }
    extra.dependencyDescriptor = values.dependencyDescriptor
    extra.dependencyDescriptor.frameNumber &+= shift.frameNumber
  }

  /// Bytes that a header with extensions needs at most: 12, 4, and 6 elements in the two-byte form; and a dependency descriptor, which
  /// may stand alone in making it that.
  private static func headerRoom(_ values: RTPHeaderExtensions) -> Int {
    let descriptor = Int(values.dependencyDescriptor.count)
    return descriptor == 0 ? 100 : 100 + 2 + descriptor
  }

  /// Whether a payload goes on as it is.
  private func keepsPayload(of header: RTPHeader, by shift: PacketShift) -> Bool {
    shift.keepsPayload && !renames(header)
  }

  /// Changes in a payload that was written what numbers or types of the publisher it has.
  private func rewrite(
    payloadOf header: RTPHeader, by shift: PacketShift, at offset: Int,
    in slot: UnsafeMutableRawBufferPointer
  ) {
    guard !keepsPayload(of: header, by: shift), offset < slot.count else { return }
    let end = min(slot.count, offset + header.payloadCount)
    var payload = unsafe UnsafeMutableRawBufferPointer(rebasing: slot[offset..<end]).mutableBytes
    if renames(header) { return REDPayload.move(sourceTypes.media, to: types.media, in: &payload) }
    let (pictureID, baseLayerIndex) = (shift.pictureID, shift.baseLayerIndex)
    switch pictures {
    case .vp8:
      VP8Descriptor.move(pictureID: pictureID, baseLayerIndex: baseLayerIndex, in: &payload)
    case .vp9:
      VP9Descriptor.move(pictureID: pictureID, baseLayerIndex: baseLayerIndex, in: &payload)
    case nil: break
    }
  }
}
