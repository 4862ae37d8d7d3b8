import Foundation
import SignalingTestSupport
import SoraICE
import SoraServer
import SoraSignaling
import Testing

/// What a server with a relay writes into its log, from the lowest level on.
@Suite(.timeLimit(.minutes(2))) struct TURNSecretTests {
  private func serving(
    _ log: LogRecorder, _ body: (SoraServer) async throws -> Void
  ) async throws {
    try await SoraServer.serving(
      {
        $0.logger = log.logger
        $0.apiPort = 0
        $0.turn = .init(port: 0)
      }, body)
  }

  private func credential(_ offer: JSONValue) throws -> String {
    let server = try #require(offer["config"]?["iceServers"]?[0])
    #expect(server["username"] == offer["connection_id"])
    let credential = try #require(server["credential"]?.stringValue)
    #expect(credential.utf8.count >= 20)
    return credential
  }

  private func expectNone(_ secrets: [String], in log: LogRecorder) {
    let text = log.text
    for secret in secrets {
      #expect(!text.contains(secret), "\(secret)")
      #expect(!text.contains(secret.suffix(16)), "\(secret)")
    }
  }

  @Test func passwordsThatAreHandedOutAreNotLogged() async throws {
    let log = LogRecorder()
    var secrets: [String] = []
    try await serving(log) { server in
      for more in [#""client_id":"seen""#, #""data_channel_signaling":false"#] {
        let peer = try await SignalingPeer(server.url)
        peer.connect(more)
        let credential = try credential(try await peer.offer())
        secrets.append(credential)
        // A client that sends it back, rightly and wrongly.
        let echo = try await SignalingPeer(server.url)
        echo.connect(
          channel: "echo", #""metadata":{"iceServers":[{"credential":"\#(credential)"}]}"#)
        secrets.append(try self.credential(try await echo.offer()))
        echo.socket.send(text: #"{"type":"answer","sdp":"v=0","credential":"\#(credential)"}"#)
        _ = try await echo.close()
        peer.socket.send(text: #"{"type":"disconnect","reason":"bye"}"#)
        _ = try await peer.close()
      }
      let offer = WHIPTests.offer
      let made = try await APIClient(server.httpURL).send(
        "POST /whip/room HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
          + "Content-Type: application/sdp\r\nContent-Length: \(offer.utf8.count)\r\n\r\n" + offer)
      #expect(made.status == 201 && made.head.contains("credential=\""))
      let outside = try #require(await server.turnCredentials(for: "outside"))
      secrets.append(outside.password)
      // WHIP's is that of its connection.
      let id = try #require(
        await server.connections.first { $0.channelID == "room" }?.connectionID)
      secrets.append(try #require(await server.turnCredentials(for: id)).password)
    }
    // It was logged, that is.
    #expect(log.text.contains("seen") && log.text.contains("INVALID-ANSWER"))
    #expect(Set(secrets).count == 6)
    expectNone(secrets, in: log)
  }

  /// With coturn's client: one password that is right, and one that isn't.
  @Test(
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: "/usr/bin/turnutils_uclient"),
      "coturn is missing: run `make deps`"))
  func passwordsThatAreUsedAreNotLogged() async throws {
    let log = LogRecorder()
    var secrets = ["a-wrong-password-0123456789"]
    try await serving(log) { server in
      let url = try #require(server.turnURLs.first.flatMap { ICEServerURL($0) })
      let credentials = try #require(await server.turnCredentials(for: "tool"))
      secrets.append(credentials.password)
      for password in secrets {
        // It fails with the wrong one.
        try? await runToEnd(
          "timeout",
          [
            "40", "turnutils_uclient", "-u", "tool", "-w", password, "-p", "\(url.port)", "-n",
            "1", "-c", "-y", "127.0.0.1",
          ])
      }
    }
    #expect(log.text.contains("relay opened"))
    expectNone(secrets, in: log)
  }
}
