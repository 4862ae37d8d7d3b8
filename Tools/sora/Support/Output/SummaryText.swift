import Foundation

/// How a call was, as a small table for people.
package enum SummaryText {
  /// - Parameter showsDrops: whether to tell what was lost on this host, where something was.
  package static func lines(
    name: String, _ report: Report, showsDrops: Bool = false
  ) -> [String] {
    var rows: [(String, String)] = []
    if let value = report.connectMs { rows.append(("connect time", "\(value) ms")) }
    if let phases = report.phases, !phases.isEmpty {
      let parts = phases.map { $0.name + String(format: " %.1f", $0.milliseconds) }
      rows.append(("connect phases", parts.joined(separator: ", ") + " ms"))
    }
    if let value = report.gatheringMs {
      rows.append(("gathering", String(format: "%.1f ms", value)))
    }
    if let value = report.firstFrameMs { rows.append(("first frame", "\(value) ms")) }
    if let video = report.video {
      rows.append(
        (
          "video",
          "\(video.codec?.printable ?? "?") \(video.width)x\(video.height), \(video.frames) frames"
        ))
      rows.append(("frame rate", String(format: "%.1f fps", video.fps)))
      if let rate = video.bitrateKbps { rows.append(("video bitrate", "\(rate) kbit/s")) }
      if let latency = video.latencyMs {
        rows.append(
          ("latency p50 p95 p99", "\(latency.p50)  \(latency.p95)  \(latency.p99) ms"))
      }
      if let sync = video.lipSyncMs {
        rows.append(
          ("frames after their beeps", "\(sync.offset) ms, 95 % within \(sync.p95) ms"))
      }
      if let psnr = video.psnrDb {
        let least = video.stamps?.psnrMinDb.map { String(format: " (least %.1f)", $0) } ?? ""
        rows.append(("PSNR", String(format: "%.1f dB", psnr) + least))
      }
      if let stamps = video.stamps {
        rows.append(("frames missing", "\(stamps.missing) of \(stamps.sent)"))
        rows.append(("frames unreadable", "\(stamps.unreadable) of \(stamps.sent)"))
      }
      if let dropped = video.framesDropped, dropped > 0 {
        rows.append(("frames dropped", "\(dropped)"))
      }
      if let freezes = video.freezeCount { rows.append(("freezes", "\(freezes)")) }
    }
    if let audio = report.audio {
      let level = StatusText.level(audio) { String(format: "%.1f dB", $0) }
      rows.append(
        (
          "audio",
          "\(audio.codec?.printable ?? "?") " + String(format: "%.1f s, ", audio.seconds) + level
        ))
      if let concealed = audio.concealedMs { rows.append(("audio concealed", "\(concealed) ms")) }
    }
    if report.reconnections > 0 { rows.append(("connected anew", "\(report.reconnections) times")) }
    if let rtt = report.rttMs { rows.append(("round trip", String(format: "%.1f ms", rtt))) }
    let sent = max(1, report.packets + max(0, report.packetsLost))
    rows.append(
      (
        "packets lost",
        "\(report.packetsLost) of \(sent)"
          + String(format: " (%.2f %%)", 100 * Double(max(0, report.packetsLost)) / Double(sent))
      ))
    if showsDrops, !report.drops.isEmpty {
      let parts = report.drops.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
        "\($0.key) \($0.value)"
      }
      rows.append(("packets dropped", parts.joined(separator: ", ")))
    }
    if let watched = watched(report) { rows.append(("watched", watched)) }
    if let streams = report.streams {
      let live = streams.count { $0.goneMs == nil }
      rows.append(("streams", "\(streams.count), \(live) live at the end"))
      for stream in streams.suffix(streamsShown) { rows.append(row(stream)) }
      if streams.count > streamsShown {
        rows.append(("", "the last \(streamsShown) of them; --json tells all"))
      }
    }
    let column = rows.map(\.0.count).max() ?? 0
    return [name]
      + rows.map { "  " + $0.0.padding(toLength: column + 2, withPad: " ", startingAt: 0) + $0.1 }
  }

  /// The streams that have a row of their own.
  private static let streamsShown = 20

  /// How long there was something to watch, where that wasn't one stream all the time.
  private static func watched(_ report: Report) -> String? {
    guard let watched = report.watchedMs, let gone = report.goneMs,
      gone > 0 || report.streamsLive == 0 || report.streams != nil
    else { return nil }
    let times = report.timesGone ?? 0
    return seconds(watched) + " s"
      + (times > 0 ? ", " + seconds(gone) + " s of it without a stream" : "")
      + (times > 1 ? " (\(times) times)" : "")
      + (report.streamsLive == 0 ? "; stream gone at the end" : "")
  }

  private static func row(_ stream: Report.Stream) -> (String, String) {
    var parts = [seconds(stream.liveMs) + " s"]
    if let video = stream.video {
      parts.append("\(video.codec?.printable ?? "?") \(video.width)x\(video.height)")
      parts.append("\(video.frames) frames")
      parts.append(String(format: "%.1f fps", video.fps))
      if let freezes = video.freezeCount, freezes > 0 {
        parts.append(freezes == 1 ? "1 freeze" : "\(freezes) freezes")
      }
    }
    if let audio = stream.audio {
      parts.append("audio " + StatusText.level(audio) { String(format: "%.1f dB", $0) })
    }
    return ("  " + StatusText.short(stream.streamId), parts.joined(separator: ", "))
  }

  private static func seconds(_ milliseconds: Int) -> String {
    String(format: "%.1f", Double(milliseconds) / 1_000)
  }
}
