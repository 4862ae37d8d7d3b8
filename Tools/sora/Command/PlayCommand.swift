import ArgumentParser
import SoraClock
import SoraCommandSupport
import SoraMedia
import SoraSDK
import SoraTransport
import SoraView
import WebRTC

/// `sora play`: receives and measures every stream of a channel, and follows one: see `StreamFollower`.
struct PlayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play", abstract: "Receive and measure what a channel's others send.",
    discussion: """
      Waits for somebody who publishes. --duration counts from the first picture or sound; \
      without it, it runs until interrupted or until the channel ends. --record and --snapshot show one stream: \
      when it goes, the newest that is there. --record FILE.webm (VP8, VP9, AV1), .mp4 (H.264, H.265, VP9, AV1) or \
      .mkv (all) writes it as it comes, without encoding again, and plays after a crash, too; \
      --record FOLDER/ writes all streams so, a file each, and a JSON about them. With \
      .y4m and .wav a gap shows the last picture, for 10 seconds at most. \
      --view shows all of them in a window, with a mark around who speaks: i shows their statistics, q ends. \
      A display or a loudspeaker that fails or isn't there is told in one line, and the rest goes on; the exit \
      status is 1 then.
      """)

  @OptionGroup var connection: ConnectionOptions

  @Option(help: ArgumentHelp("none: receive no pictures.", valueName: "what"))
  var video: String?

  @Option(
    help: ArgumentHelp(
      "speaker: play the sound of all streams on the default device, or speaker:NAME (see sora devices). none: receive no sound.",
      valueName: "what"),
    completion: .list(["speaker", "none"]))
  var audio: String?

  @Flag(help: "Show the streams in a window; i shows their statistics, q ends.")
  var view = false

  @Option(
    help: ArgumentHelp(
      "Hold pictures for so long (0 to 4000), and sound for as long at least, whatever the jitter; 0 shows each picture as soon as it can be decoded.",
      valueName: "milliseconds"))
  var jitterBufferTarget: Int?

  @Option(
    help: ArgumentHelp(
      "Give up when no media came within so many seconds; 10 with --duration, else never.",
      valueName: "seconds"))
  var timeout: Double?

  @Option(
    help: ArgumentHelp(
      "Frames per second of FILE.y4m of --record; 30 by default. Frames are repeated or left out, so that each stands at its time.",
      valueName: "rate"))
  var fps: Double?

  @Option(
    name: .customLong("expect-psnr"),
    help: ArgumentHelp(
      "Fail unless all wanted media came, a stream is there at the end, and the test pattern's pictures are better than this.",
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
  private let hasWindow: Bool
  private let outputs: CallOutputs
  private let speaker: SoundDevice?
  private let console: Console
  private var streams: PlayedStreams
  private var last = PlayedMoment(at: .zero)
  private var connectedAt: Instant?
  private var endedAt: Instant?
  private var timeline: ConnectionTimeline?
  private var reconnections = 0
  private var faults = CallFaults()

  init(_ command: PlayCommand) throws {
    options = command.connection
    var configuration = try options.makeConfiguration(role: .recvonly)
    if let video = command.video, video != "none" {
      throw UsageError("--video \(video): play takes only none here; use publish to send")
    }
    let audio = try AudioDestination(command.audio)
    guard command.video == nil || audio != .none else {
      throw UsageError("--video none and --audio none leave nothing to play; leave one out")
    }
    if command.view, command.video != nil {
      throw UsageError("--view and --video none: there is nothing to see; leave one out")
    }
    if let fps = command.fps, !(1...240).contains(fps) {
      throw UsageError("--fps \(fps): use 1 to 240")
    }
    if let timeout = command.timeout, !(0.1...1e7).contains(timeout) {
      throw UsageError("--timeout \(timeout): use a number of seconds from 0.1")
    }
    if let target = command.jitterBufferTarget {
      guard (0...4_000).contains(target) else {
        throw UsageError("--jitter-buffer-target \(target): use 0 to 4000 milliseconds")
      }
      configuration.engine.jitterBufferTarget = .milliseconds(target)
    }
    configuration.videoEnabled = command.video == nil
    configuration.audioEnabled = audio != .none
    self.configuration = configuration
    timeout = command.timeout ?? (options.duration == nil ? nil : 10)
    expectedPSNR = command.expectPSNR
    var received: Set<MediaKind> = []
    if configuration.videoEnabled { received.insert(.video) }
    if configuration.audioEnabled { received.insert(.audio) }
    hasWindow = command.view
    outputs = try CallOutputs(
      options, framesPerSecond: command.fps,
      pictures: configuration.videoEnabled ? .raw : .none,
      sound: configuration.audioEnabled ? .raw : .none, received: received)
    if case .speaker(let name) = audio {
      speaker = try SoundDevice(speaker: name)
    } else {
      speaker = nil
    }
    streams = PlayedStreams(outputs: outputs, arePlayed: speaker != nil)
    console = Console(isJSON: options.json)
  }

  func run() async throws {
    options.setUpLog(console)
    let call = Call(Interruption())
    call.endOnFailure(of: console)
    openWindow(call)
    defer { streams.grid?.close() }
    speaker?.attach(console)
    var channel: MediaChannel
    do {
      channel = try await call.connect(
        configuration, reconnection: options.reconnection, telling: console)
    } catch {
      return try finish(call, nil, error: ErrorText.line(error))
    }
    connectedAt = SystemClock.now
    record(channel)
    last = PlayedMoment(at: SystemClock.now)
    let (end, error) = await watch(call, channel)
    channel = end
    faults.add(speaker?.failure, isTold: true, console)
    speaker?.close()
    endedAt = SystemClock.now
    await readStatistics(channel)
    await call.disconnect(channel)
    try finish(call, channel, error: error)
  }

  /// Has every stream of the channel recorded that is to be.
  private func record(_ channel: MediaChannel) {
    channel.addEncodedFrameSinks { [outputs] in
      outputs.sink(ofStream: $0.streamId)
    } removed: { [outputs] in
      outputs.streamEnded($0.streamId)
    }
  }

  /// Opens the window of --view before there is anything to see, so that one who can't have it knows at once. What is heard, measured and
  /// recorded does without.
  private func openWindow(_ call: Call) {
    guard hasWindow else { return }
    do throws(ViewError) {
      streams.grid = try StreamGrid(title: "sora play \(options.channel)".printable) {
        call.end()
      } lost: {
        call.displayWasLost()
      }
    } catch {
      faults.add("--view: \(error)".inOneLine, console)
    }
  }

  /// Until the time is up, somebody interrupts, or the channel ends. Returns the last connection, and what went wrong.
  private func watch(
    _ call: Call, _ first: MediaChannel
  ) async -> (channel: MediaChannel, error: String?) {
    var channel = first
    let start = SystemClock.now
    var ticks = 0
    for await event in call.events {
      switch event {
      case .interrupted, .outputEnded: return (channel, nil)
      case .ended(let error):
        let failure = channel.failure(error, undone: undone)
        if failure == nil { console.note("sora: \(channel.endedByServer())") }
        return (channel, failure)
      case .reconnecting(let attempt, let error):
        streams.lost()
        console.note(Call.note(ofAttempt: attempt, because: error))
      case .reconnected(let new):
        channel = new
        console.note(Call.reconnectedNote)
        reconnections += 1
        record(new)
      case .added(let stream):
        // With --role sendrecv the local one is told, too.
        if stream.streamId != configuration.publisherStreamId { streams.add(stream) }
      case .removed(let stream): streams.remove(stream)
      case .displayLost:
        faults.add("--view: the display is gone; start anew on another to see the streams", console)
      case .named(let connectionId, let name): streams.grid?.name(connectionId, name)
      case .tick:
        let now = SystemClock.now
        if let first = streams.firstMedia {
          if let duration = options.duration, (now - first).inSeconds >= duration {
            return (channel, nil)
          }
        } else if let timeout, (now - start).inSeconds >= timeout {
          return (channel, noMedia(timeout))
        }
        streams.markSpeakers(at: now)
        ticks += 1
        if ticks % Call.ticksPerSecond == 0 { await tellStatus(call, channel) }
      }
    }
    return (channel, nil)
  }

  /// What the server's end of the call leaves undone; nil where nothing is.
  private var undone: String? {
    if streams.firstMedia == nil { return "before media came" }
    return options.duration.map { _ in Call.cutDuration }
  }

  private func noMedia(_ seconds: Double) -> String {
    let start = "media: no media within \(seconds.formatted()) s"
    guard !streams.all.isEmpty else {
      return
        "\(start): nobody publishes to \(options.channel); check the channel id or raise --timeout"
    }
    let video = streams.total.video
    guard video.packets > 0 else {
      return "\(start): somebody publishes, but nothing arrives; check that UDP passes"
    }
    return
      "\(start): \(video.packets) packets of \(video.codec ?? "video") arrived, but no picture could be decoded; publish 4:2:0 with 8 bits, or another codec"
  }

  /// Takes over what the connection measures, while it is there.
  private func readStatistics(_ channel: MediaChannel) async {
    speaker?.update()
    guard channel.isAvailable else { return }
    streams.update(await channel.receivingStatistics())
    timeline = await channel.connectionTimeline()
  }

  private func tellStatus(_ call: Call, _ channel: MediaChannel) async {
    await readStatistics(channel)
    let now = SystemClock.now
    let report = makeReport(.stats, call, channel, at: now)
    last = PlayedMoment(of: streams, at: now)
    if options.json { console.output(report.jsonLine) }
    tellWindow(report)
    let notes = [
      streams.note(at: now), outputs.failure.map { "--record: \($0)" },
      streams.grid?.textProblem.map { "--view: \($0)" },
    ].compactMap { $0 }
    console.status(
      StatusText.lines(
        name: "play \(options.channel)", report: report,
        note: notes.isEmpty ? nil : notes.joined(separator: "  "), width: console.width,
        height: console.height))
  }

  /// What `i` shows.
  private func tellWindow(_ report: Report) {
    guard let grid = streams.grid else { return }
    let told =
      report.streams
      ?? report.streamId.map {
        [
          Report.Stream(
            streamId: $0, liveMs: 0, goneMs: nil, video: report.video, audio: report.audio)
        ]
      } ?? []
    for stream in told {
      grid.tell(stream.streamId, statistics: StatusText.media(stream.video, stream.audio))
    }
  }

  private func makeReport(
    _ type: Report.Kind, _ call: Call, _ channel: MediaChannel?, at now: Instant
  ) -> Report {
    var report = Report(type: type, elapsedMs: call.elapsedMilliseconds)
    report.addTotals(streams.total)
    report.connectionId = channel?.connectionId
    report.reconnections = reconnections
    report.connectMs = connectedAt.map(call.milliseconds)
    report.addTimeline(timeline)
    streams.addTo(&report, at: now, since: type == .stats ? last : nil)
    report.firstFrameMs = streams.firstPicture.map(call.milliseconds)
    report.audioDevice = speaker?.report
    return report
  }

  private func finish(_ call: Call, _ channel: MediaChannel?, error: String?) throws {
    streams.finish()
    let written = outputs.finish()
    for note in written.notes { console.note("sora: \(note)") }
    var summary = makeReport(.summary, call, channel, at: endedAt ?? SystemClock.now)
    // Where output ended early, nobody waited for media.
    let unmet =
      console.outputFailure == nil
      ? (streams.firstMedia == nil ? "media: no media came before the end" : nil)
        ?? unmetExpectation(summary) : nil
    let failure = error ?? unmet
    summary.error = failure ?? faults.line ?? written.problems.first
    try conclude(
      summary, options, console, name: "played", isTold: failure == nil && faults.line != nil)
  }

  /// What `--expect-psnr` misses.
  private func unmetExpectation(_ summary: Report) -> String? {
    guard let expectedPSNR else { return nil }
    if summary.streamsLive == 0 {
      return "media: the stream was gone at the end"
    }
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
