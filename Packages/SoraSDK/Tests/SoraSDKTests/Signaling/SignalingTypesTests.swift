import Foundation
import SoraSDK
import Testing
import WebRTC

/// The message types of the iOS SDK: names, directions and free-form values.
struct SignalingTypesTests {
  private func decode(_ text: String) throws -> Signaling {
    try Signaling.decode(Data(text.utf8)).get()
  }

  @Test func offer() throws {
    let text = """
      {"type":"offer","sdp":"v=0","connection_id":"C","client_id":"I","bundle_id":"B",
       "channel_id":"room","session_id":"S","version":"2025.1.0","mid":{"audio":"a","video":"v"},
       "config":{"iceServers":[{"urls":["turn:x"],"username":"u","credential":"p"}],
                 "iceTransportPolicy":"all"},
       "encodings":[{"rid":"r0","maxBitrate":100000,"scaleResolutionDownBy":4.0},
                    {"rid":"r1","active":false,"scalabilityMode":"L1T2","maxFramerate":15}],
       "metadata":{"plan":["a",1,true,null]},"data_channels":[{"label":"#x","compress":true}],
       "simulcast":true,"simulcast_multicodec":false,"spotlight":false,"audio":true,
       "audio_codec_type":"OPUS","audio_bit_rate":64,"video":true,"video_codec_type":"VP8",
       "video_bit_rate":500}
      """
    guard case .offer(var offer) = try decode(text) else { throw AnotherError() }
    #expect(offer.clientId == "I" && offer.connectionId == "C" && offer.bundleId == "B")
    #expect(offer.channelId == "room" && offer.sessionId == "S" && offer.version == "2025.1.0")
    #expect(offer.mid == ["audio": "a", "video": "v"] && offer.sdp == "v=0")
    #expect(offer.configuration?.iceTransportPolicy == .all)
    let server = try #require(offer.configuration?.iceServerInfos.first)
    #expect(server.urls == ["turn:x"] && server.userName == "u" && server.credential == "p")
    #expect(server.tlsSecurityPolicy == .secure)
    let encodings = try #require(offer.encodings)
    #expect(encodings[0].active && !encodings[1].active)
    #expect(encodings[0].rtpEncodingParameters.maxBitrateBps == 100_000)
    #expect(encodings[0].rtpEncodingParameters.scaleResolutionDownBy == 4)
    #expect(encodings[1].rtpEncodingParameters.scalabilityMode == "L1T2")
    #expect(encodings[1].maxFramerate == 15)
    let plan = try #require((offer.metadata as? [String: Any])?["plan"] as? [Any])
    #expect(plan.count == 4 && plan[0] as? String == "a" && plan[1] as? Int == 1)
    #expect(offer.dataChannels?.first?["label"] as? String == "#x")
    offer.metadata = "changed"
    #expect(offer.metadata as? String == "changed")
    #expect(offer.simulcast == true && offer.videoBitRate == 500 && offer.audioCodecType == "OPUS")
  }

  @Test(arguments: [
    ("{\"type\":\"update\",\"sdp\":\"x\"}", "update"),
    ("{\"type\":\"re-offer\",\"sdp\":\"x\"}", "re-offer"),
    ("{\"type\":\"ping\",\"stats\":true}", "ping"),
    ("{\"type\":\"push\",\"data\":{\"a\":1}}", "push"),
    ("{\"type\":\"notify\",\"event_type\":\"network.status\",\"unstable_level\":2}", "notify"),
    ("{\"type\":\"switched\"}", "switched"),
    ("{\"type\":\"switched\",\"ignore_disconnect_websocket\":true}", "switched"),
    ("{\"type\":\"redirect\",\"location\":\"wss://x\"}", "redirect"),
  ]) func received(_ text: String, _ name: String) throws {
    #expect(try decode(text).typeName() == name)
    let coded = try JSONDecoder().decode(Signaling.self, from: Data(text.utf8))
    #expect(coded.typeName() == name)
  }

  @Test(arguments: ["answer", "pong", "surprise", "connect"]) func notForClients(_ type: String) {
    let text = "{\"type\":\"\(type)\",\"sdp\":\"x\",\"role\":\"sendonly\",\"channel_id\":\"c\"}"
    guard
      case .failure(SoraError.unknownSignalingMessageType(type)) = Signaling.decode(Data(text.utf8))
    else {
      Issue.record("\(type) was decoded")
      return
    }
  }

  @Test(arguments: [
    "", "[]", "{}", "{\"type\":1}", "{\"type\":\"offer\"}", "{\"type\":\"notify\"}",
  ])
  func malformed(_ text: String) {
    #expect(throws: (any Error).self) { try decode(text) }
  }

  @Test func wrongDirections() throws {
    guard case .ping(let ping) = try decode("{\"type\":\"ping\"}") else { throw AnotherError() }
    #expect(throws: SoraError.self) { try JSONEncoder().encode(ping) }
    #expect(throws: SoraError.self) { try JSONEncoder().encode(Signaling.ping(ping)) }
    #expect(throws: SoraError.self) {
      try JSONDecoder().decode(SignalingAnswer.self, from: Data("{\"sdp\":\"x\"}".utf8))
    }
    let update = try JSONDecoder().decode(SignalingUpdate.self, from: Data("{\"sdp\":\"x\"}".utf8))
    let text = try JSONEncoder().encode(Signaling.update(update))
    #expect(try JSONDecoder().decode(Signaling.self, from: text).typeName() == "update")
  }

  @Test func notify() throws {
    let text = """
      {"type":"notify","event_type":"connection.created","timestamp":"T","role":"sendrecv",
       "session_id":"S","client_id":"I","bundle_id":"B","connection_id":"C","audio":true,"video":false,
       "minutes":7,"channel_connections":4,"channel_sendonly_connections":1,
       "channel_recvonly_connections":1,"channel_sendrecv_connections":2,"turn_transport_type":"udp",
       "metadata":{"a":1},"authn_metadata":"n","authz_metadata":[1],"fixed":true,
       "data":[{"client_id":"I2","connection_id":"C2","metadata":{"b":2},"authn_metadata":5}]}
      """
    guard case .notify(let notify) = try decode(text) else { throw AnotherError() }
    #expect(notify.eventType == "connection.created" && notify.role == .sendrecv)
    #expect(notify.connectionTime == 7 && notify.connectionCount == 4)
    #expect(notify.channelSendonlyConnections == 1 && notify.channelSendrecvConnections == 2)
    #expect(notify.audioEnabled == true && notify.videoEnabled == false && notify.isFixed == true)
    #expect(notify.authnMetadata as? String == "n" && (notify.authzMetadata as? [Any])?.count == 1)
    let other = try #require(notify.data?.first)
    #expect(other.clientId == "I2" && (other.metadata as? [String: Any])?["b"] as? Int == 2)
    #expect(other.authnMetadata as? Int == 5)
  }

  @Test(arguments: [
    (1000, WebSocketStatusCode.normal), (1006, .abnormal), (1012, .serviceRestart),
    (1015, .tlsHandshake), (4490, .other(4490)), (1004, .other(1004)), (-1, .other(-1)),
  ]) func statusCodes(_ number: Int, _ code: WebSocketStatusCode) {
    #expect(WebSocketStatusCode(rawValue: number) == code)
    #expect(code.intValue() == number)
  }
}
