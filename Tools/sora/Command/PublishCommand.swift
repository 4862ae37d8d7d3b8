import ArgumentParser
import SoraClock
import SoraCommandSupport
import SoraMedia
import SoraSDK
import SoraTransport

/// `sora publish`: sends the test pattern and the tone, or files, to a channel.
struct PublishCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish", abstract: "Send pictures and sound to a channel.",
    discussion: """
      Runs until interrupted, or for --duration seconds. A camera, a screen or a microphone that fails meanwhile is told \
      in one line, and the rest is sent on until nothing is left; the exit status is 1 then.
      """)

  @OptionGroup var connection: ConnectionOptions

  @Option(
    help: ArgumentHelp(
      "What to show: test-pattern, camera (the first), camera:/dev/videoN, screen (the primary one), screen:NAME, screen:WxH+X+Y, window:TITLE (see sora devices), screen:portal or window:portal (chosen in the desktop's dialog, as on Wayland), FILE.y4m (again and again), FILE.webm, .mp4, .mkv and any other film (frames of the calls' codecs go as they are in the file), numbered pictures such as shot-%04d.png, or none.",
      valueName: "what"),
    completion: MediaCompletion.words(
      ["test-pattern", "camera", "screen", "screen:portal", "none"],
      files: "y4m *.webm *.mp4 *.mkv *.mov *.avi *.png *.jpg"))
  var video = "test-pattern"

  @Option(
    help: ArgumentHelp(
      "What to sound: tone, mic (the default microphone), mic:NAME (see sora devices), FILE.wav (again and again), FILE.webm and any other (its Opus as it is) or none; by default tone, or the film's own sound.",
      valueName: "what"),
    completion: MediaCompletion.words(["tone", "mic", "none"], files: "wav"))
  var audio: String?

  @Flag(help: "Begin a film anew at its end.")
  var loop = false

  @Flag(
    inversion: .prefixedNo,
    help:
      "Send what a camera or a film has encoded already as it is, where --video-codec is its codec."
  )
  var passthrough = true

  @Flag(inversion: .prefixedNo, help: "Take constant noise out of the microphone's sound.")
  var noiseSuppression = true

  @Flag(inversion: .prefixedNo, help: "Even out how loud the microphone's sound is.")
  var gainControl = true

  @Option(
    help: ArgumentHelp("Size of the test pattern, or wanted of a camera.", valueName: "WxH"),
    completion: .list(["640x360", "960x540", "1280x720", "1920x1080", "3840x2160"]))
  var resolution = Self.defaultResolution

  static let defaultResolution = "1280x720"

  @Option(
    help: ArgumentHelp(
      "Frames a second; by default 30, a file's own rate, or what a camera has.", valueName: "rate")
  )
  var fps: Double?

  @Option(
    help: ArgumentHelp(
      "Bits a sample: 8 or 10, which VP9 (profile 2) and AV1 have, and few receivers decode. The test pattern has as many; other pictures keep their own until they are encoded.",
      valueName: "bits"),
    completion: .list(["8", "10"]))
  var bitDepth = 8

  @Option(name: .customLong("video-bit-rate"), help: ArgumentHelp("kbit/s", valueName: "kbps"))
  var videoBitRate: Int?

  @Option(name: .customLong("audio-bit-rate"), help: ArgumentHelp("kbit/s", valueName: "kbps"))
  var audioBitRate: Int?

  func run() async throws {
    let job = try PublishJob(self)
    try await job.run()
  }
}

/// One run of `sora publish`.
private final class PublishJob {
  private let options: ConnectionOptions
  private let configuration: SoraSDK.Configuration
  private let videoInput: (any VideoFeed)?
  private let audioInput: (any AudioFeed)?
  private let microphone: SoundDevice?
  /// A film of which only the sound is sent.
  private let soundFilm: FilmInput?
  private let passesThrough: Bool
  private let warnings: [String]
  private var sent: SentStream?
  private let outputs: CallOutputs
  private let console: Console
  private let audioMeter = AudioMeter()
  private let videoMeter = VideoMeter(measuresQuality: false)
  private var totals = SentTotals()
  private var last = (reading: StatisticsReading(), audio: AudioMeter.Snapshot(), at: Instant.zero)
  private var connectedAt: Instant?
  private var endedAt: Instant?
  private var timeline: ConnectionTimeline?
  private var sizes = SizeWatch()
  private var faults = CallFaults()

  init(_ command: PublishCommand) throws {
    options = command.connection
    guard let resolution = Resolution(command.resolution) else {
      throw UsageError("--resolution \(command.resolution): write WIDTHxHEIGHT, each 16 to 8192")
    }
    if let fps = command.fps, !(1...240).contains(fps) {
      throw UsageError("--fps \(fps): use 1 to 240")
    }
    var configuration = try options.makeConfiguration(role: .sendonly)
    passesThrough = command.passthrough
    let inputs = try PublishInputs(command, resolution: resolution)
    videoInput = inputs.video
    audioInput = inputs.audio
    microphone = inputs.microphone
    soundFilm = inputs.soundFilm
    warnings = inputs.warnings
    let rate = videoInput?.framesPerSecond ?? command.fps ?? 30
    // A film's own codec is the one that costs nothing.
    if options.videoCodec == nil, command.passthrough, let codec = videoInput?.codec {
      configuration.videoCodec = ConnectionOptions.codec(codec) ?? configuration.videoCodec
    }
    configuration.videoEnabled = videoInput != nil
    configuration.audioEnabled = audioInput != nil || microphone != nil
    try Self.setBitDepth(command.bitDepth, of: &configuration)
    configuration.videoBitRate = try checked("--video-bit-rate", command.videoBitRate, 1...50_000)
    configuration.audioBitRate = try checked("--audio-bit-rate", command.audioBitRate, 6...510)
    outputs = try CallOutputs(
      options, framesPerSecond: rate, pictures: inputs.writablePictures,
      sound: inputs.writableSound, received: [])
    self.configuration = configuration
    console = Console(isJSON: options.json)
  }

  /// VP9's bits are those of its profile, which the server is asked for; AV1's are ours to choose.
  private static func setBitDepth(
    _ bits: Int, of configuration: inout SoraSDK.Configuration
  ) throws(UsageError) {
    guard bits == 8 || bits == 10 else { throw UsageError("--bit-depth \(bits): use 8 or 10") }
    guard bits == 10, configuration.videoEnabled else { return }
    switch configuration.videoCodec {
    case .vp9: configuration.videoVp9Params = ["profile_id": 2]
    case .av1: configuration.webRTCConfiguration.videoBitDepth = 10
    default:
      throw UsageError("--bit-depth 10: add --video-codec vp9 or av1; the others have 8 bits")
    }
  }

  func run() async throws {
    options.setUpLog(console)
    for warning in warnings { console.note("sora: \(warning)") }
    microphone?.attach(console)
    let call = Call(Interruption())
    call.endOnFailure(of: console)
    var channel: MediaChannel
    do {
      channel = try await call.connect(
        configuration, reconnection: options.reconnection, telling: console)
    } catch {
      return try finish(call, nil, error: ErrorText.line(error))
    }
    connectedAt = SystemClock.now
    last.at = SystemClock.now
    guard let stream = channel.senderStream else {
      await call.disconnect(channel)
      return try finish(
        call, channel, error: "media: the server's offer takes neither picture nor sound of ours")
    }
    await FeedFeedback.untilSent(stream.videoSource, videoInput)
    startInputs(stream)
    let (last, error) = await watch(call, channel)
    channel = last
    tellFaults()
    faults.add(microphone?.failure, isTold: true, console)
    videoInput?.stop()
    audioInput?.stop()
    microphone?.close()
    soundFilm?.stop()
    endedAt = SystemClock.now
    await settle(channel)
    await call.disconnect(channel)
    try finish(call, channel, error: error)
  }

  private var reading: StatisticsReading { totals.sum }

  private func startInputs(_ stream: any MediaStream) {
    // Both begin at the same instant, so that the beeps sound with their frames.
    let start = SystemClock.now
    let count: @Sendable (AudioFrame) -> Void = { [audioMeter, outputs] block in
      audioMeter.add(block, at: SystemClock.now)
      outputs.add(block)
    }
    let sent = SentStream(
      stream, feed: videoInput, passesThrough: passesThrough,
      microphoneSink: microphone.map { _ in SentSound(count) })
    self.sent = sent
    audioInput?.start(at: start) { [audioMeter] sound in
      switch sound {
      case .raw(let block):
        sent.send(block)
        count(block)
      case .packet(let packet):
        sent.send(packet: packet)
        audioMeter.addPacket(packet, at: SystemClock.now)
      }
    }
    videoInput?.start(at: start) { [videoMeter, outputs] picture in
      let now = SystemClock.now
      sent.send(picture)
      switch picture {
      case .raw(let frame):
        videoMeter.add(
          frame, at: now, realtimeMilliseconds: SystemClock.realtimeMilliseconds)
        outputs.add(frame, at: now)
      case .encoded(let frame, _):
        videoMeter.addEncoded(width: frame.width, height: frame.height, at: now)
      }
    }
    soundFilm?.start(at: start) { _ in }
  }

  /// Until the time is up, somebody interrupts, or the channel or an input ends. Returns the last connection, and what went wrong.
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
        return (channel, channel.reason(error) ?? channel.endedByServer())
      case .added, .removed, .named, .displayLost: continue
      case .reconnecting(let attempt, let error):
        console.note(Call.note(ofAttempt: attempt, because: error))
      case .reconnected(let new):
        channel = new
        console.note(Call.reconnectedNote)
        totals.reconnected()
        last.reading = totals.sum
        if let stream = new.senderStream { sent?.move(to: stream) }
      case .tick:
        tellFaults()
        if isVideoOver, isAudioOver { return (channel, nil) }
        if let duration = options.duration, (SystemClock.now - start).inSeconds >= duration {
          return (channel, nil)
        }
        ticks += 1
        if ticks % Call.ticksPerSecond == 0 { await tellStatus(call, channel) }
      }
    }
    return (channel, nil)
  }

  private var videoFault: String? { videoInput?.counters.failure.map { "--video: \($0)" } }

  private var audioFault: String? {
    (audioInput?.failure ?? soundFilm?.counters.failure).map { "--audio: \($0)" }
  }

  /// A microphone tells its own.
  private func tellFaults() {
    faults.add(videoFault, console)
    faults.add(audioFault, console)
  }

  private var isVideoOver: Bool { videoFault != nil || videoInput?.isOver ?? true }

  private var isAudioOver: Bool {
    // One that is lost is waited for; one that is refused isn't tried again while nothing else changes.
    if let microphone { return microphone.isRefused }
    return audioFault != nil || audioInput?.isOver ?? true
  }

  /// Waits, shortly, until what was given to the encoder is sent, so that the summary doesn't call it dropped.
  private func settle(_ channel: MediaChannel) async {
    if channel.isAvailable { timeline = await channel.connectionTimeline() }
    for _ in 0..<10 {
      guard let new = await channel.sendingStatistics() else { return }
      totals.update(new)
      if reading.video.frames >= videoMeter.snapshot.frames { return }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  private func tellStatus(_ call: Call, _ channel: MediaChannel) async {
    if let new = await channel.sendingStatistics() {
      totals.update(new)
      timeline = await channel.connectionTimeline()
    }
    microphone?.update()
    let now = SystemClock.now
    var report = makeReport(.stats, call, channel)
    let seconds = (now - last.at).inSeconds
    if seconds > 0 {
      let audio = audioMeter.snapshot
      report.video?.fps = Double(reading.video.frames - last.reading.video.frames) / seconds
      report.video?.bitrateKbps = kilobits(
        reading.video.bytes - last.reading.video.bytes, in: seconds)
      report.audio?.levelDb = audio.levelDb(since: last.audio)
      last = (reading, audio, now)
    }
    if options.json { console.output(report.jsonLine) }
    warnOfSize()
    console.status(
      StatusText.lines(
        name: "publish \(options.channel)", report: report,
        note: outputs.failure.map { "--record: \($0)" }, width: console.width))
  }

  private func warnOfSize() {
    guard let videoInput else { return }
    let sent = Resolution(width: reading.video.width, height: reading.video.height)
    if let text = sizes.warning(
      sent: sent, source: videoInput.resolution, reason: reading.video.limitation)
    {
      console.note("sora: \(text)")
    }
  }

  private func makeReport(_ type: Report.Kind, _ call: Call, _ channel: MediaChannel?) -> Report {
    var report = Report(type: type, elapsedMs: call.elapsedMilliseconds)
    report.addTotals(reading)
    report.connectionId = channel?.connectionId
    report.reconnections = totals.reconnections
    report.connectMs = connectedAt.map(call.milliseconds)
    report.addTimeline(timeline)
    let now = endedAt ?? SystemClock.now
    let seconds = connectedAt.map { (now - $0).inSeconds } ?? 0
    if let videoInput {
      let produced = videoMeter.snapshot
      report.firstFrameMs = produced.first.map(call.milliseconds)
      var video = Report.Video()
      video.addTotals(reading.video, seconds: seconds)
      video.width = reading.video.width > 0 ? reading.video.width : videoInput.resolution.width
      video.height = reading.video.height > 0 ? reading.video.height : videoInput.resolution.height
      video.frames = reading.video.frames
      video.fps = seconds > 0 ? Double(reading.video.frames) / seconds : 0
      video.framesDropped = max(
        0, produced.frames + videoInput.counters.skipped - reading.video.frames)
      video.freezeCount = nil
      report.video = video
    }
    if configuration.audioEnabled {
      let sound = audioMeter.snapshot
      var audio = Report.Audio()
      audio.codec = reading.audio.codec
      audio.seconds = sound.seconds
      audio.levelDb = sound.levelDb()
      audio.isMeasured = sound.isMeasured
      report.audio = audio
      report.audioDevice = microphone?.report
    }
    return report
  }

  private func finish(_ call: Call, _ channel: MediaChannel?, error: String?) throws {
    var error = error
    if error == nil, faults.line == nil, console.outputFailure == nil,
      reading.video.packets + reading.audio.packets == 0
    {
      error = "media: nothing was sent; check the server's log"
    }
    let written = outputs.finish()
    for note in written.notes { console.note("sora: \(note)") }
    var summary = makeReport(.summary, call, channel)
    summary.error = error ?? faults.line ?? written.problems.first
    try conclude(
      summary, options, console, name: "published", isTold: error == nil && faults.line != nil)
  }
}
