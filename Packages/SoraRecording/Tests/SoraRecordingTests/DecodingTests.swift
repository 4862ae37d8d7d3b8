import Foundation
import SoraMedia
import SoraRecording
import Testing

/// Files whose codecs aren't negotiated in calls, as ffmpeg makes them.
@Suite(.enabled(if: ProbedFile.isInstalled, "needs ffmpeg: apt-get install ffmpeg"))
struct DecodingTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  /// A second of one colour and of a tone of 440 Hz, with ffmpeg's arguments.
  private static let colour = [
    "-f", "lavfi", "-i", "color=c=0x2060C0:s=160x96:r=25:d=1",
  ]
  private static let tone = [
    "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=44100:duration=1",
  ]
  /// That colour in limited-range BT.601 (BT.601-7 §2.5): Y, U, V.
  private static let samples = [91, 180, 93]

  private func make(_ name: String, _ arguments: [String]) throws -> String {
    let path = folder.path(name)
    let run = try ProbedFile.run(
      ["ffmpeg", "-nostdin", "-y", "-loglevel", "error"] + arguments + [path])
    #expect(run.errors.isEmpty, "\(run.errors)")
    return path
  }

  private struct Decoded {
    var pictures: [(picture: PixelBuffer, rotation: VideoRotation, time: Double)] = []
    var sound: [Int16] = []
    var channels = 0
    var soundTimes: [Double] = []
    var framesFailed = 0
  }

  private func decode(_ path: String, framesPerSecond: Double? = nil) throws -> Decoded {
    let reader = try MediaFileReader(path: path, framesPerSecond: framesPerSecond)
    var decoded = Decoded()
    var decoders: [Int: MediaFileDecoder] = [:]
    for (index, track) in reader.tracks.enumerated() where track.canBeDecoded {
      decoders[index] = try MediaFileDecoder(reader, track: index)
    }
    func take(_ output: MediaFileDecoder.Output) {
      switch output {
      case .picture(let picture, let rotation, let time):
        decoded.pictures.append((picture, rotation, time?.inSeconds ?? -1))
      case .sound(let samples, let channels, let time):
        decoded.sound += samples
        decoded.channels = channels
        decoded.soundTimes.append(time?.inSeconds ?? -1)
      }
    }
    while let frame = try reader.next() { try decoders[frame.track]?.decode(frame, take) }
    for decoder in decoders.values {
      try decoder.finish(take)
      decoded.framesFailed += decoder.framesFailed
    }
    return decoded
  }

  private func expectColour(_ picture: PixelBuffer, within tolerance: Int = 3) {
    let picture = BitDepthConverter(limit: 1).convert(picture, to: 8)
    for index in 0..<3 {
      let plane = picture.plane(index)
      for (x, y) in [
        (0, 0), (plane.width / 2, plane.height / 2), (plane.width - 1, plane.height - 1),
      ] {
        let sample = Int(plane.row(y)[x])
        #expect(abs(sample - Self.samples[index]) <= tolerance, "plane \(index): \(sample)")
      }
    }
  }

  @Test(arguments: [
    ("a.avi", "mjpeg yuvj420p", "pcm_s16le"), ("b.avi", "mjpeg yuvj444p", "pcm_s24le"),
    ("a.mpg", "mpeg2video yuv420p", "mp2"), ("a.mov", "prores yuv422p10le", "aac"),
    ("a.mkv", "ffv1 yuv444p", "flac"), ("d.mkv", "ffv1 yuv420p10le", "flac"),
    ("b.mkv", "huffyuv rgb24", "libmp3lame"),
    ("c.mkv", "rawvideo nv12", "libvorbis"),
  ])
  func picturesAndSoundComeOut(_ name: String, _ video: String, _ audio: String) throws {
    let video = video.split(separator: " ").map(String.init)
    let path = try make(
      name,
      Self.colour + Self.tone + [
        "-c:v", video[0], "-pix_fmt", video[1], "-q:v", "2", "-c:a", audio, "-ac", "2",
      ])
    let decoded = try decode(path)
    #expect(decoded.pictures.count == 25 && decoded.framesFailed == 0)
    let start = decoded.pictures[0].time
    for (index, entry) in decoded.pictures.enumerated() {
      // MPEG's program streams don't say when the last one is to be shown.
      let tolerance = name.hasSuffix("mpg") && index == 24 ? 0.041 : 0.002
      #expect(abs(entry.time - start - Double(index) / 25) < tolerance, "\(entry.time)")
      #expect(entry.picture.width == 160 && entry.picture.height == 96 && entry.rotation == .none)
    }
    expectColour(decoded.pictures[12].picture)
    #expect(
      decoded.pictures.allSatisfy { $0.picture.format == (video[1].contains("10") ? .i010 : .i420) }
    )
    // Coders of sound add something at both ends.
    #expect(decoded.channels == 2)
    #expect(abs(decoded.sound.count / 2 - 48_000) < 4_800, "\(decoded.sound.count / 2)")
    #expect(decoded.soundTimes == decoded.soundTimes.sorted())
    let middle = Array(decoded.sound[24_000..<72_000])
    let left = stride(from: 0, to: middle.count, by: 2).map { middle[$0] }
    let crossings = zip(left, left.dropFirst()).count { $0 < 0 && $1 >= 0 }
    #expect(abs(crossings - 220) <= 2, "half a second of 440 Hz: \(crossings)")
    #expect((2_600...3_200).contains(left.max() ?? 0), "an eighth of full scale, 3 dB less for two")
  }

  /// Profiles that a call's receivers have no decoder for are decoded here, though the codec is one of ours.
  @Test(arguments: [
    ("libx264", "yuv420p", true), ("libx264", "yuvj420p", true), ("libx264", "yuv422p", false),
    ("libx264", "yuv444p", false), ("libx264", "yuv420p10le", false),
    ("libx265", "yuv420p", true), ("libx265", "yuv444p", false), ("libx265", "yuv420p10le", false),
    ("libvpx-vp9", "yuv420p", true), ("libvpx-vp9", "yuv420p10le", true),
    ("libvpx-vp9", "yuv444p", false),
  ])
  func whatCallsDecodeGoesAsItIs(_ encoder: String, _ pixels: String, _ goes: Bool) throws {
    let quiet = encoder == "libx265" ? ["-x265-params", "log-level=error"] : []
    let path = try make(
      "a.mkv", Self.colour + ["-c:v", encoder] + quiet + ["-pix_fmt", pixels])
    let player = try MediaFilePlayer(path: path)
    let track = try #require(player.video)
    #expect((track.codec != nil) == goes, "\(track)")
    if !goes { expectColour(try decode(path).pictures[12].picture, within: 4) }
  }

  /// A step that 8 bits don't have.
  @Test func filmsOfTenBitsKeepThem() throws {
    let path = try make(
      "deep.mkv",
      [
        "-f", "lavfi", "-i",
        "color=black:s=64x48:r=25:d=1,format=yuv420p10le,geq=lum=401:cb=514:cr=509",
        "-c:v", "ffv1", "-pix_fmt", "yuv420p10le",
      ])
    let picture = try #require(try decode(path).pictures.first?.picture)
    #expect(picture.format == .i010)
    let seen = (0..<3).map { Int(picture.plane($0).row(10).bindMemory(to: UInt16.self)[10]) }
    #expect(seen == [401, 514, 509])
  }

  /// A film that says BT.709 looks as it did before.
  @Test func anotherMatrixIsConverted() throws {
    let path = try make(
      "a.mkv",
      Self.colour + [
        "-vf", "scale=out_color_matrix=bt709:out_range=tv", "-c:v", "ffv1", "-pix_fmt", "yuv420p",
        "-colorspace", "bt709", "-color_range", "tv",
      ])
    expectColour(try decode(path).pictures[0].picture)
  }

  @Test func pixelsBecomeSquareAndFilmsOfPhonesAreTurned() throws {
    let wide = try make("a.mkv", Self.colour + ["-vf", "setsar=4/3", "-c:v", "ffv1"])
    let picture = try decode(wide).pictures[0].picture
    #expect(picture.width == 214 && picture.height == 96)
    #expect(try MediaFileReader(path: wide).tracks[0].width == 214)
    expectColour(picture)
    let upright = try make("a.mov", Self.colour + ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p"])
    let turned = try make("b.mov", ["-i", upright, "-c", "copy", "-metadata:s:v", "rotate=90"])
    #expect(try decode(turned).pictures[0].rotation == .clockwise270)
  }

  @Test func numberedPicturesAreAFilm() throws {
    for index in 0..<5 {
      _ = try make(
        String(format: "shot-%04d.png", index),
        [
          "-f", "lavfi", "-i",
          String(format: "color=c=0x%1$02X%1$02X%1$02X:s=33x17,format=rgb24", index * 50),
          "-frames:v", "1",
        ])
    }
    let decoded = try decode(folder.path("shot-%04d.png"), framesPerSecond: 12.5)
    #expect(decoded.pictures.map { ($0.time * 1_000).rounded() } == [0, 80, 160, 240, 320])
    for (index, entry) in decoded.pictures.enumerated() {
      #expect(entry.picture.width == 33 && entry.picture.height == 17)
      let expected = 16 + index * 50 * 219 / 255
      #expect(abs(Int(entry.picture.plane(0).row(16)[32]) - expected) <= 2)
    }
    let player = try MediaFilePlayer(path: folder.path("shot-%04d.png"))
    #expect(player.video?.framesPerSecond == 25 && player.audio == nil)
    // One picture is a film of one frame.
    let one = try MediaFilePlayer(path: folder.path("shot-0003.png"))
    #expect(one.video?.width == 33)
  }

  @Test(.timeLimit(.minutes(5)), arguments: ["a.avi", "a.mov", "one.png"])
  func aPlayerGivesThemAtTheirTimes(_ name: String) async throws {
    let isFilm = name != "one.png"
    let path = try make(
      name,
      isFilm
        ? Self.colour + Self.tone + [
          "-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-ac", "2", "-c:a",
          name == "a.avi" ? "pcm_s16le" : "aac",
        ]
        : Self.colour + ["-frames:v", "1"])
    let player = try MediaFilePlayer(path: path, loops: true)
    let (stream, continuation) = AsyncStream.makeStream(of: MediaFilePlayer.Content.self)
    player.start { continuation.yield($0) }
    defer { player.stop() }
    var pictures: [Instant] = []
    var sound: [(start: Instant, end: Instant)] = []
    for await content in stream {
      switch content {
      case .encoded: Issue.record("encoded")
      case .picture(let frame): pictures.append(frame.timestamp)
      case .sound(let block):
        #expect(block.channels == 2 && block.sampleRate == 48_000)
        #expect(block.duration <= .milliseconds(20))
        sound.append((block.timestamp, block.timestamp + block.duration))
      }
      if player.rounds >= 2, pictures.count > 60 { break }
    }
    // Where the film begins anew the longer track's end is waited for.
    let steps = zip(pictures, pictures.dropFirst()).map { ($1 - $0).inSeconds }
    #expect(steps.allSatisfy { $0 > 0.03 && $0 < 0.13 }, "\(steps)")
    #expect(steps.count { abs($0 - 0.04) > 0.002 } <= (isFilm ? 4 : 0), "\(steps)")
    #expect(sound.isEmpty != isFilm)
    let gaps = zip(sound, sound.dropFirst()).map { abs(($1.start - $0.end).inSeconds) }
    #expect(gaps.allSatisfy { $0 < 0.08 }, "\(gaps.max() ?? 0)")
    #expect(gaps.count { $0 > 1e-6 } <= 4, "\(gaps.enumerated().filter { $0.1 > 1e-6 })")
  }

  @Test func whatCanNotBeSentIsOneError() throws {
    let small = try make("a.png", ["-f", "lavfi", "-i", "color=s=8x8", "-frames:v", "1"])
    let error = #expect(throws: MediaFileError.self) { try MediaFilePlayer(path: small) }
    #expect(error?.description == "\(small): size 8x8 is outside 16x16 to 8192x8192")
    let missing = #expect(throws: MediaFileError.self) {
      try MediaFilePlayer(path: folder.path("none-%03d.png"))
    }
    #expect(missing?.description.hasPrefix("cannot read ") == true)
  }

  /// Any bytes may be in a file.
  @Test(arguments: ["a.avi", "a.mpg", "a.mov", "a.gif"])
  func brokenFilesAreDecodedAsFarAsTheyGo(_ name: String) throws {
    let path = try make(name, Self.colour + (name == "a.gif" ? [] : Self.tone))
    let original = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    let random = RandomSource(seed: 3)
    var pictures = 0
    for _ in 0..<60 {
      var bytes = original
      for _ in 0..<1 + random.next() % 40 {
        bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      if random.next() % 3 == 0 { bytes.removeLast(Int(random.next() % UInt64(bytes.count / 2))) }
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      pictures += (try? decode(path).pictures.count) ?? 0
    }
    #expect(pictures > 100, "most of each can be read: \(pictures)")
  }
}
