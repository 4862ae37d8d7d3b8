import Testing

// Every video codec that a peer has, both ways: what it publishes is played here, what is published here it decodes.

extension InteropQuiet {
  /// In Python: they leave frames out where a browser wants the cores.
  @Suite struct Codecs {
    @Test(.needsPeers) func ofAiortc() async throws {
      try await CodecMatrix.check("media/aiortc", ["VP8", "H264"])
    }

    @Test(.needsGStreamer) func ofGStreamer() async throws {
      try await CodecMatrix.check("media/gstreamer", ["VP8", "H264"])
    }
  }
}

extension Interop {
  @Suite struct Codecs {
    @Test(.needsPeers) func ofTheOfficialSDK() async throws {
      let matrix = try await CodecMatrix.check("media/official", ["VP8", "VP9", "AV1"])
      let name = Comment(rawValue: "VP9 profile 2")
      try CodecMatrix.check("VP9", try #require(matrix.tenBits, name), readable: 0.95)
      try CodecMatrix.check("VP9", try #require(matrix.tenBitsFromPeer, name), readable: 0.95)
    }

    @Test(.needsBrowser) func ofChromium() async throws {
      let matrix = try await CodecMatrix.check(
        "media/chromium", ["VP8", "VP9", "AV1", "H264"], drawsInTheBrowser: true)
      try CodecMatrix.check(
        "VP9", try #require(matrix.tenBits, "VP9 profile 2 to the peer"), readable: 0.95)
    }

    @Test(.needsFirefox) func ofFirefox() async throws {
      try await CodecMatrix.check("media/firefox", ["VP8", "VP9", "AV1"], drawsInTheBrowser: true)
    }
  }
}

/// What a script that tries one codec after the other tells, and what it must be.
struct CodecMatrix: Decodable {
  var codecs: [String: Ways]
  /// VP9's profile 2, where the script tries it.
  var tenBits: Ways.Received?
  var tenBitsFromPeer: Ways.Published?

  struct Ways: Decodable {
    struct Published: Decodable {
      struct Sent: Decodable {
        /// By the peer's own account.
        var codec: String
        var frames: Int
      }
      var sent: Sent
      var status: Int
      var summary: Summary
    }
    struct Received: Decodable {
      struct Video: Decodable {
        /// By the peer's own account.
        var codec: String
        /// Decoded.
        var frames: Int
        /// Those whose stamps were looked at; nil for all.
        var shown: Int?
        var unreadable: Int
        var backwards: Int
        /// Frames shown again, as where a key frame was asked for between two.
        var repeated: Int?
        var missing: Int?
        var size: [Int]
      }
      var received: Video
      var status: Int
      var summary: Summary
    }
    var published: Published
    var received: Received
  }

  /// Three seconds of 30 frames each: scripts wait until so many are decoded.
  private static let frames = 90

  @discardableResult
  static func check(
    _ script: String, _ codecs: [String], drawsInTheBrowser: Bool = false
  ) async throws -> CodecMatrix {
    let matrix = try await Scenario(name: script, limit: 150).run(CodecMatrix.self)
    #expect(Set(matrix.codecs.keys) == Set(codecs))
    for (codec, ways) in matrix.codecs.sorted(by: { $0.key < $1.key }) {
      // libaom's quick modes leave a flat block of the stamp as it was now and then, whoever decodes: `aomenc --rt`
      // one in 5 to 100 frames, depending on its speed, which follows what a decoder beside it leaves of the processor (0 to 10
      // of 60 beside Firefox); browsers one in 6 of a canvas.
      let readable = codec == "AV1" ? 0.75 : 0.95
      try check(
        codec, ways.published, readable: codec == "AV1" && drawsInTheBrowser ? 0.6 : readable)
      try check(codec, ways.received, readable: readable)
    }
    return matrix
  }

  static func check(_ codec: String, _ way: Ways.Published, readable: Double) throws {
    let name = Comment(rawValue: "\(codec) from the peer")
    #expect(way.status == 0, name)
    #expect(way.sent.codec == codec, name)
    let video = try #require(way.summary.video, name)
    #expect(video.codec == codec, name)
    #expect(video.frames >= Self.frames, name)
    #expect(Double(video.frames) >= 0.9 * Double(way.sent.frames), name)
    #expect(video.fps > 15, name)
    // A picture that can't be decoded is dropped, with those that follow, and a key frame is asked for.
    #expect(video.framesDropped == 0, name)
    #expect(way.summary.pli <= 1, name)
    let stamps = try #require(video.stamps, name)
    #expect(Double(stamps.frames) >= readable * Double(video.frames), name)
    #expect(stamps.outOfOrder == 0 && stamps.restarts == 0, name)
    let audio = try #require(way.summary.audio, name)
    #expect(audio.seconds > 1, name)
  }

  static func check(_ codec: String, _ way: Ways.Received, readable: Double) throws {
    let name = Comment(rawValue: "\(codec) to the peer")
    #expect(way.status == 0, name)
    let sent = try #require(way.summary.video, name)
    #expect(sent.codec == codec, name)
    let video = way.received
    #expect(video.codec == codec, name)
    #expect(video.frames >= Self.frames, name)
    #expect(video.size == [640, 360], name)
    let shown = Double(video.shown ?? video.frames)
    #expect(shown - Double(video.unreadable) >= readable * shown, name)
    #expect(video.backwards == 0, name)
    // Once for each of the requests for a key frame that a call begins with.
    #expect(video.repeated ?? 0 <= 5, name)
    // On a machine that has other things to do, the publisher leaves frames out.
    if let missing = video.missing {
      #expect(Double(missing) <= 0.25 * Double(video.frames), name)
    }
  }
}
