import SoraMedia
import SoraRecording
import Testing

@Suite struct ParameterTests {
  @Test(arguments: VideoCodecKind.allCases) func aKeyFrameTellsItsSize(_ kind: VideoCodecKind)
    throws
  {
    let frames = try Clips.video(kind, frames: 3, sizes: [(162, 90)])
    let known = try #require(VideoTrackParameters(keyFrame: frames[0].frame, codec: kind))
    #expect(known.width == 162 && known.height == 90)
    #expect(known.parameterSets.isEmpty == (kind == .vp8 || kind == .vp9))
    // Other frames, and another codec's, have none.
    #expect(VideoTrackParameters(keyFrame: frames[1].frame, codec: kind) == nil)
    for other in VideoCodecKind.allCases where other != kind {
      #expect(VideoTrackParameters(keyFrame: frames[0].frame, codec: other) == nil)
    }
  }

  /// Every key frame cut anywhere, and with bytes changed: something or nothing comes of it, and nothing traps.
  @Test(arguments: VideoCodecKind.allCases) func anyBytesAreTaken(_ kind: VideoCodecKind) throws {
    let original = Array(try Clips.video(kind, frames: 1)[0].frame.payload.bytes)
    let head = min(original.count, 200)
    for count in 0..<head {
      _ = VideoTrackParameters(keyFrame: EncodedBuffer(Array(original[..<count])).span, codec: kind)
    }
    var state: UInt64 = 42
    for _ in 0..<5_000 {
      var bytes = original
      for _ in 0..<4 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        bytes[Int(state >> 33) % head] = UInt8(truncatingIfNeeded: state >> 20)
      }
      let known = VideoTrackParameters(keyFrame: EncodedBuffer(bytes).span, codec: kind)
      if let known { #expect(known.width > 0 && known.height > 0) }
    }
  }

  /// What a peer sends comes to the library as it is: damaged frames make a file or an error.
  @Test(arguments: VideoCodecKind.allCases) func damagedFramesAreWrittenOrRefused(
    _ kind: VideoCodecKind
  ) throws {
    let folder = try Folder()
    let frames = try Clips.video(kind, frames: 4, keyFrameEvery: 2)
    var state: UInt64 = 7
    for round in 0..<60 {
      let recorder = try MediaRecorder(
        path: folder.path("\(round % 2).\(round % 3 == 0 ? "mkv" : "mp4")"))
      for frame in frames {
        var bytes = Array(frame.frame.payload.bytes)
        for _ in 0..<3 {
          state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          bytes[Int(state >> 33) % min(bytes.count, 80)] = UInt8(truncatingIfNeeded: state >> 20)
        }
        if round % 5 == 0 { bytes.removeLast(bytes.count - bytes.count / 3) }
        var damaged = frame
        damaged.frame.payload = EncodedBuffer(bytes)
        recorder.receive(damaged)
      }
      let outcome = recorder.finish()
      // The frame is refused, and not the file, unless the file can't begin with it.
      #expect(outcome.failure == nil || outcome.videoFrames == 0, "\(outcome)")
    }
  }
}
