import ArgumentParser
import Foundation
import SoraCommandSupport
import SoraServer

/// Options of `sora serve` about who may connect, and who is told of it.
struct ServeAccessOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Clients need this key, or a JWT (HS256) signed with it, in metadata.access_token. Other users of this machine can read it here: - takes it from SORA_SECRET_KEY.",
      valueName: "key"))
  var secretKey: String?

  @Option(
    help: ArgumentHelp(
      "The same, with the key in a file; spaces and line breaks around it don't count.",
      valueName: "file"),
    completion: .file())
  var secretKeyFile: String?

  @Option(
    help: ArgumentHelp(
      "Ask this URL about each client, by POST with JSON; its reply lets in or refuses.",
      valueName: "url"))
  var authWebhook: String?

  @Option(
    help: ArgumentHelp(
      "Tell this URL of connections and sessions, by POST with JSON.", valueName: "url"))
  var eventWebhook: String?

  @Option(
    help: ArgumentHelp("How long a webhook may take to reply.", valueName: "seconds"))
  var webhookTimeout = 5.0

  @Option(
    help: ArgumentHelp("How many connections there may be at once.", valueName: "count"))
  var maxConnections = 1000

  @Option(
    help: ArgumentHelp(
      "How many connections a channel may have at once; as many as the server by default.",
      valueName: "count"))
  var maxChannelConnections: Int?

  @Option(
    help: ArgumentHelp(
      "How many connections one address may have at once, of IPv6 one /64; as many as the server by default. Behind a proxy all have the proxy's.",
      valueName: "count"))
  var maxAddressConnections: Int?

  /// - Parameter environment: of the process.
  func access(environment: [String: String]) throws(UsageError) -> SoraServer.Configuration.Access {
    var access = SoraServer.Configuration.Access()
    if let secretKeyFile {
      guard secretKey == nil else {
        throw UsageError("--secret-key-file and --secret-key exclude each other; leave one out")
      }
      access.secretKey = try Self.key(in: secretKeyFile)
    } else if let secretKey {
      let isElsewhere = secretKey == "-"
      let text = isElsewhere ? environment["SORA_SECRET_KEY"] ?? "" : secretKey
      guard let key = SecretKey(text) else {
        throw UsageError(
          isElsewhere
            ? "--secret-key -: set SORA_SECRET_KEY to the key"
            : "--secret-key: the key is empty; write one of 32 bytes or more")
      }
      access.secretKey = key
    }
    guard webhookTimeout > 0, webhookTimeout <= 600 else {
      throw UsageError("--webhook-timeout \(webhookTimeout): use seconds above 0 and up to 600")
    }
    let timeout = Duration.seconds(webhookTimeout)
    access.authWebhook = try webhook(authWebhook, timeout, of: "--auth-webhook")
    access.eventWebhook = try webhook(eventWebhook, timeout, of: "--event-webhook")
    access.maximumConnections = try count(maxConnections, of: "--max-connections")
    access.maximumChannelConnections = try maxChannelConnections.map { number throws(UsageError) in
      try count(number, of: "--max-channel-connections")
    }
    access.maximumAddressConnections = try maxAddressConnections.map { number throws(UsageError) in
      try count(number, of: "--max-address-connections")
    }
    return access
  }

  private static func key(in path: String) throws(UsageError) -> SecretKey {
    let option = "--secret-key-file"
    guard let key = SecretKey(try secret(in: path, of: option)) else {
      throw UsageError("\(option) \(path): the file is empty; write a key of 32 bytes or more")
    }
    return key
  }

  /// Reads a secret from a file, without spaces and line breaks around it.
  static func secret(in path: String, of option: String) throws(UsageError) -> String {
    guard let data = FileManager.default.contents(atPath: path),
      let text = String(data: data.prefix(65_536), encoding: .utf8)
    else { throw UsageError("\(option) \(path): cannot read the file, or it isn't text") }
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private func webhook(
    _ url: String?, _ timeout: Duration, of option: String
  ) throws(UsageError) -> SoraServer.Configuration.Webhook? {
    guard let url else { return nil }
    let webhook = SoraServer.Configuration.Webhook(url: url, timeout: timeout)
    // Without the URL: it may hold a password.
    if let objection = webhook.objection { throw UsageError("\(option): \(objection)") }
    return webhook
  }

  private func count(_ number: Int, of option: String) throws(UsageError) -> Int {
    guard (1...1_000_000).contains(number) else {
      throw UsageError("\(option) \(number): use 1 to 1000000")
    }
    return number
  }
}
