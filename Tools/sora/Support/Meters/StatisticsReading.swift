/// One object of a W3C webrtc-stats report, reduced to what is read here.
package struct StatisticsObject: Sendable {
  package var id: String
  package var type: String
  package var numbers: [String: Double]
  package var texts: [String: String]
  package var records: [String: [String: Double]]

  package init(
    id: String, type: String, numbers: [String: Double] = [:], texts: [String: String] = [:],
    records: [String: [String: Double]] = [:]
  ) {
    self.id = id
    self.type = type
    self.numbers = numbers
    self.texts = texts
    self.records = records
  }
}

/// Which way a connection's media goes.
package enum MediaDirection: Sendable {
  case sending
  case receiving
}

/// What the command tells of a statistics report.
package struct StatisticsReading: Sendable, Equatable {
  /// Sums over the streams of one kind.
  package struct Media: Sendable, Equatable {
    /// Such as `VP8`; nil where it isn't known.
    package var codec: String?
    package var bytes = 0
    package var packets = 0
    package var packetsLost = 0
    package var nack = 0
    package var pli = 0
    package var frames = 0
    package var framesDropped = 0
    package var keyFrames = 0
    package var freezeCount = 0
    package var width = 0
    package var height = 0
    /// Why less is sent than was captured (W3C `qualityLimitationReason`); nil where nothing holds it back.
    package var limitation: String?
    package var concealedSamples = 0
    package var silentConcealedSamples = 0
    package var samples = 0
  }

  package var video = Media()
  package var audio = Media()
  package var roundTripMilliseconds: Double?
  /// Packets that the whole connection lost on this host, by reason.
  package var drops: [String: Int] = [:]

  package init() {}

  /// - Parameter tracks: the received tracks that count; nil for all.
  package init(
    _ objects: [StatisticsObject], _ direction: MediaDirection, tracks: Set<String>? = nil
  ) {
    let codecs = Dictionary(
      objects.filter { $0.type == "codec" }.map { ($0.id, $0.texts["mimeType"]) },
      uniquingKeysWith: { first, _ in first })
    let transport = objects.first { $0.type == "transport" }
    let selectedPair = transport?.texts["selectedCandidatePairId"]
    drops =
      transport?.records["packetsDroppedByReason"]?.mapValues { StatisticsObject.integer($0) }
      ?? [:]
    let type = direction == .sending ? "outbound-rtp" : "inbound-rtp"
    for object in objects {
      switch object.type {
      case type:
        if let tracks, !tracks.contains(object.texts["trackIdentifier"] ?? "") { continue }
        let codec = object.texts["codecId"].flatMap { codecs[$0] ?? nil }
        if object.texts["kind"] == "video" {
          video.add(object, direction, codec)
        } else {
          audio.add(object, direction, codec)
        }
      case "remote-inbound-rtp" where direction == .sending:
        // What the other side says that it lost of ours.
        let lost = object.integer("packetsLost")
        if object.texts["kind"] == "video" {
          video.packetsLost += lost
        } else {
          audio.packetsLost += lost
        }
      case "candidate-pair" where object.id == selectedPair:
        if let seconds = object.numbers["currentRoundTripTime"] {
          roundTripMilliseconds = seconds * 1_000
        }
      default: break
      }
    }
  }
}

extension StatisticsReading {
  /// Takes over what is newer. A stream that was withdrawn has no statistics any more, and keeps its last ones.
  package mutating func update(with new: StatisticsReading) {
    if new.video.packets >= video.packets { video = new.video }
    if new.audio.packets >= audio.packets { audio = new.audio }
    roundTripMilliseconds = new.roundTripMilliseconds ?? roundTripMilliseconds
    if !new.drops.isEmpty { drops = new.drops }
  }

  /// Takes what another connection has counted up to its end: sums, and not how it stood.
  package mutating func addEarlier(_ other: StatisticsReading) {
    var sums = other
    sums.roundTripMilliseconds = nil
    sums.video.limitation = nil
    add(sums)
  }

  /// Adds another stream's sums.
  package mutating func add(_ other: StatisticsReading) {
    video.add(other.video)
    audio.add(other.audio)
    roundTripMilliseconds = roundTripMilliseconds ?? other.roundTripMilliseconds
    // Each stream's reading has those of the whole connection.
    drops.merge(other.drops) { max($0, $1) }
  }
}

extension StatisticsReading.Media {
  fileprivate mutating func add(_ other: Self) {
    codec = codec ?? other.codec
    bytes += other.bytes
    packets += other.packets
    packetsLost += other.packetsLost
    nack += other.nack
    pli += other.pli
    frames += other.frames
    framesDropped += other.framesDropped
    keyFrames += other.keyFrames
    freezeCount += other.freezeCount
    width = max(width, other.width)
    height = max(height, other.height)
    limitation = limitation ?? other.limitation
    concealedSamples += other.concealedSamples
    silentConcealedSamples += other.silentConcealedSamples
    samples += other.samples
  }

  fileprivate mutating func add(
    _ object: StatisticsObject, _ direction: MediaDirection, _ mimeType: String?
  ) {
    if codec == nil, let name = mimeType?.split(separator: "/").last { codec = String(name) }
    let isSent = direction == .sending
    bytes += object.integer(isSent ? "bytesSent" : "bytesReceived")
    packets += object.integer(isSent ? "packetsSent" : "packetsReceived")
    if !isSent { packetsLost += object.integer("packetsLost") }
    nack += object.integer("nackCount")
    pli += object.integer("pliCount")
    let count = object.integer(isSent ? "framesSent" : "framesDecoded")
    // A simulcast's layers are the same frames in several sizes.
    frames = object.texts["rid"] == nil ? frames + count : max(frames, count)
    framesDropped += object.integer("framesDropped")
    keyFrames += object.integer(isSent ? "keyFramesEncoded" : "keyFramesDecoded")
    freezeCount += object.integer("freezeCount")
    width = max(width, object.integer("frameWidth"))
    height = max(height, object.integer("frameHeight"))
    if let reason = object.texts["qualityLimitationReason"], reason != "none" {
      limitation = reason
    }
    concealedSamples += object.integer("concealedSamples")
    silentConcealedSamples += object.integer("silentConcealedSamples")
    samples += object.integer("totalSamplesReceived")
  }
}

extension StatisticsObject {
  /// A member as a whole number; 0 where it is absent, or isn't one.
  fileprivate func integer(_ name: String) -> Int { Self.integer(numbers[name] ?? 0) }

  fileprivate static func integer(_ value: Double) -> Int {
    value.isFinite && abs(value) < 9e15 ? Int(value) : 0
  }
}
