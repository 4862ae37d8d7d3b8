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

  /// Posts an object and reads the reply, all within the webhook's timeout.
  ///
  /// - Returns: the body of a reply with a status from 200 to 299.
  func post(
    _ body: JSONValue, to webhook: ServerConfiguration.Webhook, headers: [(String, String)] = []
  ) async throws(WebhookError) -> [UInt8] {
    let request = Self.request(body.bytes, webhook.url, headers)
    return try await Self.limited(webhook.timeout) { [http] in
      try await Self.exchange(request, http, atMost: Self.maximumReply) {
        guard (200..<300).contains($0) else { throw WebhookError.status($0) }
      }.body
    }
  }

  /// Posts JSON and reads the reply, whatever its status is, all within a time.
  func forward(
    _ body: [UInt8], to url: String, headers: [(String, String)], timeout: Duration
  ) async throws(WebhookError) -> (status: Int, body: [UInt8]) {
    let request = Self.request(body, url, headers)
    return try await Self.limited(timeout) { [http] in
      try await Self.exchange(request, http, atMost: Self.maximumList) { _ in }
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
    _ request: HTTPClientRequest, _ http: HTTPClient, atMost limit: Int,
    _ check: (Int) throws -> Void
  ) async throws -> (status: Int, body: [UInt8]) {
    // Ended from outside: this is no limit, but it has to be some time.
    let response = try await http.execute(request, deadline: .distantFuture)
    try check(Int(response.status.code))
    var bytes: [UInt8] = []
    for try await part in response.body {
      guard bytes.count + part.readableBytes <= limit else { throw WebhookError.tooLarge }
      bytes += part.readableBytesView
    }
    return (Int(response.status.code), bytes)
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
