import NIOSSL

/// Opens several signaling URLs at once; the first open one wins.
enum SignalingRace {
  static func open(
    _ urls: [String], options: WebSocketOptions
  ) async throws(SignalingError) -> WebSocketConnection {
    var seen: Set<String> = []
    let unique = urls.filter { seen.insert($0).inserted }
    guard !unique.isEmpty else {
      throw SignalingError(
        stage: .configuration, code: .invalidConfiguration, field: "urls",
        detail: "there is no signaling URL", wayOut: "give at least one wss://host/signaling")
    }
    var endpoints: [(index: Int, endpoint: WebSocketEndpoint)] = []
    var errors = [SignalingError?](repeating: nil, count: unique.count)
    for (index, url) in unique.enumerated() {
      do {
        endpoints.append((index, try WebSocketEndpoint(url)))
      } catch {
        errors[index] = error.at(url: url)
      }
    }
    // Reading the system's certificates takes a while; once is enough.
    let tls =
      endpoints.contains { $0.endpoint.isSecure } ? try TLSContexts.client(options.tls) : nil

    typealias Outcome = (index: Int, result: Result<WebSocketConnection, SignalingError>)
    let winner = await withTaskGroup(of: Outcome.self) { group in
      for (index, endpoint) in endpoints {
        group.addTask {
          do throws(SignalingError) {
            let connection = try await WebSocketClient.connect(
              to: endpoint, options: options, tls: tls)
            return (index, .success(connection))
          } catch {
            return (index, .failure(error))
          }
        }
      }
      var winner: WebSocketConnection?
      for await outcome in group {
        switch outcome.result {
        case .success(let connection):
          if winner == nil {
            winner = connection
            group.cancelAll()
          } else {
            connection.close()
          }
        case .failure(let error): errors[outcome.index] = error
        }
      }
      return winner
    }
    if let winner {
      // Won, but nobody wants it any more.
      guard !Task.isCancelled else {
        winner.close()
        throw .cancelled
      }
      return winner
    }
    throw summary(errors.compactMap { $0 })
  }

  /// The error of the candidate that came furthest, with all of them in `candidates`.
  static func summary(_ errors: [SignalingError]) -> SignalingError {
    guard var error = errors.first else { return .cancelled }
    // Of those that came as far, the last of the list.
    for other in errors where other.stage >= error.stage { error = other }
    error.candidates = errors
    return error
  }
}
