import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SoraSignalingMessages

/// Posts JSON to webhooks. One a server; must be shut down.
package final class WebhookClient: Sendable {
  /// A reply has a few hundred bytes; more than this is none.
  private static let maximumReply = 256 * 1024
  /// Of a list of connections, or of all their statistics.
  private static let maximumList = 64 * 1024 * 1024
  private let http: HTTPClient

  package init() {
    var configuration = HTTPClient.Configuration()
    // Who is asked is who was named: a redirect may lead anywhere.
    configuration.redirectConfiguration = .disallow
    configuration.httpVersion = .http1Only
    // By default an HTTP proxy of the environment isn't used, and neither is it here.
    configuration.connectionPool.idleTimeout = .seconds(30)
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 32
    http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  package func shutdown() async { try? await http.shutdown() }

  /// Posts an object and reads the reply, all within the webhook's timeout. A request whose connection ends without a reply is sent once
  /// more: what is asked may be asked twice, and what is told has an id.
  ///
  /// - Returns: the body of a reply with a status from 200 to 299.
  func post(
    _ body: JSONValue, to webhook: ServerConfiguration.Webhook, headers: [(String, String)] = []
  ) async throws(WebhookError) -> [UInt8] {
    let request = Self.request(body.bytes, webhook.url, headers)
    return try await Self.limited(webhook.timeout) { [http] in
      try await Self.exchange(request, http, isRepeatable: true, atMost: Self.maximumReply) {
        guard (200..<300).contains($0) else { throw WebhookError.status($0) }
      }.body
    }
  }

  /// Posts JSON and reads the reply, whatever its status is, all within a time. What it does mustn't be done twice: so it has a connection of
  /// its own, which the other end has no reason to close.
  func forward(
    _ body: [UInt8], to url: String, headers: [(String, String)], timeout: Duration
  ) async throws(WebhookError) -> (status: Int, body: [UInt8]) {
    let request = Self.request(body, url, headers + [("Connection", "close")])
    return try await Self.limited(timeout) { [http] in
      try await Self.exchange(request, http, isRepeatable: false, atMost: Self.maximumList) { _ in }
    }
  }

  private static func request(
    _ body: [UInt8], _ url: String, _ headers: [(String, String)]
  ) -> HTTPClientRequest {
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers.add(name: "Content-Type", value: "application/json")
    for (name, value) in headers { request.headers.add(name: name, value: value) }
    request.body = .bytes(body)
    return request
  }

  private static func exchange(
    _ request: HTTPClientRequest, _ http: HTTPClient, isRepeatable: Bool, atMost limit: Int,
    _ check: (Int) throws -> Void
  ) async throws -> (status: Int, body: [UInt8]) {
    let response: HTTPClientResponse
    // Ended from outside: the deadline is no limit, but it has to be some time.
    do {
      response = try await http.execute(request, deadline: .distantFuture)
    } catch  where isRepeatable && isConnectionLost(error) {
      // The other end may have closed a kept connection just then (RFC 9112 §9.5).
      response = try await http.execute(request, deadline: .distantFuture)
    }
    try check(Int(response.status.code))
    var bytes: [UInt8] = []
    for try await part in response.body {
      guard bytes.count + part.readableBytes <= limit else { throw WebhookError.tooLarge }
      bytes += part.readableBytesView
    }
    return (Int(response.status.code), bytes)
  }

  private static func isConnectionLost(_ error: any Error) -> Bool {
    if let error = error as? IOError { return [ECONNRESET, EPIPE].contains(error.errnoCode) }
    return error as? HTTPClientError == .remoteConnectionClosed
  }

  /// What comes first: the work's end, or that of the time it may take.
  private static func limited<Reply: Sendable>(
    _ timeout: Duration, _ work: @escaping @Sendable () async throws -> Reply
  ) async throws(WebhookError) -> Reply {
    do {
      return try await withThrowingTaskGroup(of: Reply.self) { group in
        defer { group.cancelAll() }
        group.addTask(operation: work)
        group.addTask {
          try await Task.sleep(for: timeout)
          throw WebhookError.timeout(timeout)
        }
        guard let first = try await group.next() else { throw CancellationError() }
        return first
      }
    } catch let error as WebhookError {
      throw error
    } catch {
      throw .failed("\(error)")
    }
  }
}

/// Why a webhook gave no usable reply. Describes itself for logs.
enum WebhookError: Error, Hashable, CustomStringConvertible {
  case status(Int)
  case timeout(Duration)
  case tooLarge
  case notJSON(String)
  /// No connection, or it broke.
  case failed(String)

  var description: String {
    switch self {
    case .status(let code): "the webhook replied with status \(code)"
    case .timeout(let time): "the webhook did not reply within \(time)"
    case .tooLarge: "the webhook's reply is too large"
    case .notJSON(let detail): "the webhook's reply can't be used: \(detail)"
    case .failed(let detail): "the webhook can't be reached: \(detail)"
    }
  }
}

extension ServerConfiguration.Webhook {
  /// Why its URL can't be used; nil where it can.
  public var objection: String? {
    guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty,
      let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https"
    else { return "a webhook's URL is http://HOST/PATH or https://HOST/PATH" }
    guard parts.user == nil, parts.password == nil else {
      return "a webhook's URL has no user name and password: they would be in logs"
    }
    guard timeout > .zero else { return "a webhook's timeout must be longer than nothing" }
    return nil
  }
}
