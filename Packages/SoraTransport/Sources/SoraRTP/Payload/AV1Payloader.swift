public import SoraMedia
import SoraWire

/// Cuts AV1 temporal units into payloads: whole OBUs together where they fit, pieces of nearly equal size where they don't.
/// No payload holds units of two spatial layers (AV1 RTP §5).
public final class AV1Payloader: RTPPayloader {
  /// An OBU without its size: one or two bytes of header, then its payload.
  private struct Unit {
    var header: Int
    var headerCount: Int
    var body: Range<Int>
    var layer: Int

    var count: Int { headerCount + body.count }
  }

  /// A piece of a packet: bytes of one unit.
  private struct Piece {
    var unit: Int
    var range: Range<Int>
    /// The first piece of its packet.
    var startsPacket: Bool
  }

  /// Pieces of a packet, as far as W can count them.
  private static let maximumPieces = 3
  /// A shorter rest of a packet isn't worth a piece of a unit.
  private static let smallestPiece = 24

  // Filled anew for each frame, in memory that stays.
  private var units: [Unit] = []
  private var pieces: [Piece] = []
  private var frame: EncodedFrame?
  private var position = 0
  private var isFirst = true

  public init() {}

  public func begin(_ frame: EncodedFrame, maximumPayload: Int) -> Int {
    self.frame = nil
    units.removeAll(keepingCapacity: true)
    pieces.removeAll(keepingCapacity: true)
    position = 0
    isFirst = true
    guard maximumPayload > Self.smallestPiece * 2, findUnits(frame), !units.isEmpty else {
      return 0
    }
    var packets = 0
    var start = 0
    while start < units.count {
      var end = start + 1
      while end < units.count, units[end].layer == units[start].layer { end += 1 }
      packets += cut(start..<end, maximumPayload)
      start = end
    }
    self.frame = frame
    return packets
  }

  public var tellsLayerParts: Bool { true }

  public var nextLayerPart: RTPLayerPart? {
    guard frame != nil, position < pieces.count else { return nil }
    let layer = units[pieces[position].unit].layer
    var end = position + 1
    while end < pieces.count, !pieces[end].startsPacket { end += 1 }
    return RTPLayerPart(
      layer: layer,
      isFirst: position == 0 || units[pieces[position - 1].unit].layer != layer,
      isLast: end == pieces.count || units[pieces[end].unit].layer != layer)
  }

  public func next(into target: UnsafeMutableRawBufferPointer) -> RTPPayloadPart? {
    guard let frame, position < pieces.count else { return nil }
    var end = position + 1
    while end < pieces.count, !pieces[end].startsPacket { end += 1 }
    let last = pieces[end - 1]
    var header = AV1AggregationHeader()
    header.isContinuation = pieces[position].range.lowerBound > 0
    header.continues = last.range.upperBound < units[last.unit].count
    header.elementCount = UInt8(end - position)
    header.startsSequence = isFirst && frame.isKeyFrame
    var offset = 0
    func put(_ byte: UInt8) {
      if offset < target.count { unsafe target[offset] = byte }
      offset += 1
    }
    put(header.byte)
    for index in position..<end {
      let piece = pieces[index]
      if index < end - 1 {
        var rest = piece.range.count
        repeat {
          put(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
          rest >>= 7
        } while rest > 0
      }
      guard offset + piece.range.count <= target.count else {
        self.frame = nil
        return nil
      }
      unsafe write(piece, frame.payload.bytes, to: target, at: offset)
      offset += piece.range.count
    }
    position = end
    isFirst = false
    let isLast = position == pieces.count
    if isLast { self.frame = nil }
    return RTPPayloadPart(count: offset, marker: isLast)
  }

  private func write(
    _ piece: Piece, _ bytes: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer,
    at start: Int
  ) {
    let unit = units[piece.unit]
    var offset = start
    var from = piece.range.lowerBound
    while from < min(unit.headerCount, piece.range.upperBound) {
      // The element's length tells the unit's size.
      unsafe target[offset] =
        unsafe from == 0 ? bytes[unit.header] & ~AV1OBU.sizeFlag : bytes[unit.header + 1]
      offset += 1
      from += 1
    }
    unsafe target.put(
      bytes.part(
        unit.body.lowerBound + from - unit.headerCount, piece.range.upperBound - from), at: offset)
  }

  /// Finds the units that are sent; false where the payload isn't a sequence of OBUs.
  private func findUnits(_ frame: EncodedFrame) -> Bool {
    let bytes = unsafe frame.payload.bytes
    var offset = 0
    var layer = 0
    while offset < bytes.count {
      let header = unsafe bytes[offset]
      let headerCount = header & AV1OBU.extensionFlag != 0 ? 2 : 1
      guard header & 0x80 == 0, offset + headerCount <= bytes.count else { return false }
      while layer < frame.layers.count - 1, offset >= frame.layers[layer].end { layer += 1 }
      var body = offset + headerCount
      var size = bytes.count - body
      if header & AV1OBU.sizeFlag != 0 {
        var reader = unsafe ByteReader(bytes.bytes.part(from: body))
        let read = reader.leb128()
        body += reader.offset
        guard let read, read <= bytes.count - body else { return false }
        size = read
      }
      if AV1OBU.isSent(AV1OBU.type(header)) {
        units.append(
          Unit(header: offset, headerCount: headerCount, body: body..<body + size, layer: layer))
      }
      offset = body + size
    }
    return true
  }

  /// Plans the packets of the units of one layer and returns their number.
  private func cut(_ range: Range<Int>, _ maximumPayload: Int) -> Int {
    // Each unit's length, and what may be left empty before the next.
    var total = 0
    for index in range { total += units[index].count + 3 }
    total += (range.count - 1) * Self.smallestPiece
    let room = maximumPayload - 1
    let wanted = (total + room - 1) / room
    let limit = min(room, (total + wanted - 1) / wanted)
    var packets = 0
    var left = 0
    var count = Self.maximumPieces
    for index in range {
      var done = 0
      while done < units[index].count {
        let rest = units[index].count - done
        // A length for the piece before, which isn't the last any more.
        let lengthCount = count > 0 && left < limit ? 3 : 0
        let available = left - lengthCount
        if count >= Self.maximumPieces || available < min(rest, Self.smallestPiece) {
          packets += 1
          left = limit
          count = 0
          let size = min(rest, left)
          pieces.append(Piece(unit: index, range: done..<done + size, startsPacket: true))
          done += size
          left -= size
        } else {
          let size = min(rest, available)
          pieces.append(Piece(unit: index, range: done..<done + size, startsPacket: false))
          done += size
          left = available - size
        }
        count += 1
      }
    }
    return packets
  }
}
