import Foundation
import SoraMedia
import SoraRecording
import Testing

/// A codec in a container that holds it.
struct Combination: CustomTestStringConvertible, Sendable {
  let codec: VideoCodecKind
  let container: MediaContainer
  var testDescription: String { "\(codec) in \(container)" }

  static let all = MediaContainer.allCases.flatMap { container in
    VideoCodecKind.allCases.filter { container.holds(.video($0)) }
      .map { Combination(codec: $0, container: container) }
  }
}

@Suite(
  .enabled(if: ProbedFile.isInstalled, "needs ffprobe: apt-get install ffmpeg"),
  .timeLimit(.minutes(2)))
struct ContainerTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  private func record(
    _ name: String, _ frames: [EncodedTrackFrame],
    settings: MediaRecorder.Settings = MediaRecorder.Settings()
  ) throws -> MediaRecorder.Outcome {
    let recorder = try MediaRecorder(path: folder.path(name), settings: settings)
    for frame in frames { recorder.receive(frame) }
    return recorder.finish()
  }

  /// What ffprobe calls a codec.
  private static func name(_ kind: VideoCodecKind) -> String {
    kind == .h265 ? "hevc" : kind.encodingName.lowercased()
  }

  @Test(arguments: Combination.all) func everyCodecIsPlayed(_ combination: Combination) throws {
    let file = "a.\(combination.container.fileEnding)"
    let outcome = try record(
      file,
      Clips.together(
        try Clips.video(combination.codec, frames: 60), Clips.audio(packets: 100)))
    #expect(outcome.failure == nil)
    #expect(outcome.videoFrames == 60 && outcome.audioFrames == 100)
    let probed = try ProbedFile(folder.path(file))
    #expect(probed.complaints == "")
    #expect(probed.video?.codec_name == Self.name(combination.codec))
    #expect(probed.video?.width == 160 && probed.video?.height == 96)
    #expect(probed.video?.frames == 60)
    #expect(probed.audio?.codec_name == "opus")
    #expect(probed.audio?.nb_read_packets == "100")
    #expect(abs(probed.duration - 2) < 0.05, "\(probed.duration)")
    #expect(
      outcome.byteCount == (try Data(contentsOf: URL(fileURLWithPath: folder.path(file))).count))
    for (index, time) in probed.times(probed.video).enumerated() {
      #expect(abs(time - Double(index) / 30) < 0.006, "\(index): \(time)")
    }
    for (index, time) in probed.times(probed.audio).enumerated() {
      #expect(abs(time - Double(index) * 0.02) < 0.006, "\(index): \(time)")
    }
  }

  /// A telephone's pictures are turned when they are shown: an MP4 says so, and what reads it, of the track and of each frame. libavformat's
  /// Matroska can't say it before its version 60.
  @Test(arguments: [VideoRotation.none, .clockwise90, .clockwise180, .clockwise270])
  func turnedPicturesStayTurned(_ rotation: VideoRotation) throws {
    let file = "a.mp4"
    let frames = try Clips.video(.h264, frames: 5).map { frame in
      var frame = frame
      frame.frame.rotation = rotation
      return frame
    }
    #expect(try record(file, frames).failure == nil)
    let reader = try MediaFileReader(path: folder.path(file))
    #expect(reader.tracks[0].rotation == rotation)
    var count = 0
    while let frame = try reader.next() {
      #expect(frame.frame.rotation == rotation)
      count += 1
    }
    #expect(count == 5)
  }

  /// By the bytes of the container itself, as players take them before they decode anything, and by ffprobe.
  @Test(
    arguments: Combination.all.filter { $0.codec != .vp8 },
    [nil, VideoColorSpace.bt709, VideoColorSpace(matrix: .bt601, isFullRange: true)])
  func colorsAreTold(_ combination: Combination, _ space: VideoColorSpace?) throws {
    let file = "a.\(combination.container.fileEnding)"
    let outcome = try record(
      file, try Clips.video(combination.codec, frames: 20, colorSpace: space))
    #expect(outcome.failure == nil)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path(file)))
    let probed = try ProbedFile(folder.path(file))
    #expect(probed.complaints == "")
    guard let space else {
      #expect(["unknown", nil].contains(probed.video?.color_space))
      #expect(bytes.range(of: Data("colrnclx".utf8)) == nil)
      return
    }
    #expect(
      probed.video?.color_space.map { $0.hasPrefix("bt709") } == (space.matrix == .bt709),
      "\(probed.video?.color_space ?? "")")
    #expect(probed.video?.color_range == (space.isFullRange ? "pc" : "tv"))
    let matrix = UInt8(space.codePoints.matrixCoefficients)
    if combination.container == .mp4 {
      // ISO/IEC 14496-12 §12.1.5: primaries, transfer, matrix, and a bit for full range.
      let box = [0, matrix, 0, matrix, 0, matrix, space.isFullRange ? 0x80 : 0] as [UInt8]
      #expect(bytes.range(of: Data("colrnclx".utf8 + box)) != nil)
    } else {
      // RFC 9559 §5.1.4.1.28.16: MatrixCoefficients and Range, each with a size of one byte.
      #expect(bytes.range(of: Data([0x55, 0xB1, 0x81, matrix])) != nil)
      #expect(bytes.range(of: Data([0x55, 0xB9, 0x81, space.isFullRange ? 2 : 1])) != nil)
    }
  }

  @Test(arguments: Combination.all) func anotherSizeGoesOn(_ combination: Combination) throws {
    let file = "a.\(combination.container.fileEnding)"
    let outcome = try record(
      file,
      try Clips.video(combination.codec, frames: 45, sizes: [(160, 96), (320, 192), (96, 64)]))
    #expect(outcome.failure == nil)
    #expect(outcome.sizeChanges == 2)
    #expect(outcome.video?.width == 96)
    let (output, errors) = try ProbedFile.run([
      "ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "frame=width", "-of",
      "csv=p=0", folder.path(file),
    ])
    #expect(errors == "")
    let widths = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isNewline)
      .map { $0.prefix { $0.isNumber } }
    #expect(
      widths == Array(repeating: "160", count: 15) + Array(repeating: "320", count: 15)
        + Array(repeating: "96", count: 15))
  }

  @Test(arguments: MediaContainer.allCases) func gapsKeepTheirTime(_ container: MediaContainer)
    throws
  {
    let file = "a.\(container.fileEnding)"
    var video = try Clips.video(container == .mp4 ? .h264 : .vp8, frames: 90)
    // From the 40th to the 60th everything is lost, and the receiver goes on with a key frame.
    video.removeSubrange(40..<60)
    let audio = Clips.audio(packets: 60) + Clips.audio(packets: 50, from: 100)
    let outcome = try record(file, Clips.together(video, audio))
    #expect(outcome.failure == nil)
    let probed = try ProbedFile(folder.path(file))
    #expect(probed.complaints == "")
    #expect(probed.video?.frames == 70)
    let times = probed.times(probed.video)
    #expect(times.count == 70)
    #expect(abs(times[40] - 2) < 0.006 && abs(times[39] - 1.3) < 0.006, "\(times)")
    let sounds = probed.times(probed.audio)
    #expect(abs(sounds[60] - 2) < 0.006 && abs(sounds[59] - 1.18) < 0.006)
  }

  @Test(arguments: MediaContainer.allCases) func aTrackMayBeginLater(_ container: MediaContainer)
    throws
  {
    let file = "a.\(container.fileEnding)"
    let video = try Clips.video(container == .mp4 ? .h264 : .vp8, frames: 90)
    let outcome = try record(file, Clips.together(video, Clips.audio(packets: 50, from: 75)))
    #expect(outcome.failure == nil)
    let probed = try ProbedFile(folder.path(file))
    #expect(probed.complaints == "")
    #expect(abs((probed.times(probed.audio).first ?? 0) - 1.5) < 0.006)
    #expect(probed.times(probed.video).first == 0)

    // And the other way round: what sounds before the first picture is there.
    let late = "b.\(container.fileEnding)"
    _ = try record(
      late,
      Clips.together(
        Array(video.drop { $0.receiveTime < .zero + .seconds(1) }),
        Clips.audio(packets: 100)))
    let other = try ProbedFile(folder.path(late))
    #expect(other.complaints == "")
    #expect(abs((other.times(other.video).first ?? 0) - 1) < 0.006)
    #expect(other.times(other.audio).count == 100 && other.times(other.audio).first == 0)
  }

  @Test(arguments: MediaContainer.allCases) func oneTrackIsEnough(_ container: MediaContainer)
    throws
  {
    let file = "a.\(container.fileEnding)"
    var settings = MediaRecorder.Settings()
    settings.hasVideo = false
    let sound = try record(file, Clips.audio(packets: 100), settings: settings)
    #expect(sound.audioFrames == 100 && sound.failure == nil)
    var probed = try ProbedFile(folder.path(file))
    #expect(probed.streams.count == 1 && probed.audio?.nb_read_packets == "100")
    settings.hasVideo = true
    settings.hasAudio = false
    let film = try record(file, try Clips.video(.av1, frames: 20), settings: settings)
    #expect(film.videoFrames == 20 && film.failure == nil)
    probed = try ProbedFile(folder.path(file))
    #expect(probed.streams.count == 1 && probed.video?.frames == 20)
  }

  @Test func fragmentsReachTheDiskWhileTheCallGoesOn() async throws {
    let frames = Clips.together(
      try Clips.video(.h264, frames: 120, keyFrameEvery: 1_000), Clips.audio(packets: 200))
    let recorder = try MediaRecorder(path: folder.path("a.mp4"))
    for frame in frames { recorder.receive(frame) }
    while recorder.outcome.videoFrames < 120 { try await Task.sleep(for: .milliseconds(5)) }
    // Nobody has ended it.
    let probed = try ProbedFile(folder.path("a.mp4"))
    #expect(probed.complaints == "")
    #expect(probed.video?.frames ?? 0 >= 60, "\(String(describing: probed.video?.frames))")
    #expect(recorder.finish().failure == nil)
    #expect(try ProbedFile(folder.path("a.mp4")).video?.frames == 120)
  }
}
