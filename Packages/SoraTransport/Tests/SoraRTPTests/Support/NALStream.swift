import SoraMedia
import SoraRTP

/// Made-up H.264 and H.265 units whose headers and first fields are real, so that receivers find what they look for.
enum NALCodec: String, CaseIterable, Sendable {
  case h264
  case h265

  var format: any RTPPayloadFormat {
    switch self {
    case .h264: H264PayloadFormat()
    case .h265: H265PayloadFormat()
    }
  }
  var headerCount: Int { self == .h264 ? 1 : 2 }

  /// Parameter sets with these ids: of the sequence, and of the picture.
  func parameterSets(_ id: Int = 0, fill: UInt8 = 0x55) -> [[UInt8]] {
    // ue(0) is 1, ue(1) is 010.
    let one: UInt8 = id == 0 ? 0xFF : 0x5F
    let both: UInt8 = id == 0 ? 0xFF : 0x4B  // 1 1, or 010 010 11
    switch self {
    case .h264: return [[0x67, 0x42, 0xC0, 0x1F, one, fill], [0x68, both, fill]]
    case .h265:
      let profile: [UInt8] = [0x01, 0x60, 0, 0, 3, 0, 0x90, 0, 0, 3, 0, 0, 3, 0, 0x5D]
      return [
        [0x40, 0x01, UInt8(id << 4) | 0x0C, 0x01, fill],
        [0x42, 0x01, UInt8(id << 4) | 0x01] + profile + [one, fill], [0x44, 0x01, both, fill],
      ]
    }
  }

  /// A slice of `size` bytes or a few more.
  func slice(
    isKey: Bool, size: Int, random: RandomSource, isFirst: Bool = true, parameters id: Int = 0
  ) -> [UInt8] {
    var head: [UInt8]
    switch self {
    case .h264:
      // first_mb_in_slice ue(0) or ue(1), slice_type ue(7) 0001000 or ue(5) 00110, pic_parameter_set_id.
      let text =
        (isFirst ? "1" : "010") + (isKey ? "0001000" : "00110") + (id == 0 ? "1" : "010")
      head = [isKey ? 0x65 : 0x41] + bits(text)
    case .h265:
      let text = (isFirst ? "1" : "0") + (isKey ? "0" : "") + (id == 0 ? "1" : "010")
      head = [isKey ? 0x26 : 0x02, 0x01] + bits(text)
    }
    head += escaped(random.bytes(max(0, size - head.count)))
    return head
  }

  /// Of no consequence.
  func message(_ size: Int, random: RandomSource) -> [UInt8] {
    let payload = [5, UInt8(min(size, 250))] + escaped(random.bytes(size))
    return (self == .h264 ? [0x06] : [0x4E, 0x01]) + payload
  }

  var recoveryPoint: [UInt8] { (self == .h264 ? [0x06] : [0x4E, 0x01]) + [6, 1, 0x84, 0x80] }
  var delimiter: [UInt8] { self == .h264 ? [0x09, 0xF0] : [0x46, 0x01, 0x50] }

  private func bits(_ text: String) -> [UInt8] {
    var result: [UInt8] = []
    for (index, character) in text.enumerated() {
      if index % 8 == 0 { result.append(0) }
      if character == "1" { result[index / 8] |= 0x80 >> UInt8(index % 8) }
    }
    // Ones behind, so that nothing here looks like part of a start code.
    if text.count % 8 != 0 { result[result.count - 1] |= 0xFF >> UInt8(text.count % 8) }
    return result
  }

  /// Emulation prevention, and no zero at the end.
  private func escaped(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var zeros = 0
    for byte in bytes {
      // Random bytes hardly ever look like start codes; these do.
      let byte = byte < 64 ? byte & 3 : byte
      if zeros >= 2, byte <= 3 {
        result.append(3)
        zeros = 0
      }
      result.append(byte)
      zeros = byte == 0 ? zeros + 1 : 0
    }
    result.append(0x80)
    return result
  }
}

/// Annex B with start codes of three and four bytes.
func annexB(_ units: [[UInt8]], random: RandomSource? = nil) -> [UInt8] {
  units.flatMap { unit in
    (random.map { $0.next() & 1 == 0 } ?? true ? [0, 0, 0, 1] : [0, 0, 1]) + unit
  }
}

/// What lies between start codes, found the slow way.
func nalUnits(_ bytes: some Collection<UInt8>) -> [[UInt8]] {
  var units: [[UInt8]] = []
  var current: [UInt8]?
  var zeros = 0
  for byte in bytes {
    if byte == 1, zeros >= 2 {
      if let unit = current { units.append(unit) }
      current = []
      zeros = 0
      continue
    }
    if byte == 0 {
      zeros += 1
      continue
    }
    if current != nil { current?.append(contentsOf: [UInt8](repeating: 0, count: zeros)) }
    current?.append(byte)
    zeros = 0
  }
  if let unit = current { units.append(unit) }
  return units
}

/// Packets with running numbers of frames of one codec.
struct NALPacketizer {
  let payloader: any RTPPayloader
  var number: UInt16 = 65_500
  var timestamp: UInt32 = 0xFFFF_F000
  var maximumPayload: Int

  init(_ format: any RTPPayloadFormat, maximumPayload: Int = 400) {
    payloader = format.makePayloader(random: RandomSource(seed: 1))
    self.maximumPayload = maximumPayload
  }

  mutating func frame(_ units: [[UInt8]], isKeyFrame: Bool = false) -> [VideoStream.Packet] {
    let frame = encodedFrame(annexB(units), isKeyFrame: isKeyFrame, timestamp: timestamp)
    let parts = payloads(payloader, frame, maximumPayload: maximumPayload)
    defer { timestamp &+= 3000 }
    return parts.map { packet($0.bytes, marker: $0.marker) }
  }

  mutating func packet(_ payload: [UInt8], marker: Bool) -> VideoStream.Packet {
    var header = RTPHeader(
      payloadType: 96, sequenceNumber: number, timestamp: timestamp, ssrc: 1, marker: marker)
    header.payloadCount = payload.count
    number &+= 1
    return VideoStream.Packet(header: header, payload: payload)
  }
}

extension VideoJitterBuffer {
  static func of(_ format: any RTPPayloadFormat) -> VideoJitterBuffer {
    let buffer = VideoJitterBuffer()
    buffer.setFormat(format, payloadType: 96)
    return buffer
  }
}
