import Foundation
import SignalingTestSupport
import SoraSignaling
import Testing

/// `sora serve` whose certificate is renewed: SIGHUP has it read again.
@Suite(.timeLimit(.minutes(2))) struct ServeReloadTests {
  /// Why a client that trusts an authority isn't let through; nil where it is.
  private static func error(_ port: Int, _ trust: TLSOptions.Trust) async -> SignalingError.Code? {
    var options = WebSocketOptions()
    options.tls = TLSOptions(trust: trust)
    do throws(SignalingError) {
      let socket = try await WebSocketClient.connect(
        url: "wss://localhost:\(port)/signaling", options: options)
      socket.close()
      return nil
    } catch {
      return error.code
    }
  }

  @Test func aHangUpShowsTheNewCertificateToWhoComes() async throws {
    let certificates = try await Certificates.shared.value
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-hangup-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func put(_ name: String) throws {
      for kind in ["pem", "key"] {
        try Data(contentsOf: URL(fileURLWithPath: certificates.path("\(name).\(kind)")))
          .write(to: folder.appendingPathComponent("live.\(kind)"))
      }
    }
    let trust = TLSOptions.Trust.file(certificates.path("ca.pem"))
    // For another name, so that nobody who comes to this host trusts it.
    try put("other")
    let process = Process()
    process.executableURL = try Run.command()
    process.arguments = [
      "serve", "--host", "127.0.0.1", "--port", "0", "--json",
      "--tls-cert", folder.appendingPathComponent("live.pem").path,
      "--tls-key", folder.appendingPathComponent("live.key").path,
    ]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    defer {
      if process.isRunning { kill(process.processIdentifier, SIGKILL) }
      process.waitUntilExit()
    }
    let ready = try await Self.line(of: output)
    let url = try #require(
      (try JSONSerialization.jsonObject(with: Data(ready.utf8)) as? [String: Any])?["url"]
        as? String)
    let port = try #require(URL(string: url)?.port)
    var insecure = WebSocketOptions()
    insecure.tls = TLSOptions(insecure: true)
    let old = try await WebSocketClient.connect(url: url, options: insecure)
    #expect(await Self.error(port, trust) == .certificateNotVerified)
    // A key that isn't the certificate's: the old ones stay.
    try Data(contentsOf: URL(fileURLWithPath: certificates.path("server.key")))
      .write(to: folder.appendingPathComponent("live.key"))
    kill(process.processIdentifier, SIGHUP)
    #expect(await Self.error(port, trust) == .certificateNotVerified)
    try put("server")
    kill(process.processIdentifier, SIGHUP)
    var seen: SignalingError.Code? = .certificateNotVerified
    for _ in 0..<1000 where seen != nil {
      seen = await Self.error(port, trust)
      if seen != nil { try await Task.sleep(for: .milliseconds(10)) }
    }
    #expect(seen == nil)
    #expect(process.isRunning)
    // Who was there before still is.
    old.send(text: #"{"type":"connect","role":"recvonly","channel_id":"x"}"#)
    var messages = old.messages.makeAsyncIterator()
    guard case .text(let text)? = await messages.next() else {
      Issue.record("no offer came")
      return
    }
    #expect(text.contains(#""type":"offer""#))
    old.close()
  }

  /// The first line of a program, without holding a thread of the tests' pool.
  private static func line(of pipe: Pipe) async throws -> String {
    let handle = pipe.fileHandleForReading
    return await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var bytes: [UInt8] = []
        while let byte = handle.readData(ofLength: 1).first, byte != 10 { bytes.append(byte) }
        continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
      }
    }
  }
}
