import SoraMedia
import SoraRTP
import SoraTransport

extension SubscribedTrack {
  /// The sender's part of a report: the publisher's pairing of wall clock and RTP clock, moved on to now, so that audio and video
  /// of one publisher stay in step (RFC 3550 §6.4.1). nil before the publisher has reported.
  func senderInfo(at now: Instant) -> RTCPSenderInfo? {
    guard rewriter.timestamps.isStarted, rewriter.timestamps.isAligned,
      let reports = selection.current?.receiver?.senderReports,
      let last = reports.last, let arrival = reports.lastArrival
    else { return nil }
    let elapsed = max(0, now.nanoseconds(since: arrival))
    let (seconds, rest) = elapsed.quotientAndRemainder(dividingBy: 1_000_000_000)
    let ticks = rtpTicks(in: elapsed, at: Int64(source.codec.clockRate))
    let fraction = (UInt64(rest) << 32) / 1_000_000_000
    return sender.makeReport(
      ntp: NTPTime(rawValue: last.ntp.rawValue &+ UInt64(seconds) << 32 &+ fraction),
      rtpTimestamp: last.rtpTimestamp &+ rewriter.timestamps.offset
        &+ UInt32(truncatingIfNeeded: ticks),
      at: now)
  }
}
