import SoraMedia
import SoraRTP
import SoraWire

/// Makes the repair packets of a stream: as many as its receiver's losses want.
final class RepairSender {
  /// Packets that a group has at least, unless it already has several frames: below, repair packets would cost as much as the frames.
  private static let smallGroup = 4
  private static let maximumFrames = 3
  /// Loss that is left to retransmissions, and the largest share of repair packets.
  private static let negligibleLoss = 0.005
  private static let maximumShare = 0.5

  let kind: RTPForwardErrorCorrection
  /// Packets of a stream of their own; nil where they go in the stream that they protect.
  let history: PacketHistory?
  private var encoder: FECEncoder
  /// Of the next repair packet in a stream of their own.
  var number: UInt16
  private var frames = 0
  private var payload: [UInt8]
  /// Repair packets for each packet, 0...0.5.
  private(set) var share = 0.0
  private var loss = LossMeter()

  /// - Parameter maximumPayload: bytes of a repair packet's payload at most.
  init(
    _ kind: RTPForwardErrorCorrection, ssrc: UInt32, maximumPayload: Int, random: RandomSource
  ) {
    self.kind = kind
    payload = [UInt8](repeating: 0, count: maximumPayload)
    number = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    switch kind {
    case .uneven:
      encoder = FECEncoder(format: .uneven)
      history = nil
    case .flexible:
      encoder = FECEncoder(format: .flexible03)
      history = PacketHistory(capacity: 64)
    }
    encoder.ssrc = ssrc
  }

  /// Bytes that a repair packet is longer than the longest packet it protects: its own header with the longest mask, and RED's.
  static let overhead = 33

  /// The stream goes on as another source.
  func change(ssrc: UInt32) {
    encoder.reset()
    encoder.ssrc = ssrc
  }

  /// Takes what the receiver last reported. What is lost twice as often gets somewhat more than twice the repair, as bursts are longer.
  func note(_ remote: RTPTrackSender.RemoteReport) {
    guard remote.reports > 0 else { return }
    loss.note(lost: remote.packetsLost, highest: remote.highestNumber)
    share =
      loss.recent < Self.negligibleLoss ? 0 : min(Self.maximumShare, 0.05 + 2 * loss.recent)
  }

  /// Whether the group wants another packet. Where not, take its repair packets first.
  func hasRoom(for number: UInt16) -> Bool { encoder.hasRoom(for: number) }

  /// A packet of the stream is about to be sent.
  func add(_ packet: RawSpan, _ protected: FECPacket, number: UInt16) {
    guard share > 0 else { return }
    encoder.add(packet, protected, number: number)
  }

  /// A frame is complete. Whether the group is, too.
  func frameEnds() -> Bool {
    frames += 1
    return encoder.packetCount >= Self.smallGroup || frames >= Self.maximumFrames
  }

  /// Lends the payload of each repair packet of the group, and begins the next group.
  func takeRepairs(_ body: (RawSpan) -> Void) {
    let count = encoder.packetCount
    let repairs = count == 0 ? 0 : max(1, Int((Double(count) * share).rounded()))
    for index in 0..<repairs {
      let size = payload.withMutableRawSpan { encoder.write(index, of: repairs, into: &$0) }
      if size > 0 { body(payload.rawSpan.part(0, size)) }
    }
    encoder.reset()
    frames = 0
  }

  /// Gives out the number of the next repair packet in a stream of their own.
  func takeNumber() -> UInt16 {
    defer { number &+= 1 }
    return number
  }
}

/// The loss that reports tell of, from their counts: of the fractions in them some would be missed, as several may come between two
/// looks, and who reports with every request (RFC 4585 §3.4) has fractions of a few packets each.
private struct LossMeter {
  /// Of fewer packets a share says nothing.
  private static let leastPackets: Int32 = 50

  /// 0...1.
  private(set) var recent = 0.0
  private var counted: (lost: Int64, highest: UInt32)?

  mutating func note(lost: Int64, highest: UInt32) {
    guard let counted else {
      self.counted = (lost, highest)
      return
    }
    // The numbers wrap, and those of another source begin anywhere.
    let packets = Int32(bitPattern: highest &- counted.highest)
    guard packets >= Self.leastPackets || packets < 0 else { return }
    self.counted = (lost, highest)
    guard packets > 0 else { return }
    let share = Double(max(0, lost - counted.lost)) / Double(packets)
    // Falls slowly: bursts come again.
    recent = max(min(1, share), recent * 0.8)
  }
}
