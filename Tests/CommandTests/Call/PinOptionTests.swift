import Foundation
import SignalingTestSupport
import SoraServer
import Testing

/// `--pin` of the commands that reach a server, and the key that `sora doctor` tells.
@Suite(.timeLimit(.minutes(5))) struct PinOptionTests {
  @Test func whatDoctorTellsCanBePinned() async throws {
    let certificates = try await Certificates.shared.value
    var configuration = SoraServer.Configuration()
    configuration.tls = certificates.identity("server")
    let server = try await SoraServer.start(configuration)
    let url = "wss://localhost:\(server.port)/signaling"
    let trust = ["--ca", certificates.path("ca.pem")]
    let checks = try await Run.doctor(url, trust)
    let pin = try #require(checks["key"]?["detail"] as? String, "\(checks)")
    #expect(pin.hasPrefix("sha256//") && checks["offer"]?["state"] as? String == "ok")

    let other = "sha256//" + Data(repeating: 7, count: 32).base64EncodedString()
    func statistics(_ pins: [String]) async throws -> Run {
      try await Run.beside(
        ["stats", url, "--channel", "c", "--json", "--interval", "0.2", "--count", "1"] + trust
          + pins.flatMap { ["--pin", $0] })
    }
    for pins in [[pin], [other, pin]] {
      let run = try await statistics(pins)
      #expect(run.status == 0, "\(run.errors)")
    }
    let refused = try await statistics([other])
    #expect(refused.status == 1)
    #expect(refused.errors.contains("public key is none that is accepted"), "\(refused.errors)")

    // Doctor says whose trouble it is, and what the server has instead.
    let wrong = try await Run.doctor(url, trust + ["--pin", other])
    #expect(wrong["pin"]?["state"] as? String == "fail", "\(wrong)")
    #expect(wrong["key"]?["detail"] as? String == pin)
    #expect(wrong["certificate"]?["state"] as? String != "fail", "\(wrong)")
    #expect(wrong["offer"] == nil)
    await server.shutdown()
  }
}
