import Foundation

/// The line that a person watches.
package enum StatusText {
  /// - Parameters:
  ///   - name: what runs, such as `play demo`.
  ///   - report: about the last second.
  ///   - width: columns of the terminal; longer lines are cut.
  package static func line(name: String, report: Report, note: String? = nil, width: Int = 200)
    -> String
  {
    var parts = [name.printable, clock(report.elapsedMs)]
    if let video = report.video {
      parts.append("\(video.width)x\(video.height) \(number(video.fps, 1)) fps")
      if let rate = video.bitrateKbps { parts.append("\(rate) kbit/s") }
      if let latency = video.latencyMs { parts.append("latency \(latency.p50)/\(latency.p95) ms") }
      if let psnr = video.psnrDb { parts.append("PSNR \(number(psnr, 1)) dB") }
      if let freezes = video.freezeCount, freezes > 0 { parts.append("\(freezes) freezes") }
    }
    if let audio = report.audio {
      parts.append("audio " + (audio.levelDb.map { "\(number($0, 0)) dB" } ?? "silent"))
    }
    if let rtt = report.rttMs { parts.append("rtt \(number(rtt, 1)) ms") }
    if report.packets > 0 { parts.append("lost \(report.packetsLost)") }
    if let others = report.streams, others.count > 1 { parts.append("\(others.count) streams") }
    if let note { parts.append(note.printable) }
    return String(parts.joined(separator: "  ").prefix(max(20, width)))
  }

  private static func clock(_ milliseconds: Int) -> String {
    let seconds = milliseconds / 1_000
    return String(format: "%d:%02d", seconds / 60, seconds % 60)
  }

  private static func number(_ value: Double, _ digits: Int) -> String {
    String(format: "%.\(digits)f", value)
  }
}
