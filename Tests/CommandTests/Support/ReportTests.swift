import Foundation
import SoraCapture
import SoraCommandSupport
import Testing

@Suite struct ReportTests {
  private func members(_ report: Report) throws -> [String: Any] {
    let line = report.jsonLine
    #expect(!line.contains("\n"))
    return try #require(
      try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }

  @Test func summaryHasEveryMemberOfTheContract() throws {
    var histogram = LatencyHistogram()
    histogram.add(milliseconds: 33)
    var report = Report(type: .summary, elapsedMs: 10_000)
    report.connectionId = "ABC"
    report.connectMs = 120
    report.firstFrameMs = 180
    report.video = Report.Video()
    report.video?.codec = "VP8"
    report.video?.fps = 29.969_96
    report.video?.latencyMs = Report.Latency(histogram)
    report.audio = Report.Audio()
    report.audio?.levelDb = -22.349
    let object = try members(report)
    #expect(object["type"] as? String == "summary")
    let expected: Set = [
      "type", "connectionId", "connectMs", "firstFrameMs", "video", "audio", "rttMs", "bytes",
      "packets", "packetsLost", "nack", "pli", "error", "reconnections",
    ]
    #expect(expected.isSubset(of: Set(object.keys)))
    let video = try #require(object["video"] as? [String: Any])
    let videoMembers: Set = [
      "codec", "width", "height", "frames", "fps", "bitrateKbps", "framesDropped", "freezeCount",
      "keyFrames", "psnrDb", "latencyMs",
    ]
    #expect(videoMembers.isSubset(of: Set(video.keys)))
    #expect(video["fps"] as? Double == 29.97)
    #expect(video["latencyMs"] as? [String: Int] == ["p50": 33, "p95": 33, "p99": 33])
    let audio = try #require(object["audio"] as? [String: Any])
    #expect(Set(audio.keys) == ["codec", "seconds", "concealedMs", "levelDb"])
    #expect(audio["levelDb"] as? Double == -22.3)
  }

  @Test func unknownMembersAreNullAndNotAbsent() throws {
    let object = try members(Report(type: .stats, elapsedMs: 0))
    for name in [
      "connectionId", "connectMs", "firstFrameMs", "video", "audio", "rttMs", "error", "streamId",
      "streamsLive", "watchedMs", "goneMs", "timesGone",
    ] {
      #expect(object[name] is NSNull, "\(name)")
    }
    #expect(object["streams"] == nil)
  }

  @Test func phasesAndDropsAreTold() throws {
    var report = Report(type: .summary, elapsedMs: 5_000)
    report.connectMs = 60
    report.packets = 10
    #expect(try members(report)["connectPhasesMs"] is NSNull)
    report.phases = [
      Report.Phase(name: "webSocket", milliseconds: 12.34),
      Report.Phase(name: "dtls", milliseconds: 7),
    ]
    report.drops = ["transport.replayed": 2, "ice.malformed": 5]
    let object = try members(report)
    #expect(object["connectPhasesMs"] as? [String: Double] == ["webSocket": 12.34, "dtls": 7])
    #expect(object["gatheringMs"] is NSNull)
    report.gatheringMs = 8.125
    #expect(try members(report)["gatheringMs"] as? Double == 8.13)
    #expect(object["drops"] as? [String: Int] == report.drops)
    let text = SummaryText.lines(name: "played demo", report, showsDrops: true)
    #expect(text.contains { $0.hasSuffix("webSocket 12.3, dtls 7.0 ms") }, "\(text)")
    #expect(text.contains { $0.hasSuffix("ice.malformed 5, transport.replayed 2") }, "\(text)")
    #expect(!SummaryText.lines(name: "", report).contains { $0.contains("replayed") })
  }

  @Test func whatIsNotANumberDoesNotSpoilTheLine() throws {
    var report = Report(type: .stats, elapsedMs: 0)
    report.rttMs = .infinity
    #expect(try members(report)["rttMs"] as? Double == 0)
  }

  @Test func statisticsAreSummedByKind() {
    let objects = [
      StatisticsObject(id: "c1", type: "codec", texts: ["mimeType": "video/VP8"]),
      StatisticsObject(id: "c2", type: "codec", texts: ["mimeType": "audio/opus"]),
      StatisticsObject(
        id: "v1", type: "inbound-rtp",
        numbers: [
          "bytesReceived": 1_000, "packetsReceived": 10, "packetsLost": 2, "framesDecoded": 5,
          "pliCount": 1, "nackCount": 3,
        ], texts: ["kind": "video", "codecId": "c1"]),
      StatisticsObject(
        id: "v2", type: "inbound-rtp", numbers: ["bytesReceived": 500, "packetsLost": -1],
        texts: ["kind": "video", "codecId": "c1"]),
      StatisticsObject(
        id: "a", type: "inbound-rtp",
        numbers: ["bytesReceived": 70, "concealedSamples": 480, "nackCount": .nan],
        texts: ["kind": "audio", "codecId": "c2"]),
      StatisticsObject(id: "x", type: "outbound-rtp", numbers: ["bytesSent": 9_999]),
      StatisticsObject(
        id: "p", type: "candidate-pair", numbers: ["currentRoundTripTime": 0.0125]),
      StatisticsObject(
        id: "q", type: "candidate-pair", numbers: ["currentRoundTripTime": 0.5, "bytesSent": 7]),
      StatisticsObject(
        id: "t", type: "transport", texts: ["selectedCandidatePairId": "p"],
        records: ["packetsDroppedByReason": ["transport.replayed": 3, "ice.malformed": .nan]]),
    ]
    let reading = StatisticsReading(objects, .receiving)
    #expect(reading.video.codec == "VP8")
    #expect(reading.audio.codec == "opus")
    #expect(reading.video.bytes == 1_500)
    #expect(reading.video.packetsLost == 1)
    #expect(reading.video.frames == 5)
    #expect(reading.audio.concealedSamples == 480)
    #expect(reading.audio.nack == 0)
    #expect(reading.roundTripMilliseconds == 12.5)
    #expect(reading.drops == ["transport.replayed": 3, "ice.malformed": 0])
    var both = reading
    both.add(reading)
    #expect(both.drops == reading.drops, "they are the connection's, not the stream's")
    #expect(StatisticsReading(objects, .sending).audio.bytes == 9_999)
  }

  @Test func aStreamThatIsOverKeepsItsStatistics() {
    func object(_ track: String, _ packets: Double) -> StatisticsObject {
      StatisticsObject(
        id: track, type: "inbound-rtp", numbers: ["packetsReceived": packets],
        texts: ["kind": "video", "trackIdentifier": track])
    }
    let objects = [object("a", 5), object("b", 7)]
    var first = StatisticsReading(objects, .receiving, tracks: ["a"])
    #expect(first.video.packets == 5)
    first.update(with: StatisticsReading([], .receiving, tracks: ["a"]))
    #expect(first.video.packets == 5)
    first.add(StatisticsReading(objects, .receiving, tracks: ["b"]))
    #expect(first.video.packets == 12)
  }

  @Test func unreadableStampsAreToldApartFromMissingFrames() throws {
    var meter = StampMeter()
    for index in [0, nil, 2, 4] as [UInt32?] {
      meter.add(index.map { FrameStamp(index: $0, milliseconds: 1) }, atRealtimeMilliseconds: 1)
    }
    var report = Report(type: .summary, elapsedMs: 0)
    report.video = Report.Video()
    report.video?.stamps = Report.Stamps(meter, psnrMinDb: nil)
    let text = SummaryText.lines(name: "played demo", report).map { $0.split(separator: " ") }
    #expect(text.contains(["frames", "missing", "1", "of", "5"]), "\(text)")
    #expect(text.contains(["frames", "unreadable", "1", "of", "5"]), "\(text)")
    let video = try #require(try members(report)["video"] as? [String: Any])
    let stamps = try #require(video["stamps"] as? [String: Any])
    #expect(stamps["unreadable"] as? Int == 1)
    #expect(stamps["missing"] as? Int == 1)
  }

  // MARK: Streams

  private func stream(_ id: String, liveMs: Int = 4_000, goneMs: Int? = nil) -> Report.Stream {
    var video = Report.Video()
    video.codec = "VP8"
    video.width = 320
    video.height = 180
    video.frames = 65
    video.fps = 16
    return Report.Stream(streamId: id, liveMs: liveMs, goneMs: goneMs, video: video)
  }

  @Test func timeWithoutAStreamIsInTheSummary() throws {
    var report = Report(type: .summary, elapsedMs: 12_000)
    report.streamsLive = 1
    report.watchedMs = 12_000
    report.goneMs = 0
    report.timesGone = 0
    #expect(!SummaryText.lines(name: "", report).contains { $0.contains("watched") })
    report.goneMs = 2_340
    report.timesGone = 1
    report.streams = [stream("FIRST0000", goneMs: 8_000), stream("SECOND\u{1B}[31m0")]
    let text = SummaryText.lines(name: "", report)
    #expect(text.contains { $0.hasSuffix("12.0 s, 2.3 s of it without a stream") }, "\(text)")
    #expect(text.contains { $0.hasSuffix("2, 1 live at the end") }, "\(text)")
    let row = "4.0 s, VP8 320x180, 65 frames, 16.0 fps"
    #expect(text.contains { $0.contains("FIRST000 ") && $0.hasSuffix(row) }, "\(text)")
    #expect(text.contains { $0.contains("SECOND31 ") && $0.hasSuffix(row) }, "\(text)")
    report.streamsLive = 0
    report.timesGone = 2
    #expect(
      SummaryText.lines(name: "", report).contains {
        $0.hasSuffix("without a stream (2 times); stream gone at the end")
      })
    let object = try members(report)
    #expect(object["goneMs"] as? Int == 2_340)
    let streams = try #require(object["streams"] as? [[String: Any]])
    #expect(streams.map { $0["goneMs"] as? Int } == [8_000, nil])
    #expect(streams[1]["goneMs"] is NSNull)
  }

  @Test func severalStreamsHaveALineEach() {
    var report = Report(type: .stats, elapsedMs: 8_000)
    report.streamId = "B"
    report.streamsLive = 1
    report.streams = [stream("A", goneMs: 3_999), stream("B")]
    let lines = StatusText.lines(name: "play demo", report: report)
    #expect(
      lines == [
        "play demo  0:08  2 streams, 1 live", "    A  gone for 3 s  320x180, 65 frames",
        "  > B  live  320x180 16.0 fps",
      ])
  }

  @Test func streamsThatWentLongAgoMakeRoom() {
    var report = Report(type: .stats, elapsedMs: 8_000)
    report.streams = [
      stream("A", goneMs: 9_000), stream("B"), stream("C", goneMs: 1_000),
      stream("D", goneMs: 5_000), stream("E"),
    ]
    let lines = StatusText.lines(name: "play demo", report: report, height: 5)
    #expect(lines.count == 5)
    #expect(lines.dropFirst().map { $0.split(separator: " ")[0] } == ["B", "C", "E", "and"])
    #expect(lines.last?.hasSuffix("and 2 more") == true)
  }

  @Test func aStreamThatIsGoneShowsNoRate() {
    var report = Report(type: .stats, elapsedMs: 8_000)
    report.streamId = "A"
    report.video = stream("A").video
    report.streamsLive = 0
    let lines = StatusText.lines(name: "play demo", report: report, note: "stream gone for 3 s")
    #expect(lines == ["play demo  0:08  stream gone for 3 s"])
    report.streamsLive = 1
    #expect(StatusText.lines(name: "play demo", report: report)[0].contains("16.0 fps"))
  }

  @Test func statusLineFitsTheTerminal() {
    var report = Report(type: .stats, elapsedMs: 83_000)
    report.video = Report.Video()
    report.video?.width = 1280
    report.video?.height = 720
    report.video?.fps = 30
    report.audio = Report.Audio()
    let line = StatusText.lines(name: "play demo", report: report)[0]
    #expect(line.hasPrefix("play demo  1:23  1280x720 30.0 fps"))
    #expect(line.contains("audio silent"))
    report.audio?.isMeasured = false
    #expect(StatusText.media(nil, report.audio) == ["audio sent as it is"])
    report.audio?.levelDb = -18
    #expect(
      StatusText.lines(name: "play demo", report: report)[0].contains("audio [#######...] -18 dB"))
    report.audio?.levelDb = 3
    #expect(StatusText.lines(name: "a", report: report)[0].contains("[##########] 3 dB"))
    report.audio?.levelDb = -99
    #expect(StatusText.lines(name: "a", report: report)[0].contains("[..........] -99 dB"))
    #expect(StatusText.lines(name: "play demo", report: report, width: 30)[0].count == 30)
  }
}
