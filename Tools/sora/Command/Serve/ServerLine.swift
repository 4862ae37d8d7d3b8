import SoraCommandSupport
import SoraServer

/// One line of `sora serve --json`.
struct ServerLine: Encodable {
  var type: String
  var url: String?
  var httpUrl: String?
  var httpUrls: [String]?
  var port: Int?
  var mediaAddresses: [String]?
  var turnUrls: [String]?
  var apiUrl: String?
  var channelId: String?
  var connectionId: String?
  var role: String?
  var reason: String?

  static func ready(_ server: SoraServer) -> ServerLine {
    ServerLine(
      type: "ready", url: server.url, httpUrl: server.httpURL, httpUrls: server.httpURLs,
      port: server.port,
      mediaAddresses: server.mediaAddresses.map { "\($0)" },
      turnUrls: server.turnURLs.isEmpty ? nil : server.turnURLs, apiUrl: server.apiURL)
  }

  static func text(_ event: SFUEvent) -> String {
    switch event {
    case .joined(let channel, let connection, let role):
      "join   \(channel.printable)  \(connection.printable)  \(role)"
    case .left(let channel, let connection, let role, let reason):
      "leave  \(channel.printable)  \(connection.printable)  \(role)  \(reason.printable)"
    case .refused(_, let reason): "refuse  \(reason.printable)"
    case .ignored(let channel, let connection, let what):
      "ignore \(channel.printable)  \(connection.printable)  \(what.printable)"
    }
  }
}

extension ServerLine {
  init(_ event: SFUEvent) {
    switch event {
    case .joined(let channel, let connection, let role):
      self.init(type: "join", channelId: channel, connectionId: connection, role: "\(role)")
    case .left(let channel, let connection, let role, let reason):
      self.init(
        type: "leave", channelId: channel, connectionId: connection, role: "\(role)",
        reason: reason)
    case .refused(_, let reason): self.init(type: "refuse", reason: reason)
    case .ignored(let channel, let connection, let what):
      self.init(type: "ignore", channelId: channel, connectionId: connection, reason: what)
    }
  }
}
