import ArgumentParser
import SoraCommandSupport
import SoraMedia
import SoraTransport

/// What a call has of one kind of media to write as pictures or samples.
enum WritableMedia {
  case raw
  /// It is sent as it is, and never decoded here.
  case encoded
  case none
}

/// The files that a call's pictures and sound go to. Safe from any thread.
struct CallOutputs: Sendable {
  private let files: RecordFiles
  private let recorder: Recorder?
  private let recording: StreamRecording?
  private let channel: ChannelRecording?
  private let snapshot: SnapshotKeeper?

  /// - Parameters:
  ///   - pictures: what there is for films and snapshots.
  ///   - sound: what there is for files of sound.
  ///   - received: the kinds of media that are received, and so can be recorded as they come; empty where none are.
  init(
    _ options: ConnectionOptions, framesPerSecond: Double?, pictures: WritableMedia,
    sound: WritableMedia, received: Set<MediaKind>
  ) throws(UsageError) {
    files = try RecordFiles(options.record, takesEncoded: !received.isEmpty)
    try Self.check("--record", files.video, pictures, "there are no pictures")
    try Self.check("--snapshot", options.snapshot, pictures, "there are no pictures")
    try Self.check("--record", files.audio, sound, "there is no sound")
    if let path = options.snapshot {
      snapshot = try SnapshotKeeper(path: path)
    } else {
      snapshot = nil
    }
    recorder = try Recorder(files, framesPerSecond: framesPerSecond)
    if let path = files.encoded {
      recording = try StreamRecording(
        path: path, hasVideo: received.contains(.video), hasAudio: received.contains(.audio))
    } else {
      recording = nil
    }
    channel = try files.folder.map { path throws(UsageError) in
      try ChannelRecording(folder: path, channelID: options.channel)
    }
  }

  /// Refuses a file for which nothing can come.
  private static func check(
    _ option: String, _ path: String?, _ media: WritableMedia, _ missing: String
  ) throws(UsageError) {
    guard let path else { return }
    switch media {
    case .raw: return
    case .encoded:
      throw UsageError(
        "\(option) \(path): what is sent is encoded already, and isn't decoded here; leave it out, or record it with sora play"
      )
    case .none: throw UsageError("\(option) \(path): \(missing) in this call; leave it out")
    }
  }

  /// What takes the frames of a stream of the channel; nil where nobody records all of them.
  func sink(ofStream streamId: String) -> (any EncodedFrameSink)? {
    channel?.sink(of: streamId)
  }

  /// A stream is gone.
  func streamEnded(_ streamId: String) { channel?.end(streamId) }

  /// - Parameter streamId: names the stream that the frame is of; one's own has no name.
  func add(_ frame: RawVideoFrame, at now: Instant, of streamId: String = "") {
    recorder?.add(frame)
    snapshot?.add(frame, at: now, of: streamId)
  }

  func add(_ block: AudioFrame) { recorder?.add(block) }

  /// Whether frames are wanted before they are decoded.
  var recordsEncoded: Bool { recording != nil }

  func add(
    _ frame: EncodedTrackFrame, of streamId: String,
    requestKeyFrame: @escaping @Sendable () -> Void
  ) {
    recording?.add(frame, of: streamId, requestKeyFrame: requestKeyFrame)
  }

  /// Why recording ended early; nil while all is well.
  var failure: String? { recorder?.failure ?? recording?.failure ?? channel?.failure }

  /// Closes the files. Returns what could not be written, and what is worth a word though it is no error.
  func finish() -> (problems: [String], notes: [String]) {
    var problems: [String] = []
    var notes: [String] = []
    if let outcome = recorder?.finish() {
      if let failure = outcome.failure {
        problems.append("--record: \(failure)")
      } else {
        if let path = files.video, outcome.frames == 0 {
          problems.append("--record: no picture came for \(path)")
        }
        if let path = files.audio, outcome.audioSeconds == 0 {
          problems.append("--record: no sound came for \(path)")
        }
      }
      if outcome.picturesTooMany > 0 {
        problems.append(
          "--record: \(outcome.picturesTooMany) pictures left out: the disk was too slow; use a faster one, or a smaller picture"
        )
      }
      if outcome.secondsCut >= 1 {
        notes.append(
          "--record: \(Int(outcome.secondsCut)) s without pictures are left out of the film; gaps show the last picture for \(Int(RecordTimeline.longestGap.inSeconds)) s at most"
        )
      }
    }
    problems += recording?.finish() ?? []
    problems += channel?.finish() ?? []
    if let failure = snapshot?.finish() { problems.append("--snapshot: \(failure)") }
    return (problems, notes)
  }
}

/// Prints the summary, and the error's line where there is one; then the exit status. Throws `JobError` where the summary
/// can't be printed.
///
/// - Parameter isTold: whether a person has had the error's line already.
func conclude(
  _ summary: Report, _ options: ConnectionOptions, _ console: Console, name: String,
  isTold: Bool = false
) throws {
  console.endStatus()
  if options.json {
    console.output(summary.jsonLine)
  } else if summary.packets > 0 {
    for line in SummaryText.lines(
      name: "\(name) \(options.channel)".printable, summary, showsDrops: options.verbose)
    {
      console.output(line)
    }
  }
  if let error = summary.error {
    if !isTold { console.note("sora: \(error)") }
    throw ExitCode(1)
  }
  try console.checkOutput()
}

/// kbit/s of `bytes` in `seconds`.
func kilobits(_ bytes: Int, in seconds: Double) -> Int? {
  seconds > 0 ? Int((Double(bytes) * 8 / 1_000 / seconds).rounded()) : nil
}

extension Report {
  /// What all reports tell of the connection's packets.
  mutating func addTotals(_ reading: StatisticsReading) {
    rttMs = reading.roundTripMilliseconds
    drops = reading.drops
    bytes = reading.video.bytes + reading.audio.bytes
    packets = reading.video.packets + reading.audio.packets
    packetsLost = reading.video.packetsLost + reading.audio.packetsLost
    nack = reading.video.nack + reading.audio.nack
    pli = reading.video.pli
  }
}

extension Report {
  /// What connecting has spent its time with.
  mutating func addTimeline(_ timeline: ConnectionTimeline?) {
    phases = timeline?.spans.map {
      Phase(name: $0.phase.rawValue, milliseconds: $0.duration.inMilliseconds)
    }
    gatheringMs = timeline?.gathering?.inMilliseconds
  }
}

extension Report.Video {
  /// What the statistics tell of all pictures; `seconds` is how long they ran.
  mutating func addTotals(_ media: StatisticsReading.Media, seconds: Double) {
    codec = media.codec
    bitrateKbps = kilobits(media.bytes, in: seconds)
    framesDropped = media.framesDropped
    freezeCount = media.freezeCount
    keyFrames = media.keyFrames
  }
}
