import Foundation
import SoraCapture
import SoraCommandSupport
import SoraMedia
import Testing

@Suite struct RecorderTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("sora-record-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// A picture whose stamp says which one it is.
  private func frame(_ index: UInt32, at milliseconds: Int, _ width: Int = 320, _ height: Int = 180)
    -> RawVideoFrame
  {
    RawVideoFrame(
      buffer: TestPattern(width: width, height: height).frame(index: index, milliseconds: 1),
      timestamp: .zero + .milliseconds(milliseconds))
  }

  /// The indices that the pictures of a film show.
  private func film(_ name: String) throws -> (indices: [UInt32?], rate: Double) {
    let reader = try Y4MReader(path: path(name))
    var indices: [UInt32?] = []
    while let picture = try reader.next() { indices.append(FrameStamp(reading: picture)?.index) }
    return (indices, reader.framesPerSecond)
  }

  @Test func eachPictureStandsAtItsOwnTime() throws {
    let recorder = try #require(try Recorder(RecordFiles([path("a.y4m")]), framesPerSecond: nil))
    // 15 per second, then two within a frame, then a gap.
    for (index, time) in [0, 67, 133, 200, 205, 400].enumerated() {
      recorder.add(frame(UInt32(index), at: time))
    }
    let outcome = recorder.finish()
    let (indices, rate) = try film("a.y4m")
    #expect(rate == Recorder.standardRate)
    #expect(indices == [0, 0, 1, 1, 2, 2, 4, 4, 4, 4, 4, 4, 5])
    #expect(outcome.frames == 13)
    #expect(outcome.framesRepeated == 8)
    #expect(outcome.picturesBetween == 1)
    #expect(outcome.failure == nil)
  }

  @Test func theRateThatIsWantedIsTheFilms() throws {
    for (name, wanted) in [("a.y4m", 12.5), ("b.y4m", 30_000 / 1_001), ("c.y4m", 16)] {
      let recorder = try #require(
        try Recorder(RecordFiles([path(name)]), framesPerSecond: wanted))
      recorder.add(frame(0, at: 0))
      recorder.add(frame(1, at: 1_000))
      _ = recorder.finish()
      let (indices, rate) = try film(name)
      #expect(abs(rate - wanted) < 0.0001)
      #expect(indices.count == Int(wanted.rounded()) + 1 || wanted == 12.5)
    }
  }

  @Test func anotherSizeIsScaledToTheFirst() throws {
    let recorder = try #require(try Recorder(RecordFiles([path("a.y4m")]), framesPerSecond: 10))
    recorder.add(frame(0, at: 0))
    recorder.add(frame(1, at: 100, 640, 360))
    recorder.add(frame(2, at: 200, 160, 90))
    #expect(recorder.finish().failure == nil)
    #expect(try film("a.y4m").indices == [0, 1, 2])
  }

  /// Samples of row `y` of a plane.
  private func row(_ y: Int, of picture: PixelBuffer, plane: Int = 0) -> [UInt8] {
    withExtendedLifetime(picture) { Array(picture.plane(plane).row(y)) }
  }

  @Test func otherProportionsStandBetweenBars() throws {
    let white = PixelBuffer(width: 90, height: 160) { planes in
      for (index, plane) in planes.enumerated() {
        for y in 0..<plane.height {
          plane.row(y).initializeMemory(as: UInt8.self, repeating: index == 0 ? 235 : 100)
        }
      }
    }
    let fitter = PictureFitter(width: 320, height: 180)
    let fitted = try fitter.fit(white)
    #expect(fitted.width == 320 && fitted.height == 180)
    // 101 columns of 320, in the middle.
    for y in [0, 90, 179] {
      let luma = row(y, of: fitted)
      #expect(luma[0] == 16 && luma[106] == 16 && luma[210] == 16 && luma[319] == 16)
      #expect(luma[108] == 235 && luma[160] == 235 && luma[208] == 235)
      let chroma = row(y / 2, of: fitted, plane: 1)
      #expect(chroma[10] == 128 && chroma[80] == 100)
    }
    let wide = try PictureFitter(width: 90, height: 160).fit(frame(0, at: 0).buffer)
    #expect(row(0, of: wide)[45] == 16 && row(159, of: wide)[45] == 16)
    #expect(row(0, of: wide, plane: 2)[20] == 128)
    // Nothing to do, and the same proportions in whole pixels.
    #expect(try fitter.fit(fitted) === fitted)
    let grey = PixelBuffer(width: 320, height: 180) { planes in
      for plane in planes {
        for y in 0..<plane.height {
          plane.row(y).initializeMemory(as: UInt8.self, repeating: 90)
        }
      }
    }
    let rounded = try PictureFitter(width: 214, height: 120).fit(grey)
    #expect(row(0, of: rounded).allSatisfy { $0 == 90 })
  }

  @Test func soundKeepsItsTimeAndItsChannels() throws {
    let recorder = try #require(try Recorder(RecordFiles([path("a.wav")]), framesPerSecond: nil))
    func add(_ samples: [Int16], channels: Int, at milliseconds: Int) {
      recorder.add(
        AudioFrame(
          samples: samples, sampleRate: 48_000, channels: channels,
          timestamp: .zero + .milliseconds(milliseconds)))
    }
    let block = [Int16](repeating: 1_000, count: 960)
    add(block, channels: 2, at: 0)
    // A little late is none of the file's business; a second of nothing is silence.
    add(block, channels: 2, at: 90)
    add([Int16](repeating: 3_000, count: 480), channels: 1, at: 1_000)
    add(block, channels: 2, at: 3_601_010)
    let outcome = recorder.finish()
    #expect(outcome.failure == nil)
    #expect(abs(outcome.audioSeconds - 11.02) < 0.001)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path("a.wav"))).dropFirst(44)
    let samples = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map {
      Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
    }
    #expect(samples[1_919] == 1_000 && samples[1_920] == 0 && samples[95_999] == 0)
    #expect(samples[96_000] == 3_000 && samples[96_959] == 3_000 && samples[96_960] == 0)
    #expect(samples.last == 1_000)
  }

  /// 10 ms.
  private var sound: AudioFrame {
    AudioFrame(
      samples: [Int16](repeating: 1_000, count: 960), sampleRate: 48_000, channels: 2,
      timestamp: .zero)
  }

  @Test(arguments: ["full.y4m", "full.wav"]) func aFullDiskIsTheReason(_ name: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: path(name), withDestinationPath: "/dev/full")
    let recorder = try #require(try Recorder(RecordFiles([path(name)]), framesPerSecond: nil))
    for index in 0..<10 { recorder.add(frame(UInt32(index), at: 33 * index)) }
    recorder.add(sound)
    let failure = try #require(recorder.finish().failure)
    #expect(failure.hasSuffix("No space left on device"), "\(failure)")
  }

  /// What lies there stays until something comes to take its place, and nothing is left where nothing came.
  @Test(arguments: ["a.y4m", "a.wav", "a.webm", "a.mp4"])
  func aRecordingOfNothingChangesNothing(_ name: String) throws {
    let old = Data("a recording of yesterday".utf8)
    try old.write(to: URL(fileURLWithPath: path(name)))
    for path in [path(name), path("new-" + name)] {
      let files = try RecordFiles([path])
      let recorder = try Recorder(files, framesPerSecond: nil)
      #expect(recorder?.finish().failure == nil)
      if let encoded = files.encoded {
        let stream = try StreamRecording(path: encoded, hasVideo: true, hasAudio: true)
        #expect(stream.finish().isEmpty)
      }
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path(name))) == old)
    #expect(!FileManager.default.fileExists(atPath: path("new-" + name)))
    guard let recorder = try Recorder(RecordFiles([path(name)]), framesPerSecond: nil) else {
      return
    }
    recorder.add(frame(1, at: 0))
    recorder.add(sound)
    #expect(recorder.finish().failure == nil)
    let new = try Data(contentsOf: URL(fileURLWithPath: path(name)))
    #expect(new.starts(with: Data((name.hasSuffix("wav") ? "RIFF" : "YUV4").utf8)))
  }

  /// Who reads a pipe gets all that comes, though the command has looked at it before.
  @Test func aPipeIsRecordedInto() async throws {
    #expect(unsafe mkfifo(path("pipe.y4m"), 0o600) == 0)
    let (path, film) = (path("pipe.y4m"), AsyncStream<Data>.makeStream())
    Thread.detachNewThread {
      film.continuation.yield(FileHandle(forReadingAtPath: path)?.readDataToEndOfFile() ?? Data())
      film.continuation.finish()
    }
    do {
      let recorder = try #require(try Recorder(RecordFiles([path]), framesPerSecond: nil))
      for index in 0..<3 { recorder.add(frame(UInt32(index), at: 40 * index)) }
      #expect(recorder.finish().failure == nil)
    }
    for await data in film.stream { #expect(data.starts(with: Data("YUV4MPEG2".utf8))) }
  }

  @Test func aFolderThatNothingCameForGoes() throws {
    let made = try ChannelRecording(folder: path("made/"), channelID: "c")
    #expect(made.finish().isEmpty)
    #expect(!FileManager.default.fileExists(atPath: path("made")))
    try FileManager.default.createDirectory(
      atPath: path("there"), withIntermediateDirectories: false)
    #expect(try ChannelRecording(folder: path("there"), channelID: "c").finish().isEmpty)
    #expect(FileManager.default.fileExists(atPath: path("there")))
  }

  @Test func theSnapshotSettlesAnewWithAnotherStream() throws {
    let keeper = try SnapshotKeeper(path: path("a.png"))
    func add(_ index: UInt32, at seconds: Double, of source: String) {
      let now = Instant.zero + .seconds(seconds)
      keeper.add(
        RawVideoFrame(
          buffer: TestPattern(width: 64, height: 48).frame(index: index, milliseconds: 1),
          timestamp: now), at: now, of: source)
    }
    add(0, at: 0, of: "a")
    add(1, at: 1.9, of: "b")
    add(2, at: 3.8, of: "b")
    #expect(!FileManager.default.fileExists(atPath: path("a.png")))
    #expect(keeper.finish() == nil)
    #expect(FileManager.default.fileExists(atPath: path("a.png")))
  }
}
