import SoraCommandSupport
import SoraMedia

/// What the meters of all streams showed at a time, to tell rates since then.
struct PlayedMoment {
  fileprivate struct Counts {
    var frames = 0
    var videoBytes = 0
    var audio = AudioMeter.Snapshot()
  }

  let at: Instant
  fileprivate var counts: [String: Counts] = [:]

  /// Before anything came.
  init(at now: Instant) { at = now }

  init(of streams: PlayedStreams, at now: Instant) {
    at = now
    for stream in streams.all {
      counts[stream.streamId] = Counts(
        frames: stream.video.snapshot.frames,
        videoBytes: streams.reading(of: stream).video.bytes, audio: stream.audio.snapshot)
    }
  }
}

extension PlayedStreams {
  /// What the report tells of the streams at `now`.
  ///
  /// - Parameter last: where rates are to be those since then; otherwise they are those of a stream's whole time.
  func addTo(_ report: inout Report, at now: Instant, since last: PlayedMoment? = nil) {
    let state = state
    report.streamsLive = state.streams.count(where: \.isLive)
    report.streamId = state.main
    report.watchedMs = firstMedia.map { milliseconds(now - $0) }
    report.goneMs = milliseconds(state.gone(until: now))
    report.timesGone = state.timesGone
    let told = all.map { describe($0, state, at: now, since: last) }
    if let main = told.first(where: { $0.streamId == state.main }) {
      report.video = main.video
      report.audio = main.audio
    }
    // What a person watches, and each line of JSON, would grow for ever in a channel where many come and go.
    let recent =
      last == nil
      ? told
      : told.filter { $0.streamId == state.main || ($0.goneMs ?? 0) <= Self.memoryMilliseconds }
    if recent.count > 1 { report.streams = recent }
  }

  /// Streams that have been gone for longer are in the summary alone.
  private static let memoryMilliseconds = 60_000

  private func describe(
    _ stream: PlayedStream, _ state: StreamFollower, at now: Instant, since last: PlayedMoment?
  ) -> Report.Stream {
    let known = state.stream(stream.streamId)
    let end = known?.goneSince ?? now
    var told = Report.Stream(
      streamId: stream.streamId, liveMs: milliseconds(end - (known?.since ?? end)),
      goneMs: known?.goneSince.map { milliseconds(now - $0) })
    told.video = video(of: stream, until: end)
    told.audio = audio(of: stream)
    if let last {
      let seconds = max((now - last.at).inSeconds, 0.001)
      let before = last.counts[stream.streamId] ?? PlayedMoment.Counts()
      told.video?.fps = Double(stream.video.snapshot.frames - before.frames) / seconds
      told.video?.bitrateKbps = kilobits(
        reading(of: stream).video.bytes - before.videoBytes, in: seconds)
      told.audio?.levelDb = stream.audio.snapshot.levelDb(since: before.audio)
    }
    return told
  }

  private func video(of stream: PlayedStream, until end: Instant) -> Report.Video? {
    let meter = stream.video.snapshot
    guard meter.frames > 0 else { return nil }
    var video = Report.Video()
    video.addTotals(reading(of: stream).video, seconds: meter.seconds(until: end))
    // The pipeline counts a freeze when it is over.
    if meter.silence(at: end) != nil { video.freezeCount = (video.freezeCount ?? 0) + 1 }
    video.width = meter.width
    video.height = meter.height
    video.frames = meter.frames
    video.fps = meter.framesPerSecond(until: end)
    video.psnrDb = meter.quality.average
    video.latencyMs = Report.Latency(meter.stamps.latency)
    video.lipSyncMs = stream.sync.result.map(Report.LipSync.init)
    video.stamps = Report.Stamps(
      meter.stamps, psnrMinDb: meter.quality.samples > 0 ? meter.quality.minimum : nil)
    return video
  }

  private func audio(of stream: PlayedStream) -> Report.Audio? {
    let meter = stream.audio.snapshot
    guard meter.seconds > 0 else { return nil }
    var audio = Report.Audio()
    let reading = reading(of: stream).audio
    audio.codec = reading.codec
    audio.seconds = meter.seconds
    audio.concealedMs = reading.concealedSamples / 48
    audio.levelDb = meter.levelDb()
    return audio
  }

  /// What a person has to know about the stream that is followed; nil where all is well.
  func note(at now: Instant) -> String? {
    let state = state
    guard firstMedia != nil else { return "waiting for media" }
    if let gone = state.noneSince {
      return "stream " + StatusText.gone(milliseconds(now - gone))
    }
    guard let main = all.first(where: { $0.streamId == state.main }),
      let silence = main.video.snapshot.silence(at: now)
    else { return nil }
    return "no picture for \(Int(silence.inSeconds)) s"
  }

  private func milliseconds(_ duration: Duration) -> Int {
    max(0, Int(duration.inMilliseconds.rounded()))
  }
}
