import SoraDataChannel
import SoraMedia
import SoraSCTP

extension FuzzTarget {
  /// A message of DCEP (RFC 8832): what is read is written again as it was, but for what fields cut.
  static var dcep: FuzzTarget {
    FuzzTarget("dcep", maximumLength: 512, seeds: DataChannelSeeds.messages()) { bytes in
      guard let message = try? DCEPMessage(parsing: bytes.bytes) else { return }
      let again = message.encoded
      check(
        (try? DCEPMessage(parsing: again.span.bytes)) == message, "\(message) changes when written")
    }
  }

  /// A session with its channels, against a peer that speaks SCTP well and says what the input wants: on any stream, with any
  /// identifier, with resets at any moment.
  static var dataChannels: FuzzTarget {
    FuzzTarget("data-channels", maximumLength: 1024, seeds: DataChannelSeeds.scripts()) { bytes in
      var input = FuzzInput(bytes)
      let attack = DataChannelAttack(bits: input.byte())
      for _ in 0..<100 where !input.isAtEnd { attack.act(&input) }
      attack.end()
    }
  }
}

/// A session of data channels and the peer that attacks it.
private final class DataChannelAttack {
  private static let channelLimit = 8

  private let session: DataChannelSession
  private let peer: SCTPAssociation
  private var now = Instant.zero
  private var known: [DataChannelID] = []
  private var open: Set<DataChannelID> = []
  private var isPaused = false
  private var hasEnded = false

  init(bits: UInt8) {
    let random = RandomSource(seed: 5)
    var configuration = DataChannelConfiguration()
    configuration.maximumChannels = Self.channelLimit
    configuration.maximumMessageSize = 16 * 1024
    configuration.receiveWindow = 64 * 1024
    configuration.sendBufferLimit = 64 * 1024
    configuration.zeroChecksum = bits & 1 != 0
    session = DataChannelSession(configuration: configuration, random: random.fork())
    var other = SCTPConfiguration()
    other.outgoingStreams = bits & 2 != 0 ? 4 : 65_535
    other.incomingStreams = other.outgoingStreams
    other.streamReset = bits & 4 == 0
    other.partialReliability = bits & 8 == 0
    other.zeroChecksum = bits & 1 != 0
    peer = SCTPAssociation(configuration: other, random: random.fork())
    session.connect(
      to: DataChannelPeer(isClient: bits & 16 != 0, maximumMessageSize: bits & 32 != 0 ? 0 : 1000),
      at: now)
    peer.connect(at: now)
    exchange()
  }

  func act(_ input: inout FuzzInput) {
    let stream = UInt16(input.byte() % 20)
    switch input.byte() % 12 {
    case 0: say(input.chunk(), stream, 50)
    case 1:
      let label = String(decoding: input.shortChunk(), as: UTF8.self)
      say(DCEPMessage.open(DataChannelParameters(label: label)).encoded, stream, 50)
    case 2: say(DCEPMessage.acknowledgement.encoded, stream, 50)
    case 3: say(input.shortChunk(), stream, [51, 53, 56, 57, 52, 99][Int(input.byte() % 6)])
    case 4: try? peer.resetStreams([stream, stream &+ 1], at: now)
    case 5:
      let isOrdered = input.byte() & 1 == 0
      let agreed = input.byte() & 1 == 0 ? nil : stream
      if let id = try? session.open(
        DataChannelParameters(label: "own", isOrdered: isOrdered), negotiatedStream: agreed, at: now
      ) {
        known.append(id)
      }
    case 6: if let id = pick(input.byte()) { session.close(id, at: now) }
    case 7:
      let payload = input.shortChunk()
      if let id = pick(input.byte()) {
        try? session.send(payload.span.bytes, isText: input.byte() & 1 == 0, on: id, at: now)
      }
    case 8: isPaused.toggle()
    case 9: now += input.step()
    case 10: if let id = pick(input.byte()) { session.setBufferedAmountLowThreshold(100, of: id) }
    default: if input.byte() == 7 { peer.abort("fuzz", at: now) }
    }
    exchange()
  }

  func end() {
    isPaused = false
    exchange()
    session.close(at: now)
    exchange()
    check(hasEnded, "the end of a session wasn't told")
    check(open.isEmpty, "\(open.count) channels are open after the end")
    check(session.reports.isEmpty, "\(session.reports.count) channels are left after the end")
  }

  private func pick(_ choice: UInt8) -> DataChannelID? {
    known.isEmpty ? nil : known[Int(choice) % known.count]
  }

  private func say(_ bytes: [UInt8], _ stream: UInt16, _ ppid: UInt32) {
    try? peer.send(bytes.span.bytes, on: stream, ppid: ppid, at: now)
  }

  private func exchange() {
    for _ in 0..<4 {
      now += .milliseconds(1)
      session.poll(at: now)
      peer.poll(at: now)
      check(session.nextDeadline.map { $0 > now } ?? true, "a deadline at or before now")
      read()
      session.drainPackets(at: now) { packet in
        peer.receive(packet, at: now)
        return true
      }
      while peer.nextEvent() != nil {}
      peer.drainPackets(at: now) { packet in
        session.receive(packet, at: now)
        return true
      }
      read()
    }
  }

  private func read() {
    while !isPaused, let event = session.nextEvent(at: now) {
      check(!hasEnded, "\(event) after the end")
      switch event {
      case .announced(let id, _, _):
        known.append(id)
        check(open.insert(id).inserted, "\(id) was announced twice")
        check(session.reports.count <= Self.channelLimit + known.count, "too many channels")
      case .opened(let id, _): check(open.insert(id).inserted, "\(id) opened twice")
      case .message(let id, let message):
        check(open.contains(id), "a message on \(id), which isn't open")
        session.recycle(message.payload)
      case .closing(let id): check(open.contains(id), "\(id) closes and isn't open")
      case .closed(let id, _):
        open.remove(id)
        known.removeAll { $0 == id }
      case .disconnected: hasEnded = true
      case .connected, .acknowledged, .bufferedAmountLow, .sendBufferLow: break
      }
    }
  }
}

/// Inputs to start from.
private enum DataChannelSeeds {
  static func messages() -> [[UInt8]] {
    let parameters = [
      DataChannelParameters(label: "a"),
      DataChannelParameters(
        label: "unordered", protocol: "p", isOrdered: false, reliability: .maximumRetransmits(3)),
      DataChannelParameters(label: "", reliability: .maximumLifetime(milliseconds: 500)),
    ]
    return parameters.map { DCEPMessage.open($0).encoded } + [DCEPMessage.acknowledgement.encoded]
  }

  /// Opening, sending and closing from both sides, in each kind of session.
  static func scripts() -> [[UInt8]] {
    (0..<64 as Range<UInt8>).map { bits in
      var script = ScriptWriter()
      script.byte(bits)
      for stream in 0..<3 as Range<UInt8> {
        script.raw([stream, 1, 1, 65])
        script.raw([stream, 5, bits & 1, stream & 1])
        script.raw([stream, 3, 2, 1, 2, stream])
        script.raw([stream, 7, 3, 1, 2, 3, stream, 0])
      }
      script.raw([1, 4])
      script.raw([0, 6, 0])
      script.raw([0, 9, 250])
      return script.bytes
    }
  }
}
