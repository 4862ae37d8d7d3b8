import Foundation
import SoraMedia
import SoraRTP
import SoraWire
import TestPrograms
import Testing

extension InteropResilience {
  /// ULPFEC (RFC 5109), packet by packet, with GStreamer's encoder and decoder: of what either has protected and a seed has lost, both
  /// make the same packets anew, byte by byte.
  ///
  /// Header extensions, sources that contribute and padding are tried without RED (RFC 2198) around them: that of GStreamer 1.22 leaves
  /// extensions out.
  @Suite struct FEC {
    @Test(.needsFECElements, arguments: [true, false], [1, 2, 3] as [UInt64])
    func gstreamerRepairsWhatWeProtect(isRED: Bool, seed: UInt64) async throws {
      let stream = ProtectedStream(seed: seed, isRED: isRED)
      try await check(stream.protectedByOurs(), of: stream, "ours-\(stream.layout)-\(seed)")
    }

    /// The share of repair packets in percent: groups with one of them, and with several whose masks overlap.
    @Test(.needsFECElements, arguments: [true, false], [10, 35, 100])
    func weRepairWhatGStreamerProtects(isRED: Bool, percentage: Int) async throws {
      let stream = ProtectedStream(seed: UInt64(percentage), isRED: isRED)
      let name = "gstreamer-\(stream.layout)-\(percentage)"
      let packets = try await gstreamer(
        ["encode", stream.layout, "\(percentage)"], stream.packets, name)
      #expect(packets.count > stream.packets.count)
      try await check(packets.map { SentPacket($0) }, of: stream, name)
    }

    struct Outcome: Decodable {
      struct Call: Decodable {
        /// Repair packets that we got, and of which we made something or still may.
        var repairPackets: Int
        var used: Int
        var lost: Int
        var frames: Int
        var theirRepairPackets: Int
        /// Frames that we sent, and that the other has decoded of them.
        var sent: Int
        var theirFrames: Int
        /// NACKs, both ways.
        var asked: Int
      }
      var calls: [String: Call]
    }

    /// As many repair packets as may wait in a decoder for others.
    private static let waiting = 64

    /// Calls whose link has a round trip of 120 ms and loses up to a tenth of the packets.
    @Test(.needsBrowser, .needsLinks) func chromiumRepairsAndIsRepaired() async throws {
      let outcome = try await Scenario(name: "fec/chromium", limit: 300).run(Outcome.self)
      for name in ["ULPFEC", "FlexFEC"] {
        let call = try #require(outcome.calls[name])
        #expect(call.used > Self.waiting && call.frames > 100 && call.theirFrames > 100, "\(name)")
      }
      #expect(try #require(outcome.calls["FlexFEC"]).theirRepairPackets > Self.waiting)
      // Without retransmissions: of 400 frames some 150 are decoded where nothing is repaired, either.
      let alone = try #require(outcome.calls["alone"])
      #expect(alone.asked == 0 && alone.repairPackets > 0)
      #expect(alone.theirFrames > alone.sent / 2)
    }

    @Test(.needsGStreamer, .needsLinks) func webrtcbinRepairs() async throws {
      let outcome = try await Scenario(name: "fec/webrtcbin", limit: 150).run(Outcome.self)
      let call = try #require(outcome.calls["ULPFEC"])
      #expect(call.used > Self.waiting && call.frames > 100)
    }

    private func check(
      _ packets: [SentPacket], of stream: ProtectedStream, _ name: String
    ) async throws {
      let random = RandomSource(seed: stream.seed &+ 1000)
      // Nobody keeps packets before the first repair packet has come.
      let start = try #require(packets.firstIndex { $0.isRepair }) + 1
      let isLost = packets.indices.map { $0 >= start && random.next() % 10 == 0 }
      let arrived = packets.indices.filter { !isLost[$0] }.map { packets[$0] }
      let lost = packets.indices.filter { isLost[$0] && !packets[$0].isRepair }.map { packets[$0] }
      let numbers = lost.map { [UInt8($0.number >> 8), UInt8(truncatingIfNeeded: $0.number)] }
      let theirs = try await gstreamer(
        ["decode", stream.layout], arrived.map(\.bytes) + numbers, name)
      let ours = try repaired(arrived)
      try #require(theirs.count == lost.count)
      let made = zip(lost, theirs).filter { $1 == $0.plain }.map(\.0.number)
      let mine = lost.filter { ours[$0.number] == $0.plain }.map(\.number)
      print(
        "FEC \(name): \(packets.count) packets, \(lost.count) of the stream lost, \(mine.count) made anew"
      )
      #expect(mine == made && mine.count > lost.count / 4)
      // And nothing that wasn't sent. Ours may have made what came before it kept packets.
      #expect(theirs.count { !$0.isEmpty } == made.count)
      let sent = Dictionary(
        packets.map { ($0.number, $0.plain) }, uniquingKeysWith: { first, _ in first })
      #expect(ours.allSatisfy { sent[$0.key] == $0.value })
    }

    /// What our decoder makes anew, by number.
    private func repaired(_ arrived: [SentPacket]) throws -> [UInt16: [UInt8]] {
      let decoder = FECDecoder(format: .uneven, ssrc: ProtectedStream.ssrc)
      var result: [UInt16: [UInt8]] = [:]
      for packet in arrived {
        if packet.isRepair {
          let isRead = decoder.receivedRepair(packet.payload.rawSpan)
          #expect(isRead)
        } else {
          decoder.received(packet.bytes.rawSpan, try packet.protected(), number: packet.number)
        }
        while decoder.nextRecovered({ made in
          let bytes = [UInt8](copying: made)
          result[UInt16(bytes[2]) << 8 | UInt16(bytes[3])] = bytes
        }) {}
      }
      return result
    }

    /// Packets through `Peers/fec/gstreamer.py`.
    private func gstreamer(
      _ options: [String], _ packets: [[UInt8]], _ name: String
    ) async throws -> [[UInt8]] {
      let folder = try Scenario.folder("fec/\(name)-\(options[0])")
      let source = folder.appendingPathComponent("in")
      let target = folder.appendingPathComponent("out")
      let log = folder.appendingPathComponent("script.log")
      try PacketFile.write(packets, to: source)
      let status = try await TestPrograms.run(
        ["timeout", "-k", "5", "60", "/usr/bin/python3", "-B", Scenario.runner, "fec/gstreamer"]
          + options + [source.path, target.path], output: log)
      guard status == 0 else {
        throw Scenario.Failure(description: "\(name) ended with \(status)\n\(Scenario.tail(log))")
      }
      return try PacketFile.read(target)
    }
  }
}

/// A packet of the stream, or one that repairs it; with RED's header of a single block or without.
private struct SentPacket {
  let bytes: [UInt8]
  /// Where the payload is, with RED's header.
  private let offset: Int

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    offset = (try? RTPHeader(parsing: bytes.rawSpan).payloadOffset) ?? RTPHeader.fixedCount
  }

  var number: UInt16 { UInt16(bytes[2]) << 8 | UInt16(bytes[3]) }
  private var red: Int { bytes[1] & 0x7F == ProtectedStream.red ? 1 : 0 }
  private var type: UInt8 { red == 1 ? bytes[offset] : bytes[1] & 0x7F }
  var isRepair: Bool { type == ProtectedStream.repair }
  var payload: [UInt8] { Array(bytes[(offset + red)...]) }
  /// Without RED.
  var plain: [UInt8] { bytes[..<1] + [bytes[1] & 0x80 | type] + bytes[2..<offset] + payload }

  func protected() throws -> FECPacket {
    let header = try RTPHeader(parsing: bytes.rawSpan)
    return FECPacket(
      bytes.rawSpan, header: header, red: red, payloadType: type, map: RTPHeaderExtensionMap())
  }
}

/// A stream of frames of one to 30 packets, of all sizes.
private struct ProtectedStream {
  static let ssrc: UInt32 = 0xABCD_0001
  static let (media, red, repair) = (96, 98, 99) as (UInt8, UInt8, UInt8)

  let seed: UInt64
  let isRED: Bool
  let packets: [[UInt8]]
  private let frames: [Range<Int>]

  init(seed: UInt64, isRED: Bool) {
    self.seed = seed
    self.isRED = isRED
    let random = RandomSource(seed: seed)
    var packets: [[UInt8]] = []
    var frames: [Range<Int>] = []
    while packets.count < 2000 {
      let count = 1 + Int(random.next() % (random.next() % 4 == 0 ? 30 : 6))
      let timestamp = UInt32(frames.count) &* 3000 &+ 0xFFFF_0000
      frames.append(packets.count..<packets.count + count)
      for index in 1...count {
        packets.append(
          Self.packet(
            number: 65_000 &+ UInt16(packets.count), timestamp, isLast: index == count,
            kind: isRED ? 0 : random.next() % 6, random))
      }
    }
    self.packets = packets
    self.frames = frames
  }

  /// What `gstreamer.py` calls it.
  var layout: String { isRED ? "red" : "bare" }

  /// Of kinds 1 to 3 one has a header extension (RFC 8285), one a source that contributes, and one padding.
  private static func packet(
    number: UInt16, _ timestamp: UInt32, isLast: Bool, kind: UInt64, _ random: RandomSource
  ) -> [UInt8] {
    let first: UInt8 = kind == 1 ? 0x90 : kind == 2 ? 0x81 : kind == 3 ? 0xA0 : 0x80
    var bytes: [UInt8] = [first, media | (isLast ? 0x80 : 0)]
    bytes += [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
    for value in [timestamp, ssrc] {
      bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
    if kind == 1 { bytes += [0xBE, 0xDE, 0, 1, 0x12] + random.bytes(3) }
    if kind == 2 { bytes += random.bytes(4) }
    bytes += random.bytes(1 + Int(random.next() % 1100))
    return kind == 3 ? bytes + [0, 0, 3] : bytes
  }

  /// Groups of one frame or more, as far as a mask goes, with one to four repair packets each.
  func protectedByOurs() throws -> [SentPacket] {
    let random = RandomSource(seed: seed &+ 1)
    var encoder = FECEncoder(format: .uneven)
    var result: [SentPacket] = []
    var number: UInt16 = 65_000
    func send(_ header: ArraySlice<UInt8>, _ type: UInt8, _ payload: ArraySlice<UInt8>) {
      var bytes = Array(header)
      bytes[1] = bytes[1] & 0x80 | (isRED ? Self.red : type)
      bytes[2] = UInt8(number >> 8)
      bytes[3] = UInt8(truncatingIfNeeded: number)
      result.append(SentPacket(bytes + (isRED ? [type] : []) + payload))
      number &+= 1
    }
    for frame in frames {
      for packet in packets[frame] {
        let offset = try RTPHeader(parsing: packet.rawSpan).payloadOffset
        send(packet[..<offset], Self.media, packet[offset...])
        let sent = try #require(result.last)
        encoder.add(sent.bytes.rawSpan, try sent.protected(), number: sent.number)
      }
      guard encoder.packetCount >= 4 else { continue }
      let repairs = 1 + Int(random.next() % 4)
      var payload = [UInt8](repeating: 0, count: 1500)
      for index in 0..<repairs {
        let size = payload.withMutableRawSpan { encoder.write(index, of: repairs, into: &$0) }
        send([0x80, 0] + packets[frame.lowerBound][2..<12], Self.repair, payload[..<size])
      }
      encoder.reset()
    }
    return result
  }
}

/// Packets, each behind its length of four bytes.
private enum PacketFile {
  static func write(_ packets: [[UInt8]], to url: URL) throws {
    var bytes: [UInt8] = []
    for packet in packets {
      bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: packet.count >> $0) } + packet
    }
    try Data(bytes).write(to: url)
  }

  static func read(_ url: URL) throws -> [[UInt8]] {
    var rest = try [UInt8](Data(contentsOf: url))[...]
    var packets: [[UInt8]] = []
    while rest.count >= 4 {
      let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      packets.append(Array(rest.dropFirst(4).prefix(count)))
      rest = rest.dropFirst(4 + count)
    }
    return packets
  }
}
