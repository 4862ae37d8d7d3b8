import Foundation
import SignalingTestSupport
import SoraICE
import SoraMedia
import SoraSDK
import SoraServer
import Testing
import WebRTC

/// Video of 10 bits a sample between two connections of the SDK, through the server.
@Suite(.timeLimit(.minutes(2))) struct DeepVideoTests {
  private static let field = 40
  /// Luma of neighbouring fields, in steps that 8 bits don't have.
  private static let levels: [UInt16] = [401, 402, 403, 405, 406, 407, 409, 410]

  private static func picture() -> PixelBuffer {
    PixelBuffer(width: field * levels.count, height: 180, format: .i010) { planes in
      for (index, plane) in planes.enumerated() {
        for y in 0..<plane.height {
          let row = plane.row(y).bindMemory(to: UInt16.self)
          for x in row.indices { row[x] = index == 0 ? levels[x / field] : 514 }
        }
      }
    }
  }

  /// How a codec is asked for its 10 bits, or for 8.
  enum Wish: CaseIterable {
    case vp9Profile2, av1Deep, vp9, av1

    var codec: VideoCodec { self == .vp9Profile2 || self == .vp9 ? .vp9 : .av1 }
    var isDeep: Bool { self == .vp9Profile2 || self == .av1Deep }

    func apply(to configuration: inout Configuration) {
      configuration.videoCodec = codec
      if self == .vp9Profile2 { configuration.videoVp9Params = ["profile_id": 2] }
      if self == .av1Deep { configuration.webRTCConfiguration.videoBitDepth = 10 }
    }
  }

  private func connect(
    to server: SoraServer, _ role: Role, _ change: (inout Configuration) -> Void = { _ in }
  ) async throws -> MediaChannel {
    var configuration = Configuration(
      url: try #require(URL(string: server.url)), channelId: "deep", role: role)
    configuration.audioEnabled = false
    configuration.cameraSettings.isEnabled = false
    change(&configuration)
    return try await Sora().connect(configuration: configuration)
  }

  @Test(arguments: Wish.allCases)
  func stepsThatEightBitsDontHaveArriveWhereTheyAreWanted(_ wish: Wish) async throws {
    var settings = SoraServer.Configuration()
    settings.mediaAddresses = [.loopbackV4]
    let server = try await SoraServer.start(settings)
    let publisher = try await connect(to: server, .sendonly) {
      wish.apply(to: &$0)
      $0.videoBitRate = 3_000
    }
    let player = try await connect(to: server, .recvonly)
    let stream = try #require(publisher.senderStream)
    let feeder = Task {
      let picture = Self.picture()
      while !Task.isCancelled {
        stream.send(videoFrame: .init(from: picture))
        try await Task.sleep(for: .milliseconds(33))
      }
    }
    while player.receiverStreams.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
    let peer = try #require(player.native)
    let sink = FieldSink(field: Self.field, count: Self.levels.count)
    for track in peer.receivers.compactMap({ $0.track as? RTCVideoTrack }) { track.add(sink: sink) }
    // The encoder has fields without a change exact after some frames.
    let levels = Self.levels.map(Int.init)
    await sink.seen.wait(for: 20)
    while wish.isDeep, let seen = sink.seen.elements.last,
      zip(seen.levels, levels).contains(where: { abs($0 - $1) > 1 })
    {
      try await Task.sleep(for: .milliseconds(10))
    }
    let last = try #require(sink.seen.elements.last)
    #expect(last.bitDepth == (wish.isDeep ? 10 : 8))
    let scale = wish.isDeep ? 1 : 4
    for (a, b) in zip(last.levels, levels) { #expect(abs(a * scale - b) <= scale + 1) }
    if wish.isDeep { #expect(Set(last.levels).count > 4, "\(last.levels)") }

    let codecs = await peer.statistics().all("codec")
    #expect(
      codecs.contains {
        $0.text("mimeType")?.lowercased() == "video/\(wish.codec.rawValue.lowercased())"
      })
    if wish == .vp9Profile2 {
      #expect(codecs.contains { $0.text("sdpFmtpLine")?.contains("profile-id=2") == true })
    }
    feeder.cancel()
    await publisher.disconnect()
    await player.disconnect()
    await server.shutdown()
  }
}

/// Notes the middle of each field of a row of fields.
private final class FieldSink: VideoSink {
  struct Row {
    let bitDepth: Int
    let levels: [Int]
  }

  let seen = Recorder<Row>()
  private let field: Int
  private let count: Int

  init(field: Int, count: Int) {
    self.field = field
    self.count = count
  }

  func receive(_ frame: RawVideoFrame) {
    let picture = frame.buffer
    guard picture.width == field * count else { return }
    let row = picture.plane(0).row(picture.height / 2)
    let levels = (0..<count).map { index in
      let x = index * field + field / 2
      return picture.format.bitDepth == 10
        ? Int(row.assumingMemoryBound(to: UInt16.self)[x]) : Int(row[x])
    }
    seen.append(Row(bitDepth: picture.format.bitDepth, levels: levels))
  }
}
