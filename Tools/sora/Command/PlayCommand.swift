import ArgumentParser
import SoraClock
import SoraCommandSupport
import SoraMedia
import SoraSDK
import SoraTransport

/// `sora play`: receives every stream of a channel, and measures the first.
struct PlayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play", abstract: "Receive and measure what a channel's others send.",
    discussion: """
      Waits for somebody who publishes. --duration counts from the first picture or sound; \
      without it, it runs until interrupted or until the channel ends.
      """)

  @OptionGroup var connection: ConnectionOptions

  @Option(help: ArgumentHelp("none: receive no pictures.", valueName: "what"))
  var video: String?

  @Option(help: ArgumentHelp("none: receive no sound.", valueName: "what"))
  var audio: String?

  @Option(
    help: ArgumentHelp(
      "Give up when no media came within so many seconds; 10 with --duration, else never.",
      valueName: "seconds"))
  var timeout: Double?

  @Option(
    help: ArgumentHelp(
      "Frames a second that FILE.y4m of --record claims; measured by default.", valueName: "rate"))
  var fps: Double?

  @Option(
    name: .customLong("expect-psnr"),
    help: ArgumentHelp(
      "Fail unless all wanted media came, and the test pattern's pictures are better than this.",
      valueName: "dB"))
  var expectPSNR: Double?

  func run() async throws {
    let job = try PlayJob(self)
    try await job.run()
  }
}

/// One run of `sora play`.
private final class PlayJob {
  private let options: ConnectionOptions
  private let configuration: SoraSDK.Configuration
  private let timeout: Double?
  private let expectedPSNR: Double?
  private let outputs: CallOutputs
  private let console: Console
  private var streams: PlayedStreams
  private var last = Moment()
  private var connectedAt: Instant?
  private var timeline: ConnectionTimeline?

  /// What the meters showed a second ago.
  private struct Moment {
    var at = Instant.zero
    var videoBytes = 0
    var streamId: String?
    var frames = 0
    var audio = AudioMeter.Snapshot()
  }

  init(_ command: PlayCommand) throws {
    // The SDK's threads and libraries start while arguments and files are read.
    _ = Sora.shared
    options = command.connection
    var configuration = try options.makeConfiguration(role: .recvonly)
    for (option, value) in [("--video", command.video), ("--audio", command.audio)] {
      guard let value, value != "none" else { continue }
      throw UsageError("\(option) \(value): play takes only none here; use publish to send")
    }
    guard command.video == nil || command.audio == nil else {
      throw UsageError("--video none and --audio none leave nothing to play; leave one out")
    }
    if let fps = command.fps, !(1...240).contains(fps) {
      throw UsageError("--fps \(fps): use 1 to 240")
    }
    if let timeout = command.timeout, !(0.1...1e7).contains(timeout) {
      throw UsageError("--timeout \(timeout): use a number of seconds from 0.1")
    }
    configuration.videoEnabled = command.video == nil
    configuration.audioEnabled = command.audio == nil
    self.configuration = configuration
    timeout = command.timeout ?? (options.duration == nil ? nil : 10)
    expectedPSNR = command.expectPSNR
    outputs = try CallOutputs(options, framesPerSecond: command.fps)
    streams = PlayedStreams(outputs: outputs)
    console = Console(isJSON: options.json)
  }

  func run() async throws {
    options.setUpLog(console)
    let call = Call(Interruption())
    let channel: MediaChannel
    do {
      channel = try await call.connect(configuration)
    } catch {
      return try finish(call, nil, error: ErrorText.line(error))
    }
    connectedAt = SystemClock.now
    last.at = SystemClock.now
    let error = await watch(call, channel)
    await readStatistics(channel)
    await call.disconnect(channel)
    try finish(call, channel, error: error)
  }

  /// Until the time is up, somebody interrupts, or the channel ends. Returns what went wrong.
  private func watch(_ call: Call, _ channel: MediaChannel) async -> String? {
    let start = SystemClock.now
    var ticks = 0
    for await event in call.events {
      switch event {
      case .interrupted: return nil
      case .ended(let error): return channel.reason(error)
      case .added(let stream): streams.add(stream)
      case .removed(let stream): streams.remove(stream)
      case .tick:
        let now = SystemClock.now
        if let first = streams.firstMedia {
          if let duration = options.duration, (now - first).inSeconds >= duration { return nil }
        } else if let timeout, (now - start).inSeconds >= timeout {
          return noMedia(timeout)
        }
        ticks += 1
        if ticks % Call.ticksPerSecond == 0 { await tellStatus(call, channel) }
      }
    }
    return nil
  }

  private func noMedia(_ seconds: Double) -> String {
    let time = seconds.formatted()
    return streams.all.isEmpty
      ? "media: no media within \(time) s: nobody publishes to \(options.channel); check the channel id or raise --timeout"
      : "media: no media within \(time) s: somebody publishes, but nothing arrives; check that UDP passes"
  }

  /// Takes over what the connection measures, while it is there.
  private func readStatistics(_ channel: MediaChannel) async {
    guard channel.isAvailable else { return }
    streams.update(await channel.receivingStatistics())
    timeline = await channel.connectionTimeline()
  }

  private func tellStatus(_ call: Call, _ channel: MediaChannel) async {
    await readStatistics(channel)
    var report = makeReport(.stats, call, channel)
    let now = SystemClock.now
    let seconds = (now - last.at).inSeconds
    let main = streams.main
    let frames = main?.video.snapshot.frames ?? 0
    let audio = main?.audio.snapshot ?? AudioMeter.Snapshot()
    let videoBytes = main.map(streams.reading)?.video.bytes ?? 0
    if seconds > 0 {
      let isSame = main?.streamId == last.streamId
      report.video?.fps = Double(frames - (isSame ? last.frames : 0)) / seconds
      report.video?.bitrateKbps = kilobits(
        videoBytes - (isSame ? last.videoBytes : 0), in: seconds)
      report.audio?.levelDb = audio.levelDb(since: isSame ? last.audio : AudioMeter.Snapshot())
    }
    last = Moment(
      at: now, videoBytes: videoBytes, streamId: main?.streamId, frames: frames, audio: audio)
    if options.json { console.output(report.jsonLine) }
    console.status(
      StatusText.line(
        name: "play \(options.channel)", report: report,
        note: streams.firstMedia == nil ? "waiting for media" : nil, width: console.width))
  }

  private func makeReport(_ type: Report.Kind, _ call: Call, _ channel: MediaChannel?) -> Report {
    var report = Report(type: type, elapsedMs: call.elapsedMilliseconds)
    report.addTotals(streams.total)
    report.connectionId = channel?.connectionId
    report.connectMs = connectedAt.map(call.milliseconds)
    report.addTimeline(timeline)
    guard let main = streams.main else { return report }
    report.firstFrameMs = main.video.snapshot.first.map(call.milliseconds)
    report.video = video(of: main)
    report.audio = audio(of: main)
    if streams.all.count > 1 {
      report.streams = streams.all.map {
        Report.Stream(streamId: $0.streamId, video: video(of: $0), audio: audio(of: $0))
      }
    }
    return report
  }

  private func video(of stream: PlayedStream) -> Report.Video? {
    let meter = stream.video.snapshot
    guard meter.frames > 0, let first = meter.first, let latest = meter.last else { return nil }
    var video = Report.Video()
    video.addTotals(streams.reading(of: stream).video, seconds: (latest - first).inSeconds)
    video.width = meter.width
    video.height = meter.height
    video.frames = meter.frames
    video.fps = meter.framesPerSecond
    video.psnrDb = meter.quality.average
    video.latencyMs = Report.Latency(meter.stamps.latency)
    video.stamps = Report.Stamps(
      meter.stamps, psnrMinDb: meter.quality.samples > 0 ? meter.quality.minimum : nil)
    return video
  }

  private func audio(of stream: PlayedStream) -> Report.Audio? {
    let meter = stream.audio.snapshot
    guard meter.seconds > 0 else { return nil }
    var audio = Report.Audio()
    let reading = streams.reading(of: stream).audio
    audio.codec = reading.codec
    audio.seconds = meter.seconds
    audio.concealedMs = reading.concealedSamples / 48
    audio.levelDb = meter.levelDb()
    return audio
  }

  private func finish(_ call: Call, _ channel: MediaChannel?, error: String?) throws {
    streams.finish()
    let problems = outputs.finish()
    var summary = makeReport(.summary, call, channel)
    summary.error =
      error ?? (streams.firstMedia == nil ? "media: no media came before the end" : nil)
      ?? unmetExpectation(summary) ?? problems.first
    try conclude(summary, options, console, name: "played")
  }

  /// What `--expect-psnr` misses.
  private func unmetExpectation(_ summary: Report) -> String? {
    guard let expectedPSNR else { return nil }
    if configuration.videoEnabled {
      guard let video = summary.video else { return "media: no picture came" }
      guard let psnr = video.psnrDb else { return "media: the pictures aren't the test pattern's" }
      guard psnr > expectedPSNR else {
        return "media: PSNR \(psnr.formatted()) dB is not above \(expectedPSNR.formatted()) dB"
      }
    }
    if configuration.audioEnabled, summary.audio?.levelDb == nil { return "media: no sound came" }
    return nil
  }
}

extension Double {
  /// Without a fraction where there is none, otherwise two digits of it.
  fileprivate func formatted() -> String {
    self == rounded() && abs(self) < 1e9
      ? String(Int(self)) : String((self * 100).rounded() / 100)
  }
}
