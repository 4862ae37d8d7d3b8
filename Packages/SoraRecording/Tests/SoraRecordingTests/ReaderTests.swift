import Foundation
import SoraCodecs
import SoraMedia
import SoraRecording
import Testing

@Suite struct ReaderTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  @Test(arguments: Combination.all) func whatWasWrittenIsRead(_ combination: Combination) throws {
    let path = folder.path("a.\(combination.container.fileEnding)")
    let video = try Clips.video(combination.codec, frames: 45)
    let recorder = try MediaRecorder(path: path)
    for frame in Clips.together(video, Clips.audio(packets: 75)) { recorder.receive(frame) }
    #expect(recorder.finish().failure == nil)
    let reader = try MediaFileReader(path: path)
    let track = try #require(reader.firstTrack(.video))
    #expect(reader.tracks[track].codec == .video(combination.codec))
    #expect(reader.tracks[track].width == 160)
    let sound = try #require(reader.firstTrack(.audio))
    #expect(reader.tracks[sound].codec == .opus && reader.tracks[sound].channels == 2)
    #expect(abs((reader.duration ?? .zero).inSeconds - 1.5) < 0.05)
    // Decoded, they are the pictures that were written.
    let decoder = try Clips.decoder(combination.codec)
    for round in 0..<3 {
      var pictures = 0
      var packets = 0
      while let frame = try reader.next() {
        if frame.track == sound {
          #expect(Array(frame.frame.payload.bytes) == [0xFC, 0xFF, 0xFE])
          packets += 1
          continue
        }
        #expect(abs(frame.time.inSeconds - Double(pictures) / 30) < 0.006)
        #expect(frame.frame.isKeyFrame == (pictures % 15 == 0))
        let picture = try #require(try decoder.decode(frame.frame))
        #expect(picture.width == 160 && picture.height == 96)
        pictures += 1
      }
      #expect(pictures == 45 && packets == 75, "round \(round)")
      try reader.seek(to: .zero)
    }
    try reader.seek(to: .milliseconds(1_200))
    var first: MediaFileFrame?
    while let frame = try reader.next(), first == nil {
      if frame.track == track { first = frame }
    }
    #expect(first?.frame.isKeyFrame == true)
    #expect(abs((first?.time ?? .zero).inSeconds - 1) < 0.006)
  }

  /// The tracks that a reader told are those of the file that it opened: with others it doesn't go on.
  @Test func aFileThatIsReplacedDoesNotBeginAnew() throws {
    func write(_ name: String, _ codec: VideoCodecKind, hasAudio: Bool) throws -> String {
      var settings = MediaRecorder.Settings()
      settings.hasAudio = hasAudio
      let recorder = try MediaRecorder(path: folder.path(name), settings: settings)
      let audio = hasAudio ? Clips.audio(packets: 30) : []
      for frame in Clips.together(try Clips.video(codec, frames: 20), audio) {
        recorder.receive(frame)
      }
      #expect(recorder.finish().failure == nil)
      return folder.path(name)
    }
    func replace(_ path: String, by other: String) throws {
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.copyItem(atPath: other, toPath: path)
    }
    let path = try write("a.mkv", .vp8, hasAudio: false)
    let reader = try MediaFileReader(path: path)
    while try reader.next() != nil {}
    for other in [
      try write("b.mkv", .vp8, hasAudio: true), try write("c.mkv", .vp9, hasAudio: false),
    ] {
      try replace(path, by: other)
      let error = #expect(throws: MediaFileError.self) {
        try reader.seek(to: .zero)
        while try reader.next() != nil {}
      }
      #expect(error?.description.hasPrefix("cannot begin anew \(path): other tracks") == true)
    }
    // Another film of the same kind goes on.
    try replace(path, by: try write("d.mkv", .vp8, hasAudio: false))
    try reader.seek(to: .zero)
    var frames = 0
    while try reader.next() != nil { frames += 1 }
    #expect(frames == 20)
  }

  @Test func whatIsNoFilmIsRefused() throws {
    let path = folder.path("a.webm")
    #expect(throws: MediaFileError.self) { try MediaFileReader(path: path) }
    try Data("no film at all".utf8).write(to: URL(fileURLWithPath: path))
    let error = #expect(throws: MediaFileError.self) { try MediaFileReader(path: path) }
    #expect(error?.description.hasPrefix("cannot read \(path): ") == true)
    // A name isn't an address.
    #expect(throws: MediaFileError.self) { try MediaFileReader(path: "http://127.0.0.1:1/a.webm") }
  }

  /// Lists of files are formats, too, to the library: one under a film's name would have others sent into the call.
  @Test func whatNamesOtherFilesIsNoFilm() throws {
    let other = folder.path("b.mp4")
    let recorder = try MediaRecorder(path: other)
    for frame in try Clips.video(.h264, frames: 15) { recorder.receive(frame) }
    #expect(recorder.finish().failure == nil)
    #expect(try MediaFileReader(path: other).tracks.count == 2)
    let lists = [
      "ffconcat version 1.0\nfile b.mp4\n",
      "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n\(other)\n#EXT-X-ENDLIST\n",
    ]
    for list in lists {
      let path = folder.path("a.webm")
      try Data(list.utf8).write(to: URL(fileURLWithPath: path))
      let reader = try? MediaFileReader(path: path)
      #expect(reader?.tracks.isEmpty ?? true, "\(list)")
      #expect(throws: MediaFileError.self) { try MediaFilePlayer(path: path) }
    }
  }

  /// A file that is cut anywhere or damaged ends, and traps nothing.
  @Test(arguments: MediaContainer.allCases) func damagedFilesEnd(_ container: MediaContainer) throws
  {
    let path = folder.path("a.\(container.fileEnding)")
    let recorder = try MediaRecorder(path: path)
    let video = try Clips.video(container == .mp4 ? .h265 : .av1, frames: 20)
    for frame in Clips.together(video, Clips.audio(packets: 30)) { recorder.receive(frame) }
    recorder.finish()
    let original = try Data(contentsOf: URL(fileURLWithPath: path))
    var state: UInt64 = 5
    for round in 0..<100 {
      var bytes = [UInt8](original)
      for _ in 0..<(round % 20) {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        bytes[Int(state >> 33) % bytes.count] = UInt8(truncatingIfNeeded: state >> 20)
      }
      if round % 3 == 0 { bytes.removeLast(Int(state >> 33) % bytes.count) }
      let damaged = folder.path("b.\(container.fileEnding)")
      try Data(bytes).write(to: URL(fileURLWithPath: damaged))
      do throws(MediaFileError) {
        let reader = try MediaFileReader(path: damaged)
        var count = 0
        while try reader.next() != nil { count += 1 }
        #expect(count < 1_000)
        try reader.seek(to: .milliseconds(300))
        _ = try reader.next()
      } catch {
        #expect(!"\(error)".isEmpty)
      }
    }
  }
}
