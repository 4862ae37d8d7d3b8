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
    // Reading certificates takes a while, and so do names and connections: one doesn't wait for the other.
    let tls = endpoints.contains { $0.endpoint.isSecure } ? TLSPreparation(options.tls) : nil

    enum Outcome {
      case opened(WebSocketConnection)
      case failed(index: Int, SignalingError)
      /// The certificates can't be used, so that there is no sense in any of the URLs.
      case unusable(SignalingError)
      case ready
    }
    var unusable: SignalingError?
    let winner = await withTaskGroup(of: Outcome.self) { group in
      for (index, endpoint) in endpoints {
        group.addTask {
          do throws(SignalingError) {
            return .opened(
              try await WebSocketClient.connect(to: endpoint, options: options, tls: tls))
          } catch {
            return .failed(index: index, error)
          }
        }
      }
      if let tls {
        group.addTask {
          switch await tls.result {
          case .success: .ready
          case .failure(let error): .unusable(error)
          }
        }
      }
      var winner: WebSocketConnection?
      for await outcome in group {
        switch outcome {
        case .opened(let connection):
          if winner == nil {
            winner = connection
            group.cancelAll()
          } else {
            connection.close()
          }
        case .failed(let index, let error): errors[index] = error
        case .unusable(let error):
          unusable = error
          group.cancelAll()
        case .ready: break
        }
      }
      return winner
    }
    if let unusable {
      winner?.close()
      throw unusable
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

/// A TLS context on its way.
struct TLSPreparation: Sendable {
  private let task: Task<Result<NIOSSLContext, SignalingError>, Never>

  init(_ options: TLSOptions) {
    task = Task {
      Result { () throws(SignalingError) in try TLSContexts.client(options) }
    }
  }

  var result: Result<NIOSSLContext, SignalingError> { get async { await task.value } }
}
