import ArgumentParser
import Foundation
import SoraCommandSupport
import SoraSDK
import SoraSignaling

/// Options with which every command that calls a server gets in.
struct ServerAccessOptions: ParsableArguments {
  @Option(help: ArgumentHelp("JSON for the server's authentication.", valueName: "json"))
  var metadata: String?

  @Flag(help: "Accept any certificate of a wss server.")
  var insecure = false

  @Option(
    help: ArgumentHelp("PEM certificates to trust instead of the system's.", valueName: "file"),
    completion: .file(extensions: ["pem", "crt"]))
  var ca: String?

  @Option(
    help: ArgumentHelp(
      "Go on only with a wss server that has this key: sha256// and the base64 of the SHA-256 of its public key in DER, as for curl's --pinnedpubkey. Give it again for a second key.",
      valueName: "hash"))
  var pin: [String] = []

  @Option(
    help: ArgumentHelp(
      "The proxy to signal through, and to go through to TURN over TCP and TLS: http:// or socks5://, with USER:PASSWORD@ where it asks for them. Without a port it is 1080.",
      valueName: "url"),
    completion: .list(["http://127.0.0.1:3128", "socks5://127.0.0.1:1080"]))
  var proxy: String?

  /// One that was given; nil where none was.
  var givenOption: String? {
    let options = [
      ("--metadata", metadata != nil), ("--insecure", insecure), ("--ca", ca != nil),
      ("--pin", !pin.isEmpty), ("--proxy", proxy != nil),
    ]
    return options.first { $0.1 }?.0
  }

  /// What TLS trusts.
  var tls: TLSOptions { TLSOptions(trust: ca.map { .file($0) } ?? .system, insecure: insecure) }

  /// Gives a configuration what the options say.
  func apply(to configuration: inout SoraSDK.Configuration) throws(UsageError) {
    if let value = try parsedMetadata() { configuration.signalingConnectMetadata = value }
    if let ca {
      guard FileManager.default.isReadableFile(atPath: ca) else {
        throw UsageError("--ca \(ca): cannot read the file; name one with PEM certificates")
      }
      if insecure { throw UsageError("--ca and --insecure exclude each other; leave one out") }
      do {
        _ = try TLSContexts.client(TLSOptions(trust: .file(ca)))
      } catch {
        throw UsageError("--ca \(ca): \(error.detail); name a file with PEM certificates")
      }
    }
    configuration.tls = TLSSettings(
      caFile: ca, isInsecure: insecure, signalingKeySHA256: try parsedPins())
    configuration.proxy = try parsedProxy()
  }

  /// nil where there is none.
  func parsedMetadata() throws(UsageError) -> JSONValue? {
    try metadata.map { text throws(UsageError) in try JSONOption.read(text, of: "--metadata") }
  }

  /// What a pinned key begins with, as curl writes it.
  static let pinPrefix = "sha256//"

  private func parsedPins() throws(UsageError) -> [[UInt8]] {
    var hashes: [[UInt8]] = []
    for text in pin {
      guard text.hasPrefix(Self.pinPrefix),
        let hash = Data(base64Encoded: String(text.dropFirst(Self.pinPrefix.count))),
        hash.count == 32
      else {
        throw UsageError(
          "--pin \(text): write sha256// and the base64 of 32 bytes; sora doctor prints a server's")
      }
      hashes.append(Array(hash))
    }
    return hashes
  }

  /// nil where there is none.
  func parsedProxy() throws(UsageError) -> Proxy? {
    guard let proxy else { return nil }
    guard let found = Proxy(url: proxy) else {
      // What was written may hold a password: it isn't shown.
      throw UsageError(
        "--proxy: write http://HOST:PORT, or socks5://; credentials as USER:PASSWORD@ before HOST, with what is special as %xx"
      )
    }
    return found
  }

  /// Reads a URL of signaling.
  static func signalingURL(_ text: String) throws(UsageError) -> URL {
    guard let address = URL(string: text), let scheme = address.scheme?.lowercased(),
      ["ws", "wss"].contains(scheme), address.host?.isEmpty == false
    else {
      throw UsageError("URL \(text): write ws://HOST:PORT/signaling, or wss:// for TLS")
    }
    if let port = address.port, !(1...65_535).contains(port) {
      throw UsageError("URL \(text): use a port of 1 to 65535")
    }
    return address
  }

  /// Reads a channel's name.
  static func channel(_ text: String) throws(UsageError) -> String {
    guard (1...255).contains(text.utf8.count) else {
      throw UsageError("--channel: use 1 to 255 bytes, not \(text.utf8.count)")
    }
    return text
  }
}
