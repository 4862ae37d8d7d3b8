import Foundation
import SoraAudio
import SoraMedia
import SoraRTP

/// How speech is encoded: 20 ms at 48 kHz, mono.
struct SpeechCoding {
  static let samplesPerPacket = 960
  /// The payload type of the packets inside a redundant one.
  static let payloadType: UInt8 = 111

  var hasFEC: Bool
  /// Earlier packets that each packet repeats (RFC 2198); 0 for plain packets.
  var copies: Int

  /// The payloads of all packets of a WAV file.
  func encode(path: String, expectedLoss: Double) throws -> [[UInt8]] {
    let reader = try WAVReader(path: path)
    guard reader.sampleRate == 48_000, reader.channels == 1 else {
      fail("\(path) isn't 48 kHz mono")
    }
    let encoder = try OpusEncoder(
      OpusEncoderSettings(
        channels: 1, application: .voip, bitsPerSecond: 32_000, usesInBandFEC: hasFEC,
        packetLossPercent: hasFEC ? Int((expectedLoss * 100).rounded()) : 0))
    var samples = [Int16](repeating: 0, count: Self.samplesPerPacket)
    var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketSize)
    var encoded: [[UInt8]] = []
    var room = samples.mutableSpan
    while try reader.read(into: &room) == Self.samplesPerPacket {
      var target = packet.mutableSpan
      let count = try encoder.encode(room.span, into: &target)
      encoded.append(Array(packet.prefix(count)))
    }
    return copies == 0 ? encoded : redundant(encoded)
  }

  /// RFC 2198 §3: headers of the copies, oldest first, that of the newest, and then the blocks.
  private func redundant(_ encoded: [[UInt8]]) -> [[UInt8]] {
    encoded.indices.map { index in
      let old = max(0, index - copies)..<index
      var payload: [UInt8] = []
      for block in old {
        let offset = (index - block) * Self.samplesPerPacket
        let fields = UInt32(offset) << 10 | UInt32(encoded[block].count)
        payload.append(0x80 | Self.payloadType)
        for shift in [16, 8, 0] {
          payload.append(UInt8(truncatingIfNeeded: fields >> UInt32(shift)))
        }
      }
      payload.append(Self.payloadType)
      for block in old { payload += encoded[block] }
      return payload + encoded[index]
    }
  }
}

/// A packet at the receiver's end.
struct Arrival {
  /// Nanoseconds after the first packet was sent.
  var time: Int64
  var index: Int
  var payload: [UInt8]

  /// Little-endian: 8 bytes of time, 4 of index, 2 of length, and the payload; for each.
  static func write(_ arrivals: [Arrival]) -> [UInt8] {
    var bytes: [UInt8] = []
    func put(_ value: Int64, _ count: Int) {
      for shift in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> Int64(8 * shift))) }
    }
    for arrival in arrivals {
      put(arrival.time, 8)
      put(Int64(arrival.index), 4)
      put(Int64(arrival.payload.count), 2)
      bytes += arrival.payload
    }
    return bytes
  }
}

/// A network that loses packets, alone or in bursts, and delays them.
struct SpeechNetwork {
  /// The share of packets, 0 to 1.
  var loss: Double
  /// How many packets in a row are lost on average (Gilbert-Elliott); 1 for losses that know nothing of each other.
  var burst: Double
  /// Milliseconds: each packet is late by a random part of it. Packets may overtake each other.
  var jitter: Double
  var seed: UInt64

  func carry(_ packets: [[UInt8]]) -> [Arrival] {
    var random = RandomSource(seed: seed)
    var isBad = false
    let leave = 1 / burst
    let enter = loss < 1 ? loss * leave / (1 - loss) : 1
    var arrivals: [Arrival] = []
    for (index, payload) in packets.enumerated() {
      let dice = Double.random(in: 0..<1, using: &random)
      let late = Double.random(in: 0..<1, using: &random) * jitter
      if burst > 1 {
        isBad = isBad ? dice >= leave : dice < enter
      } else {
        isBad = dice < loss
      }
      // A stream begins with a packet that arrives.
      if isBad, index > 0 { continue }
      let time = Int64(index) * 20_000_000 + Int64(late * 1e6)
      arrivals.append(Arrival(time: time, index: index, payload: payload))
    }
    return arrivals.sorted { ($0.time, $0.index) < ($1.time, $1.index) }
  }
}

/// Plays what arrives in virtual time, as `AudioReceivePipeline` does, into a WAV file that begins with the first packet's sending.
func play(_ arrivals: [Arrival], packets: Int, into path: String) throws -> AudioJitterBufferStats {
  let buffer = AudioJitterBuffer(decoder: try OpusDecoder(channels: 1))
  let writer = try WAVWriter(path: path, sampleRate: 48_000, channels: 1)
  var samples = [Int16](repeating: 0, count: AudioJitterBuffer.samplesPerPull)
  let isRedundant = arrivals.first.map { $0.payload[0] & 0x7F == SpeechCoding.payloadType } ?? false
  var next = 0
  for pull in 0..<(packets * 2 + 100) {
    let now = Instant(nanoseconds: Int64(pull) * 10_000_000)
    while next < arrivals.count, arrivals[next].time <= now.nanoseconds {
      insert(arrivals[next], isRedundant: isRedundant, into: buffer)
      next += 1
    }
    var output = samples.mutableSpan
    buffer.getAudio(at: now, into: &output)
    try writer.write(samples.span)
  }
  try writer.close()
  return buffer.stats
}

private func insert(_ arrival: Arrival, isRedundant: Bool, into buffer: AudioJitterBuffer) {
  let time = Instant(nanoseconds: arrival.time)
  let number = UInt16(truncatingIfNeeded: arrival.index)
  let timestamp = UInt32(truncatingIfNeeded: arrival.index * SpeechCoding.samplesPerPacket)
  arrival.payload.withUnsafeBytes { payload in
    guard isRedundant, let blocks = try? REDPayload.Blocks(parsing: payload) else {
      return buffer.insert(sequenceNumber: number, timestamp: timestamp, payload: payload, at: time)
    }
    for block in blocks where block.isPrimary {
      buffer.insert(
        sequenceNumber: number, timestamp: timestamp,
        payload: UnsafeRawBufferPointer(rebasing: payload[block.range]), at: time)
    }
    var distance = blocks.count
    for block in blocks where !block.isPrimary {
      distance -= 1
      buffer.insertRedundant(
        sequenceNumber: number &- UInt16(truncatingIfNeeded: distance),
        timestamp: timestamp &- UInt32(block.timestampOffset),
        payload: UnsafeRawBufferPointer(rebasing: payload[block.range]), at: time)
    }
  }
}
