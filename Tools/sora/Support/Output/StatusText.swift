import Foundation

/// What a person watches: one line, and one more for each of several streams.
package enum StatusText {
  /// - Parameters:
  ///   - name: what runs, such as `play demo`.
  ///   - report: about the last second.
  ///   - note: what else there is to say.
  ///   - width: columns of the terminal; longer lines are cut.
  ///   - height: lines of the terminal; of more streams those that have been gone for longest are left out.
  package static func lines(
    name: String, report: Report, note: String? = nil, width: Int = 200, height: Int = 200
  ) -> [String] {
    let streams = report.streams ?? []
    var parts = [name.printable, clock(report.elapsedMs)]
    if streams.count > 1 {
      let live = streams.count { $0.goneMs == nil }
      parts.append("\(streams.count) streams, \(live) live")
    } else if report.streamsLive != 0 || report.streamId == nil {
      parts += media(report.video, report.audio)
    }
    if report.audioDevice?.voice == true { parts.append("voice") }
    if let note { parts.append(note.printable) }
    if let rtt = report.rttMs { parts.append("rtt \(number(rtt, 1)) ms") }
    if report.packets > 0 { parts.append("lost \(report.packetsLost)") }
    var lines = [parts.joined(separator: "  ")]
    if streams.count > 1 {
      let room = max(1, height - 2)
      let shown = shown(streams, room)
      lines += shown.map { line($0, isMain: $0.streamId == report.streamId) }
      if shown.count < streams.count {
        lines.append("    and \(streams.count - shown.count) more")
      }
    }
    return lines.map { String($0.prefix(max(20, width))) }
  }

  /// `gone for 3 s`
  package static func gone(_ milliseconds: Int) -> String {
    "gone for \(milliseconds / 1_000) s"
  }

  /// Enough of a stream's id to tell it from others, of characters that do no harm to a terminal.
  package static func short(_ streamId: String) -> String {
    let harmless = streamId.unicodeScalars.filter {
      $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
    }
    return String(harmless.prefix(8))
  }

  /// The streams that there is room for, in their order: first those that are there, then those that went last.
  private static func shown(_ streams: [Report.Stream], _ room: Int) -> [Report.Stream] {
    guard streams.count > room else { return streams }
    let kept = streams.indices.sorted {
      (streams[$0].goneMs ?? -1, -$0) < (streams[$1].goneMs ?? -1, -$1)
    }
    return kept.prefix(room).sorted().map { streams[$0] }
  }

  private static func line(_ stream: Report.Stream, isMain: Bool) -> String {
    var parts = [(isMain ? "  > " : "    ") + short(stream.streamId)]
    if let gone = stream.goneMs {
      parts.append(Self.gone(gone))
      if let video = stream.video {
        parts.append("\(video.width)x\(video.height), \(video.frames) frames")
      }
    } else {
      parts.append("live")
      parts += media(stream.video, stream.audio)
    }
    return parts.joined(separator: "  ")
  }

  /// What there is to say of a stream's video and audio, in short.
  package static func media(_ video: Report.Video?, _ audio: Report.Audio?) -> [String] {
    var parts: [String] = []
    if let video {
      parts.append("\(video.width)x\(video.height) \(number(video.fps, 1)) fps")
      if let rate = video.bitrateKbps { parts.append("\(rate) kbit/s") }
      if let latency = video.latencyMs { parts.append("latency \(latency.p50)/\(latency.p95) ms") }
      if let psnr = video.psnrDb { parts.append("PSNR \(number(psnr, 1)) dB") }
      if let freezes = video.freezeCount, freezes > 0 {
        parts.append(freezes == 1 ? "1 freeze" : "\(freezes) freezes")
      }
      if let dropped = video.framesDropped, dropped > 0 { parts.append("\(dropped) dropped") }
    }
    if let audio {
      parts.append("audio " + level(audio) { "\(meter($0)) \(number($0, 0)) dB" })
    }
    return parts
  }

  /// How loud sound is, as `text` writes decibels.
  static func level(_ audio: Report.Audio, _ text: (Double) -> String) -> String {
    audio.levelDb.map(text) ?? (audio.isMeasured ? "silent" : "sent as it is")
  }

  /// A bar of ten: full scale is all of it, 60 dB below is nothing.
  private static func meter(_ level: Double) -> String {
    let bars = Int((min(max(level, -60), 0) / 6).rounded()) + 10
    let rest = String(repeating: ".", count: 10 - bars)
    return "[\(String(repeating: "#", count: bars))\(rest)]"
  }

  private static func clock(_ milliseconds: Int) -> String {
    let seconds = milliseconds / 1_000
    return String(format: "%d:%02d", seconds / 60, seconds % 60)
  }

  private static func number(_ value: Double, _ digits: Int) -> String {
    String(format: "%.\(digits)f", value)
  }
}
