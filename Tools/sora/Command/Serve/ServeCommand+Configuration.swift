import Foundation
import Logging
import SoraCommandSupport
import SoraICE
import SoraServer
import SoraSignaling
import SoraTransport

// From options to the server's configuration.
extension ServeCommand {
  /// - Throws: what is wrong first.
  func makeConfiguration() throws(UsageError) -> SoraServer.Configuration {
    var problems: [UsageError] = []
    let configuration = makeConfiguration(&problems)
    if let first = problems.first { throw first }
    return configuration
  }

  /// - Parameter problems: gets all that is wrong; what is returned serves no purpose then.
  func makeConfiguration(_ problems: inout [UsageError]) -> SoraServer.Configuration {
    var configuration = SoraServer.Configuration(host: host)
    func attempt(_ step: () throws(UsageError) -> Void) {
      do throws(UsageError) { try step() } catch { problems.append(error) }
    }
    attempt { () throws(UsageError) in
      configuration.port = Int(try Self.port(port, of: "--port"))
    }
    attempt { () throws(UsageError) in
      configuration.logger = try operation.logger(isVerbose: verbose)
    }
    attempt { () throws(UsageError) in configuration.spotlight = try spotlight.configuration() }
    attempt { () throws(UsageError) in configuration.drain = try operation.drain() }
    attempt { () throws(UsageError) in
      if !mediaAddresses.isEmpty { configuration.mediaAddresses = try parsedMediaAddresses() }
    }
    attempt { () throws(UsageError) in
      guard runsTURN else { return }
      configuration.turn = .init(port: try Self.port(turnPort ?? 3478, of: "--turn-port"))
    }
    attempt { () throws(UsageError) in
      configuration.iceTransportPolicy = try parsedPolicy()
    }
    attempt { () throws(UsageError) in try checkRecording() }
    configuration.recordingFolder = record ?? recordings
    configuration.recordsEverything = record != nil
    attempt { () throws(UsageError) in
      configuration.access = try access.access(environment: ProcessInfo.processInfo.environment)
    }
    attempt { () throws(UsageError) in
      guard let apiPort else {
        guard apiHost == Self.defaultAPIHost else {
          throw UsageError("--api-host \(apiHost): there is no API; add --api-port")
        }
        return
      }
      configuration.apiPort = Int(try Self.port(apiPort, of: "--api-port"))
      if sharesAddress {
        try Self.check(apiPort, of: "--api-port", besides: port, of: "--port")
      }
    }
    configuration.apiHost = apiHost
    configuration.offersFeedbackBySource = ecn
    attempt { () throws(UsageError) in
      configuration.cluster = try cluster.configuration(
        host: host, apiHost: apiPort.map { _ in apiHost },
        environment: ProcessInfo.processInfo.environment)
    }
    attempt { () throws(UsageError) in configuration.tls = try parsedIdentity() }
    attempt { () throws(UsageError) in
      guard let turnTLSPort else { return }
      configuration.turn?.securePort = try Self.port(turnTLSPort, of: "--turn-tls-port")
      try Self.check(
        turnTLSPort, of: "--turn-tls-port", besides: configuration.turn.map { Int($0.port) },
        of: "--turn-port")
      guard let certificate = tlsCertificate, let key = tlsKey else {
        throw UsageError("--turn-tls-port: TLS needs a certificate; add --tls-cert and --tls-key")
      }
      configuration.turn?.tls = TLSOptions.Identity(certificateFile: certificate, keyFile: key)
    }
    return configuration
  }

  /// Two that can't both listen: the system would say that somebody else has the port.
  private static func check(
    _ port: Int, of option: String, besides other: Int?, of otherOption: String
  ) throws(UsageError) {
    guard port == 0 || port != other else {
      throw UsageError("\(option) \(port): \(otherOption) has that one; take another, or 0")
    }
  }

  /// Whether the HTTP API listens on an address of signaling's.
  private var sharesAddress: Bool {
    host == apiHost || [host, apiHost].contains { IPAddress($0)?.isUnspecified == true }
  }

  private func parsedMediaAddresses() throws(UsageError) -> [IPAddress] {
    var addresses: [IPAddress] = []
    for text in mediaAddresses {
      guard let address = IPAddress(text) else {
        throw UsageError("--media-address \(text): write an IPv4 or IPv6 address of this host")
      }
      let known = ((try? NetworkLoop.hostAddresses(includingLinkLocalV6: true)) ?? []).map(\.ip)
      guard known.isEmpty || known.contains(address) else {
        let names = known.map { "\($0)" }.joined(separator: ", ")
        throw UsageError("--media-address \(text): not of this machine; it has \(names)")
      }
      addresses.append(address)
    }
    return addresses
  }

  private var runsTURN: Bool { turn ?? (turnPort != nil || turnTLSPort != nil) }

  private func parsedPolicy() throws(UsageError) -> ICETransportPolicy {
    guard let policy = ICETransportPolicy(rawValue: icePolicy), policy != .noHost else {
      throw UsageError("--ice-policy \(icePolicy): use all or relay")
    }
    guard policy == .all || runsTURN else {
      throw UsageError("--ice-policy relay: clients need a TURN server for that; add --turn")
    }
    return policy
  }

  private func checkRecording() throws(UsageError) {
    guard record == nil || recordings == nil else {
      throw UsageError(
        "--record and --recordings: everything is recorded, or what the API asks for")
    }
    guard recordings == nil || apiPort != nil else {
      throw UsageError("--recordings: only the HTTP API begins those; add --api-port")
    }
  }

  private func parsedIdentity() throws(UsageError) -> TLSOptions.Identity? {
    switch (tlsCertificate, tlsKey) {
    case (nil, nil): return nil
    case (let certificate?, let key?):
      for file in [certificate, key] where !FileManager.default.isReadableFile(atPath: file) {
        throw UsageError("--tls-cert, --tls-key: cannot read \(file); name PEM files")
      }
      let identity = TLSOptions.Identity(certificateFile: certificate, keyFile: key)
      do {
        _ = try TLSContexts.server(identity)
      } catch {
        let option = error.field == "tls.keyFile" ? "--tls-key \(key)" : "--tls-cert \(certificate)"
        throw UsageError("\(option): \(error.detail); \(error.wayOut)")
      }
      return identity
    default: throw UsageError("--tls-cert and --tls-key go together; give both")
    }
  }

  private static func port(_ number: Int, of option: String) throws(UsageError) -> UInt16 {
    guard let port = UInt16(exactly: number) else {
      throw UsageError("\(option) \(number): use 0 to 65535; 0 takes a free port")
    }
    return port
  }
}
