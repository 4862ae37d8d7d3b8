import Foundation

/// One line of `--json`: where a connection stands (`stats`, about the last second), or how it was (`summary`).
///
/// Members that aren't known are written as null, so that every line has the same members.
package struct Report: Sendable, Encodable {
  package enum Kind: String, Sendable, Encodable {
    case stats
    case summary
  }

  package var type: Kind
  package var connectionId: String?
  /// From the start of the attempt, in milliseconds.
  package var elapsedMs: Int
  /// From the start of the attempt to the connection.
  package var connectMs: Int?
  /// What the attempt spent its time with, one after the other; the last phase ends after the connection stands.
  package var phases: [Phase]?
  /// How long STUN and TURN servers were asked, beside the phases.
  package var gatheringMs: Double?
  /// From the start of the attempt to the first picture that was sent, or that was decoded.
  package var firstFrameMs: Int?
  package var video: Video?
  package var audio: Audio?
  /// Left out where there is none.
  package var audioDevice: AudioDevice?
  package var rttMs: Double?
  package var bytes = 0
  package var packets = 0
  package var packetsLost = 0
  package var nack = 0
  package var pli = 0
  /// Packets that were lost on this host, by layer and reason.
  package var drops: [String: Int] = [:]
  package var error: String?
  /// How often the connection was made anew.
  package var reconnections = 0
  /// The received stream that `video` and `audio` are about: the one that was followed last. The other members are about
  /// all.
  package var streamId: String?
  /// How many received streams are there.
  package var streamsLive: Int?
  /// From the first received picture or sound on.
  package var watchedMs: Int?
  /// How long and how often there was no stream, after the first.
  package var goneMs: Int?
  package var timesGone: Int?
  /// One element for each stream, where several were received; in `stats` without those that went over a minute ago.
  package var streams: [Stream]?

  package init(type: Kind, elapsedMs: Int) {
    self.type = type
    self.elapsedMs = elapsedMs
  }

  /// A part of the time that connecting took.
  package struct Phase: Sendable, Equatable {
    package var name: String
    package var milliseconds: Double

    package init(name: String, milliseconds: Double) {
      self.name = name
      self.milliseconds = milliseconds
    }
  }

  package struct Video: Sendable, Encodable {
    package var codec: String?
    package var width = 0
    package var height = 0
    package var frames = 0
    package var fps = 0.0
    package var bitrateKbps: Int?
    package var framesDropped: Int?
    package var freezeCount: Int?
    package var keyFrames: Int?
    package var psnrDb: Double?
    package var latencyMs: Latency?
    package var lipSyncMs: LipSync?
    package var stamps: Stamps?

    package init() {}

    private enum CodingKeys: String, CodingKey {
      case codec, width, height, frames, fps, bitrateKbps, framesDropped, freezeCount, keyFrames
      case psnrDb, latencyMs, lipSyncMs, stamps
    }

    package func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encode(codec, forKey: .codec)
      try values.encode(width, forKey: .width)
      try values.encode(height, forKey: .height)
      try values.encode(frames, forKey: .frames)
      try values.encode(fps.rounded(digits: 2), forKey: .fps)
      try values.encode(bitrateKbps, forKey: .bitrateKbps)
      try values.encode(framesDropped, forKey: .framesDropped)
      try values.encode(freezeCount, forKey: .freezeCount)
      try values.encode(keyFrames, forKey: .keyFrames)
      try values.encode(psnrDb?.rounded(digits: 2), forKey: .psnrDb)
      try values.encode(latencyMs, forKey: .latencyMs)
      try values.encode(lipSyncMs, forKey: .lipSyncMs)
      try values.encode(stamps, forKey: .stamps)
    }
  }

  /// Milliseconds from the drawing of a frame to its arrival here, by the wall clocks of both sides.
  package struct Latency: Sendable, Encodable, Equatable {
    package var p50: Int
    package var p95: Int
    package var p99: Int

    /// nil where no frame carried a time.
    package init?(_ histogram: LatencyHistogram) {
      guard let p50 = histogram.percentile(50), let p95 = histogram.percentile(95),
        let p99 = histogram.percentile(99)
      else { return nil }
      (self.p50, self.p95, self.p99) = (p50, p95, p99)
    }
  }

  /// Milliseconds by which the test pattern's frames are shown after their beeps are heard; negative where they are shown before.
  package struct LipSync: Sendable, Encodable, Equatable {
    /// The middle one.
    package var offset: Int
    /// What 95 % of them don't exceed, either way.
    package var p95: Int
    package var beeps: Int

    package init(_ result: SyncMeter.Result) {
      (offset, p95, beeps) = (result.offset, result.p95, result.beeps)
    }
  }

  /// What the frame stamps tell; beyond what every summary has.
  package struct Stamps: Sendable, Encodable, Equatable {
    /// Frames whose stamp could be read.
    package var frames: Int
    /// Frames that came, and whose stamp could not.
    package var unreadable: Int
    /// Frames that never came.
    package var missing: Int
    package var gaps: Int
    package var duplicates: Int
    package var outOfOrder: Int
    package var restarts: Int
    package var psnrMinDb: Double?

    /// All frames that were sent, as far as stamps tell.
    package var sent: Int { frames + unreadable + missing }

    /// nil where no frame carried a stamp.
    package init?(_ meter: StampMeter, psnrMinDb: Double?) {
      guard meter.stamped > 0 else { return nil }
      frames = meter.stamped
      unreadable = meter.unstamped
      missing = meter.missing
      gaps = meter.gaps
      duplicates = meter.duplicates
      outOfOrder = meter.outOfOrder
      restarts = meter.restarts
      self.psnrMinDb = psnrMinDb?.rounded(digits: 2)
    }
  }

  package struct Audio: Sendable, Encodable {
    package var codec: String?
    package var seconds = 0.0
    package var concealedMs: Int?
    /// dB relative to full scale; null for silence, and where it isn't known.
    package var levelDb: Double?
    /// Whether it is known: of packets that go on as they are it isn't.
    package var isMeasured = true

    package init() {}

    private enum CodingKeys: String, CodingKey { case codec, seconds, concealedMs, levelDb }

    package func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encode(codec, forKey: .codec)
      try values.encode(seconds.rounded(digits: 2), forKey: .seconds)
      try values.encode(concealedMs, forKey: .concealedMs)
      try values.encode(levelDb?.rounded(digits: 1), forKey: .levelDb)
    }
  }

  /// One of several received streams.
  package struct Stream: Sendable, Encodable {
    package var streamId: String
    /// How long it was there, or has been.
    package var liveMs: Int
    /// How long it has been gone; nil while it is there.
    package var goneMs: Int?
    package var video: Video?
    package var audio: Audio?

    package init(
      streamId: String, liveMs: Int, goneMs: Int?, video: Video? = nil, audio: Audio? = nil
    ) {
      self.streamId = streamId
      self.liveMs = liveMs
      self.goneMs = goneMs
      self.video = video
      self.audio = audio
    }

    private enum CodingKeys: String, CodingKey { case streamId, liveMs, goneMs, video, audio }

    package func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encode(streamId, forKey: .streamId)
      try values.encode(liveMs, forKey: .liveMs)
      try values.encode(goneMs, forKey: .goneMs)
      try values.encode(video, forKey: .video)
      try values.encode(audio, forKey: .audio)
    }
  }

  private enum CodingKeys: String, CodingKey {
    case type, connectionId, elapsedMs, connectMs, connectPhasesMs, gatheringMs, firstFrameMs
    case video, audio, rttMs, bytes, packets, packetsLost, nack, pli, drops, error, streams
    case streamId, streamsLive, watchedMs, goneMs, timesGone, audioDevice, reconnections
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(type, forKey: .type)
    try values.encode(connectionId, forKey: .connectionId)
    try values.encode(elapsedMs, forKey: .elapsedMs)
    try values.encode(connectMs, forKey: .connectMs)
    let durations = phases.map { phases in
      Dictionary(phases.map { ($0.name, $0.milliseconds.rounded(digits: 2)) }, uniquingKeysWith: +)
    }
    try values.encode(durations, forKey: .connectPhasesMs)
    try values.encode(gatheringMs?.rounded(digits: 2), forKey: .gatheringMs)
    try values.encode(firstFrameMs, forKey: .firstFrameMs)
    try values.encode(video, forKey: .video)
    try values.encode(audio, forKey: .audio)
    try values.encodeIfPresent(audioDevice, forKey: .audioDevice)
    try values.encode(rttMs?.rounded(digits: 2), forKey: .rttMs)
    try values.encode(bytes, forKey: .bytes)
    try values.encode(packets, forKey: .packets)
    try values.encode(packetsLost, forKey: .packetsLost)
    try values.encode(nack, forKey: .nack)
    try values.encode(pli, forKey: .pli)
    try values.encode(drops, forKey: .drops)
    try values.encode(error, forKey: .error)
    try values.encode(reconnections, forKey: .reconnections)
    try values.encode(streamId, forKey: .streamId)
    try values.encode(streamsLive, forKey: .streamsLive)
    try values.encode(watchedMs, forKey: .watchedMs)
    try values.encode(goneMs, forKey: .goneMs)
    try values.encode(timesGone, forKey: .timesGone)
    try values.encodeIfPresent(streams, forKey: .streams)
  }
}

extension Encodable {
  /// The value as one line of JSON.
  package var jsonLine: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // The reports hold nothing that JSON can't express: see `rounded(digits:)`.
    guard let data = try? encoder.encode(self) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
  }
}

extension Double {
  /// Rounded to `digits` after the point; 0 for what JSON can't express.
  func rounded(digits: Int) -> Double {
    guard isFinite else { return 0 }
    let scale = pow(10, Double(digits))
    return (self * scale).rounded() / scale
  }
}
