import Foundation
import SoraCapture
import SoraCodecs
import SoraMedia
import SoraRecording
import SoraServer
import SoraWire
import TestPrograms
import Testing
import WebRTC

/// `sora publish FILE`, with `sora play --record` at the other end.
@Suite(.serialized, .timeLimit(.minutes(3))) struct FilmTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("sora-film-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// Two seconds of the test pattern, with a key frame each half second, and packets of silence.
  private func film(_ kind: VideoCodecKind, _ ending: String) throws -> String {
    let path = path("film-\(kind).\(ending)")
    let encoder = try RTCPeerConnectionFactory().videoCodecs.makeEncoder(
      kind,
      settings: VideoEncoderSettings(
        width: 160, height: 96, targetBitsPerSecond: 200_000, threads: 1,
        allowsFrameDropping: false))
    let recorder = try MediaRecorder(path: path)
    for index in 0..<100 {
      let time = Instant.zero + .milliseconds(index * 20)
      recorder.receive(
        EncodedTrackFrame(
          codec: .opus,
          frame: EncodedFrame(
            payload: EncodedBuffer([0xFC, UInt8(index), 0xFE]), isKeyFrame: true,
            rtpTimestamp: UInt32(index * 960), timestamp: time), receiveTime: time))
      guard index % 2 == 0 else { continue }
      let picture = TestPattern(width: 160, height: 96)
        .frame(index: UInt32(index / 2), milliseconds: 0)
      let frame = try encoder.encode(
        RawVideoFrame(buffer: picture, timestamp: time), forceKeyFrame: index % 24 == 0,
        rtpTimestamp: UInt32(index * 1_800))
      guard let frame else { continue }
      recorder.receive(EncodedTrackFrame(codec: .video(kind), frame: frame, receiveTime: time))
    }
    #expect(recorder.finish().failure == nil)
    return path
  }

  /// A file's frames of a kind, each as its bytes; of H.264 and H.265 the slices alone, as parameter sets may be repeated.
  private func frames(_ path: String, _ kind: MediaKind) throws -> [[UInt8]] {
    let reader = try MediaFileReader(path: path)
    let track = try #require(reader.firstTrack(kind))
    var all: [[UInt8]] = []
    while let frame = try reader.next() {
      guard frame.track == track else { continue }
      let bytes = frame.frame.payload
      switch reader.tracks[track].codec {
      case .video(.h264)?: all.append(units(bytes) { (1...5).contains($0 & 0x1F) })
      case .video(.h265)?: all.append(units(bytes) { $0 >> 1 & 0x3F < 32 })
      case .video(.av1)?: all.append(openUnits(bytes))
      default: all.append(Array(bytes.bytes))
      }
    }
    return all
  }

  /// The payloads of AV1's units, without delimiters and the units' sizes, which may be written in several ways.
  private func openUnits(_ buffer: EncodedBuffer) -> [UInt8] {
    var reader = ByteReader(buffer.span)
    let bytes = Array(buffer.bytes)
    var all: [UInt8] = []
    while let header = reader.u8() {
      if header & 4 != 0 { _ = reader.u8() }
      guard let size = header & 2 != 0 ? reader.leb128() : reader.remaining else { break }
      let start = reader.offset
      guard reader.skip(size) else { break }
      if header >> 3 & 15 != 2 { all += bytes[start..<start + size] }
    }
    return all
  }

  private func units(_ buffer: EncodedBuffer, where isWanted: (UInt8) -> Bool) -> [UInt8] {
    var units = AnnexBUnits(buffer.span)
    var all: [UInt8] = []
    let bytes = Array(buffer.bytes)
    while let unit = units.next() {
      if isWanted(bytes[unit.lowerBound]) { all += bytes[unit] }
    }
    return all
  }

  /// What goes as it is in the file isn't decoded, and so can't be written as pictures or samples: told before anybody is called.
  @Test(arguments: ["--record got.y4m", "--record got.wav", "--snapshot got.png"])
  func whatIsEncodedIsNotRecordedAsPictures(_ option: String) throws {
    let film = try film(.vp8, "webm")
    let run = try Run(
      ["publish", "ws://127.0.0.1:1/signaling", "--channel", "c", "--video", film]
        + option.split(separator: " ").map(String.init))
    #expect(run.status == 2)
    #expect(run.errors.contains("\(option): "), "\(run.errors)")
    #expect(run.errors.contains("encoded already"), "\(run.errors)")
  }

  /// A film has a size and times of its own; who asks for others is told that these stay.
  @Test func whatAFilmHasStays() throws {
    let film = try film(.vp8, "webm")
    let call = ["publish", "ws://127.0.0.1:1/signaling", "--channel", "c", "--video", film]
    let run = try Run(call + ["--fps", "5", "--resolution", "64x64"])
    #expect(run.status == 1)
    #expect(
      run.errors.hasPrefix(
        """
        sora: --resolution 64x64: what --video names has 160x96, and is sent so
        sora: --fps 5.0: the film has times of its own, and is sent by them
        sora: signaling:
        """), "\(run.errors)")
    let same = try Run(call + ["--fps", "25", "--resolution", "160x96"])
    #expect(same.errors.hasPrefix("sora: signaling:"), "\(same.errors)")
  }

  /// Publishes with these arguments while `sora play` records three seconds.
  private func exchange(_ arguments: [String], recording: String) async throws -> Run {
    let server = try await SoraServer.start()
    let publisher = Process()
    publisher.executableURL = try Run.command()
    publisher.arguments = ["publish", server.url, "--channel", "c", "--json"] + arguments
    publisher.standardOutput = FileHandle.nullDevice
    publisher.standardError = FileHandle.nullDevice
    publisher.standardInput = FileHandle.nullDevice
    try publisher.run()
    let url = server.url
    let played: Run = try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(
          with: Result {
            try Run([
              "play", url, "--channel", "c", "--duration", "3", "--timeout", "60", "--json",
              "--record", recording,
            ])
          })
      }
    }
    publisher.interrupt()
    publisher.waitUntilExit()
    await server.shutdown()
    return played
  }

  /// Publishes to the end, and gives what is told of that then.
  private func summary(_ arguments: [String]) async throws -> String {
    let server = try await SoraServer.start()
    let run = try await Run.beside(
      ["publish", server.url, "--channel", "c", "--json"] + arguments)
    await server.shutdown()
    #expect(run.status == 0, "\(run.errors)")
    return String(try #require(run.output.split(separator: "\n").last))
  }

  private static let combinations: [(VideoCodecKind, String)] = [
    (.vp8, "webm"), (.vp9, "mkv"), (.av1, "webm"), (.h264, "mp4"), (.h265, "mkv"),
  ]

  /// Frame for frame and packet for packet what is in the file, again and again.
  @Test(arguments: combinations)
  func whatIsInTheFileArrives(_ kind: VideoCodecKind, _ ending: String) async throws {
    let film = try film(kind, ending)
    let got = path("got.\(ending)")
    // The codec isn't said: it is the film's.
    let run = try await exchange(["--video", film, "--loop"], recording: got)
    #expect(run.status == 0, "\(run.errors)")
    for media in [MediaKind.video, .audio] {
      let (sent, received) = (try frames(film, media), try frames(got, media))
      #expect(received.count > 30, "\(media)")
      // Where the recording begins in the film; from there on each frame is the next.
      let start = try #require(sent.firstIndex { $0 == received.first }, "\(media)")
      var wrong = 0
      for (index, frame) in received.enumerated() where frame != sent[(start + index) % sent.count]
      { wrong += 1 }
      #expect(wrong == 0, "\(media): \(wrong) of \(received.count)")
    }
  }

  @Test func anotherCodecIsEncodedAgain() async throws {
    let film = try film(.vp8, "webm")
    let got = path("got.mp4")
    let run = try await exchange(
      ["--video", film, "--loop", "--video-codec", "h264"], recording: got)
    #expect(run.status == 0, "\(run.errors)")
    let reader = try MediaFileReader(path: got)
    let track = try #require(reader.firstTrack(.video))
    #expect(reader.tracks[track].codec == .video(.h264) && reader.tracks[track].width == 160)
    #expect(try frames(got, .video).count > 30)
  }

  /// - Parameter input: says what is read: a filter of libavfilter, or nothing for a file.
  private func ffmpeg(_ arguments: [String], input: [String] = ["-f", "lavfi"]) async throws {
    let made = try await TestPrograms.run(
      ["ffmpeg", "-nostdin", "-y", "-loglevel", "error"] + input + ["-i"] + arguments,
      output: URL(fileURLWithPath: path("log")))
    #expect(made == 0)
  }

  private static let hasFFmpeg = FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg")

  /// Frames in another order than they are shown in are no call's: they are decoded and encoded again, and none is lost.
  @Test(.enabled(if: hasFFmpeg, "no ffmpeg"))
  func framesThatAreReorderedAreEncodedAgain() async throws {
    let film = path("b.mp4")
    try await ffmpeg([
      "testsrc=size=160x96:rate=25", "-t", "4", "-c:v", "libx264", "-bf", "2", "-g", "25",
      "-pix_fmt", "yuv420p", film,
    ])
    let got = path("got.webm")
    let run = try await exchange(
      ["--video", film, "--loop", "--video-codec", "vp8"], recording: got)
    #expect(run.status == 0, "\(run.errors)")
    let reader = try MediaFileReader(path: got)
    var times: [Duration] = []
    while let frame = try reader.next() { times.append(frame.time) }
    #expect(times == times.sorted() && times.count > 45, "\(times.count)")
  }

  /// A group of pictures is as long as the film, as the encoders' defaults make it: none but the decoder's last wait for a key frame.
  @Test(
    .enabled(if: hasFFmpeg, "no ffmpeg"), arguments: [("libx264", "h264"), ("libx265", "h265")])
  func aLongGroupWithBFramesIsSentFromItsBeginning(_ encoder: String, _ codec: String)
    async throws
  {
    let film = path("b.mp4")
    try await ffmpeg([
      "testsrc=size=160x96:rate=25", "-t", "3", "-c:v", encoder, "-pix_fmt", "yuv420p", film,
    ])
    let summary = try await summary([
      "--video", film, "--audio", "none", "--video-codec", codec,
    ])
    let frames = try #require(summary.firstMatch(of: /"frames":([0-9]+)/))
    #expect(try #require(Int(frames.1)) > 60, "\(summary)")
  }

  /// Screens recorded with all of their colour, films of telephones with 10 bits: of the codec of calls, but of none of its profiles there.
  @Test(
    .enabled(if: hasFFmpeg, "no ffmpeg"),
    arguments: [("libx264", "yuv444p"), ("libx265", "yuv420p10le")])
  func aProfileThatCallsDontHaveIsEncodedAgain(_ encoder: String, _ pixels: String) async throws {
    let film = path("a.mp4")
    try await ffmpeg([
      "testsrc=size=160x96:rate=25", "-t", "3", "-c:v", encoder, "-bf", "0", "-pix_fmt", pixels,
      film,
    ])
    let got = path("got.mp4")
    let run = try await exchange(
      ["--video", film, "--loop", "--video-codec", encoder == "libx264" ? "h264" : "h265"],
      recording: got)
    #expect(run.status == 0, "\(run.errors)")
    // It is read as something that calls decode.
    #expect(try frames(got, .video).count > 45)
  }

  /// A telephone's film goes as it is, with its word on how it is to be turned, and is recorded so.
  @Test(.enabled(if: hasFFmpeg, "no ffmpeg"))
  func aFilmOfATelephoneStaysTurned() async throws {
    let film = path("a.mp4")
    try await ffmpeg([
      "testsrc=size=160x96:rate=25", "-t", "3", "-c:v", "libx264", "-bf", "0", "-pix_fmt",
      "yuv420p", path("level.mp4"),
    ])
    try await ffmpeg(
      [path("level.mp4"), "-c", "copy", "-metadata:s:v", "rotate=90", film], input: [])
    let got = path("got.mp4")
    let run = try await exchange(["--video", film, "--loop"], recording: got)
    #expect(run.status == 0, "\(run.errors)")
    let rotations = try [film, got].map { path in
      let reader = try MediaFileReader(path: path)
      return try reader.tracks[#require(reader.firstTrack(.video))].rotation
    }
    #expect(rotations[0] == .clockwise270 && rotations[1] == rotations[0], "\(rotations)")
  }

  /// Codecs that no call has are decoded, pictures and sound.
  @Test(.enabled(if: hasFFmpeg, "no ffmpeg"))
  func aFilmOfAnyCodecIsPublished() async throws {
    let film = path("a.mov")
    try await ffmpeg([
      "testsrc=size=160x96:rate=25", "-f", "lavfi", "-i", "sine=frequency=440", "-t", "3", "-c:v",
      "mjpeg", "-pix_fmt", "yuvj420p", "-c:a", "aac", film,
    ])
    let got = path("got.webm")
    let run = try await exchange(["--video", film, "--loop"], recording: got)
    #expect(run.status == 0, "\(run.errors)")
    let summary = try #require(run.output.split(separator: "\n").last)
    // An eighth of full scale, as a sine.
    let level = try #require(summary.firstMatch(of: /"levelDb":(-[0-9.]+)/))
    #expect(abs((Double(level.1) ?? 0) + 21) < 3, "\(summary)")
    #expect(try frames(got, .video).count > 45)
    #expect(try frames(got, .audio).count > 100)
  }

  @Test(.enabled(if: hasFFmpeg, "no ffmpeg"))
  func numberedPicturesArePublished() async throws {
    try await ffmpeg(["testsrc=size=160x96:rate=5", "-t", "2", path("%04d.png")])
    let got = path("got.webm")
    let run = try await exchange(
      ["--video", path("%04d.png"), "--fps", "5", "--loop", "--audio", "none"], recording: got)
    #expect(run.status == 0, "\(run.errors)")
    let pictures = try frames(got, .video).count
    #expect((8...17).contains(pictures), "\(pictures)")
    // One picture stands still.
    let still = path("still.webm")
    let again = try await exchange(
      ["--video", path("0003.png"), "--loop", "--audio", "none"], recording: still)
    #expect(again.status == 0, "\(again.errors)")
    #expect(try frames(still, .video).count > 45)
  }

  @Test func aFilmIsOverAtItsEnd() async throws {
    let film = try film(.vp8, "webm")
    let summary = try await summary(["--video", film])
    #expect(summary.contains("\"frames\":50,"), "\(summary)")
  }

  @Test func whatIsNoFilmIsOneError() throws {
    let url = "ws://127.0.0.1:1/signaling"
    let text = path("text.webm")
    try Data("no film".utf8).write(to: URL(fileURLWithPath: text))
    for (arguments, expected) in [
      (["--video", path("none.mp4")], "--video cannot read \(path("none.mp4")): No such file"),
      (["--video", text], "--video cannot read \(text): "),
      (["--video", "none", "--audio", text], "--audio cannot read \(text): "),
    ] {
      let run = try Run(["publish", url, "--channel", "c"] + arguments)
      #expect(run.status == 2)
      #expect(run.errors.hasPrefix("sora: \(expected)"), "\(run.errors)")
    }
  }
}
