import Foundation
import SoraSDK
import SoraSignaling
import Synchronization
import SoraVersion
import Testing

/// The small types: texts, coding, rules.
struct ValueTests {
  private func text(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode([value]), as: UTF8.self)
  }

  private func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try JSONDecoder().decode([Value].self, from: Data("[\(text)]".utf8))[0]
  }

  @Test func enumerations() throws {
    #expect(try text(Role.sendrecv) == "[\"sendrecv\"]")
    #expect("\(VideoCodec.h265) \(VideoCodec.default) \(AudioCodec.opus)" == "H265 default OPUS")
    #expect(try decode(VideoCodec.self, "\"AV1\"") == .av1)
    #expect(throws: (any Error).self) { try decode(Role.self, "\"none\"") }
    #expect(try decode(ICETransportPolicy.self, "\"relay\"") == .relay)
    #expect(try decode(ICETransportPolicy.self, "\"all\"") == .all)
    #expect("\(ICETransportPolicy.all)" == "all")
    for resolution in CameraSettings.Resolution.allCases {
      #expect(try decode(CameraSettings.Resolution.self, "\"\(resolution)\"") == resolution)
    }
    #expect(CameraSettings.Resolution.uhd3024p.width == 4032)
    #expect(CameraSettings.default.resolution == .hd720p && CameraSettings.default.isEnabled)
  }

  @Test func aspectRatio() {
    #expect(AspectRatio.standard.height(forWidth: 640) == 480)
    #expect(AspectRatio.wide.size(forWidth: 1280) == CGSize(width: 1280, height: 720))
    #expect(AspectRatio.wide.scale(size: CGSize(width: 160, height: 1)).height == 90)
  }

  @Test func ice() throws {
    let candidate = ICECandidate(url: URL(string: "turn:x"), sdp: "candidate:1")
    #expect(try text(candidate) == "[\"candidate:1\"]")
    let decoded = try decode(ICECandidate.self, "\"candidate:1\"")
    #expect(decoded != candidate && decoded.url == nil)
    let server = ICEServerInfo(
      urls: ["turn:x"], userName: "u", credential: "c", tlsSecurityPolicy: .insecure)
    #expect(server.description == "{\"credential\":\"c\",\"urls\":[\"turn:x\"],\"username\":\"u\"}")
  }

  @Test func configurationOfWebRTC() throws {
    let coded = try text(WebRTCConfiguration())
    let decoded = try decode(WebRTCConfiguration.self, String(coded.dropFirst().dropLast()))
    #expect(decoded.iceTransportPolicy == .relay && decoded.constraints.mandatory.isEmpty)
    #expect(throws: (any Error).self) { try decode(WebRTCConfiguration.self, "{}") }
  }

  @Test func proxyHidesItsPassword() {
    let proxy = Proxy(host: "h", port: 1, agent: "a", username: "u", password: "secret")
    #expect(
      proxy.description == "scheme=http host=h port=1 agent=a username=u password=******")
  }

  /// Two proxies that are spoken to in two ways don't look the same.
  @Test func proxyShowsItsScheme() {
    let proxy = Proxy(scheme: .socks5, host: "h", port: 1, agent: "a")
    #expect(proxy.description == "scheme=socks5 host=h port=1 agent=a username= password=")
  }

  @Test(
    arguments: [
      ("http://p:3128", Proxy(host: "p", port: 3128)),
      ("HTTP://p", Proxy(host: "p", port: 1080)),
      ("http://p:3128/", Proxy(host: "p", port: 3128)),
      ("socks5://p:1", Proxy(scheme: .socks5, host: "p", port: 1)),
      ("socks5h://p", Proxy(scheme: .socks5, host: "p", port: 1080)),
      (
        "socks5://me:a%40b%3A@p:1",
        Proxy(scheme: .socks5, host: "p", port: 1, username: "me", password: "a@b:")
      ),
      // What can't be decoded stands for itself, as with curl.
      ("http://me:%zz@p", Proxy(host: "p", port: 1080, username: "me", password: "%zz")),
      ("http://me@p", Proxy(host: "p", port: 1080, username: "me")),
      ("http://[::1]:3128", Proxy(host: "::1", port: 3128)),
      ("", nil), ("p:3128", nil), ("//p:3128", nil), ("http://", nil), ("http://:3128", nil),
      ("http://[]:3128", nil), ("https://p:3128", nil), ("socks4://p:1", nil), ("ftp://p", nil),
      ("http://p:0", nil), ("http://p:65536", nil), ("http://p:-1", nil), ("http://p:many", nil),
      ("http://p:99999999999999999999", nil), ("http://a b", nil),
    ] as [(String, Proxy?)])
  func proxyOfAURL(_ url: String, _ wanted: Proxy?) {
    #expect(Proxy(url: url) == wanted)
  }

  @Test func errorsSayWhatToDo() {
    let errors: [SoraError] = [
      .connectionCancelled, .connectionTimeout, .connectionBusy(reason: "r"),
      .webSocketClosed(statusCode: .other(4490), reason: "r"), .webSocketError(AnotherError()),
      .signalingChannelError(reason: "r"), .invalidSignalingMessage,
      .unknownSignalingMessageType(type: "t"), .peerChannelError(reason: "r"),
      .cameraError(reason: "r"), .messagingError(reason: "r"), .mediaChannelError(reason: "r"),
    ]
    let beginnings = [
      "Connection is cancelled", "Connection is timeout", "Connection is busy",
      "WebSocket is closed", "WebSocket error", "SignalingChannel error",
      "Invalid signaling message format", "Unknown signaling message type", "PeerChannel error",
      "Camera error", "Messaging error",
    ]
    for (error, beginning) in zip(errors, beginnings) {
      #expect(error.errorDescription?.hasPrefix(beginning) == true)
      #expect(error.localizedDescription == error.errorDescription)
      #expect(error.recoverySuggestion?.isEmpty == false)
    }
  }

  @Test func helpers() {
    #expect(Utilities.randomString().count == 8)
    #expect(Utilities.randomString(length: -1).isEmpty)
    #expect(!Utilities.randomString(length: 5000).contains { "lIO".contains($0) })
    var list = [1, 2, 1]
    list.remove(1)
    #expect(list == [2])
    list.remove(0) { $0 == 2 }
    #expect(list.isEmpty)
    #expect((nil as Int?).unwrap { 3 } == 3)
    #expect(DeviceInfo.current.description.hasPrefix(DeviceInfo.current.machineName))
    #expect(SDKInfo.version == SoraVersion.current && WebRTCInfo.version == SoraVersion.current)
    // What a build doesn't know it doesn't make up.
    #expect(WebRTCInfo.revision.isEmpty && WebRTCInfo.shortRevision.isEmpty)
  }

  /// Sound settings never fail where nothing is opened; a block may set the mode from inside of the lock.
  @Test func audioSession() throws {
    // Devices of its own: the process's are wanted by other tests' calls, too.
    let sora = Sora(
      cameras: CameraVideoCapturer.Cameras(system: FakeCameras([])),
      audio: AudioSession(system: FakeSound()))
    var ran = false
    sora.configureAudioSession {
      ran = true
      guard case .success = sora.setAudioMode(.voiceChat(output: .speaker)) else { return }
    }
    #expect(ran)
    try sora.setAudioMode(.default(category: .playAndRecord, output: .default)).get()
    sora.usesManualAudio = true
    #expect(sora.usesManualAudio && !sora.audioEnabled)
    sora.usesManualAudio = false
  }
}

/// The log's thresholds and groups. Serialized: the log is one for the whole process.
@Suite(.serialized) struct LoggerTests {
  @Test func thresholdsAndGroups() {
    let marker = Utilities.randomString()
    let lines = Recorder<String>()
    let old = (Logger.shared.level, Logger.shared.groups)
    Logger.shared.onOutputHandler = {
      if $0.message == marker { lines.append("\($0.level) \($0.type)") }
    }
    Logger.shared.level = .warn
    Logger.info(type: .sora, message: marker)
    Logger.warn(type: .sora, message: marker)
    Logger.error(type: .user("app"), message: marker)
    Logger.error(type: .videoView, message: marker)
    Logger.shared.groups = [.videoRenderer]
    Logger.fatal(type: .sora, message: marker)
    Logger.fatal(type: .videoView, message: marker)
    Sora.logLevel = .off
    Logger.fatal(type: .videoView, message: marker)
    (Logger.shared.level, Logger.shared.groups) = old
    Logger.shared.onOutputHandler = nil
    #expect(lines.elements == ["WARN Sora", "ERROR app", "FATAL VideoView"])
  }

  /// Settings that change nothing are told once, in one line, with what isn't as the server's offer has it.
  @Test(.timeLimit(.minutes(5)), arguments: [false, true]) func settingsWithoutEffect(
    serverHasThem: Bool
  ) async throws {
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora { connection, message in
      if case .connect = message {
        connection.send(
          far.offer {
            $0.simulcast = serverHasThem
            $0.spotlight = serverHasThem
          })
      }
      try await far.handle(message)
    }
    var configuration = server.configuration(.sendrecv)
    configuration.ignoreDisconnectWebSocket = true
    configuration.dataChannelSignaling = true
    configuration.cameraSettings.isEnabled = false
    configuration.simulcastEnabled = true
    configuration.spotlightEnabled = .enabled
    configuration.spotlightNumber = 3
    let lines = Recorder<String>()
    Logger.shared.onOutputHandler = {
      if $0.level == .warn, $0.message.contains("dataChannelSignaling") {
        lines.append($0.message)
      }
    }
    let channel = try await Attempt(configuration, face: .tasks).channel()
    await channel.disconnect()
    Logger.shared.onOutputHandler = nil
    let asked =
      serverHasThem
      ? ""
      : ", simulcastEnabled (the server's offer has no simulcast)"
        + ", spotlightEnabled (the server's offer has no spotlight)"
    #expect(
      lines.elements == [
        "without effect on this connection: dataChannelSignaling (the server's offer has no data channels)"
          + ", ignoreDisconnectWebSocket (the server's offer has no data channels)" + asked
      ])
  }

  /// What only counts with something else is told, too.
  @Test(.timeLimit(.minutes(5))) func settingsThatNeedOthers() async throws {
    let far = try await FarEnd(receives: false)
    let server = try await ScriptedSora(far)
    var configuration = server.configuration(.recvonly)
    configuration.simulcastRid = .r0
    configuration.simulcastRequestRid = .r1
    configuration.webRTCConfiguration.degradationPreference = .balanced
    let lines = Recorder<String>()
    Logger.shared.onOutputHandler = {
      if $0.level == .warn, $0.message.contains("simulcastRid") { lines.append($0.message) }
    }
    let channel = try await Attempt(configuration, face: .tasks).channel()
    await channel.disconnect()
    Logger.shared.onOutputHandler = nil
    let receiver = "(only with simulcastEnabled and a role that receives)"
    #expect(
      lines.elements == [
        "without effect on this connection: webRTCConfiguration.degradationPreference (only with videoEnabled and a role that sends)"
          + ", simulcastRid \(receiver), simulcastRequestRid \(receiver)"
      ])
  }

  /// Types of messages and keys that this version doesn't know, over both transports: each is told once, and the call goes on.
  @Test(.timeLimit(.minutes(5))) func whatIsUnknown() async throws {
    let lines = Recorder<String>()
    let old = Logger.shared.level
    Logger.shared.level = .info
    Logger.shared.onOutputHandler = {
      if $0.message.contains("unknown to this version") { lines.append($0.message) }
    }
    defer {
      Logger.shared.level = old
      Logger.shared.onOutputHandler = nil
    }
    let marker = Utilities.randomString()
    let call = try await SwitchedCall(offer: {
      $0.additional["first_\(marker)"] = ["deep": 1]
      $0.encodings = [SignalingEncoding { $0.additional["inner_\(marker)"] = 1 }]
    })
    for key in ["second", "second", "third"] {
      var push = PushMessage(data: ["own": 1])
      push.additional["\(key)_\(marker)"] = 1
      call.connection.send(.push(push))
    }
    try await call.switchOver(ignoringWebSocket: true)
    let news = #"{"type":"news_\#(marker)","x":1}"#
    call.send(news, on: "signaling")
    call.send(news, on: "push")
    call.send(#"{"type":"push","data":{"own":1},"fourth_\#(marker)":1}"#, on: "push")
    // Names are the server's to make up: a flood isn't told.
    for number in 0..<100 {
      call.send(#"{"type":"push","flood\#(number)_\#(marker)":1}"#, on: "push")
    }
    await call.attempt.log.wait { $0.count { $0 == "signaling push" } == 104 }
    #expect(call.channel.isAvailable)
    await call.channel.disconnect()
    let told = lines.elements.filter { $0.contains(marker) }
      .map { $0.replacing("_\(marker)", with: "") }
    let unknown = "unknown to this version and ignored: "
    #expect(
      told.filter { !$0.contains("flood") } == [
        unknown + "offer.first, offer.encodings[0].inner", unknown + "push.second",
        unknown + "push.third", unknown + "type news", unknown + "push.fourth",
      ])
    #expect(told.count == 31, "32 names, two of them in one line")
  }

  @Test func lineFormat() {
    let lines = Recorder<Log>()
    let marker = Utilities.randomString()
    Logger.shared.onOutputHandler = { if $0.message == marker { lines.append($0) } }
    Logger.error(type: .user("app"), message: marker)
    Logger.shared.onOutputHandler = nil
    let pattern = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d app ERROR: .*/
    #expect(lines.elements.first?.description.wholeMatch(of: pattern) != nil)
  }
}
