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
        ("video", "\(video.codec ?? "?") \(video.width)x\(video.height), \(video.frames) frames"))
      rows.append(("frame rate", String(format: "%.1f fps", video.fps)))
      if let rate = video.bitrateKbps { rows.append(("video bitrate", "\(rate) kbit/s")) }
      if let latency = video.latencyMs {
        rows.append(
          ("latency p50 p95 p99", "\(latency.p50)  \(latency.p95)  \(latency.p99) ms"))
      }
      if let psnr = video.psnrDb {
        let least = video.stamps?.psnrMinDb.map { String(format: " (least %.1f)", $0) } ?? ""
        rows.append(("PSNR", String(format: "%.1f dB", psnr) + least))
      }
      if let stamps = video.stamps {
        rows.append(
          ("frames missing", "\(stamps.missing) of \(stamps.frames + stamps.missing)"))
      }
      if let freezes = video.freezeCount { rows.append(("freezes", "\(freezes)")) }
    }
    if let audio = report.audio {
      let level = audio.levelDb.map { String(format: "%.1f dB", $0) } ?? "silent"
      rows.append(
        ("audio", "\(audio.codec ?? "?") " + String(format: "%.1f s, ", audio.seconds) + level))
      if let concealed = audio.concealedMs { rows.append(("audio concealed", "\(concealed) ms")) }
    }
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
    if let streams = report.streams { rows.append(("streams", "\(streams.count)")) }
    let column = rows.map(\.0.count).max() ?? 0
    return [name]
      + rows.map { "  " + $0.0.padding(toLength: column + 2, withPad: " ", startingAt: 0) + $0.1 }
  }
}
