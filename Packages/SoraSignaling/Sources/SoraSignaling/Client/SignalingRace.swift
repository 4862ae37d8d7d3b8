import NIOSSL

/// Opens several signaling URLs at once; the first open one wins.
struct SignalingRace {
  private var attempts: [(index: Int, attempt: WebSocketConnectAttempt)] = []
  /// By URL.
  private var errors: [SignalingError?]
  private let tls: TLSPreparation?

  /// Starts all of them: their sockets are on their way when this returns, whatever else the tasks of the process have to do.
  init(_ urls: [String], options: WebSocketOptions) throws(SignalingError) {
    var seen: Set<String> = []
    let unique = urls.filter { seen.insert($0).inserted }
    guard !unique.isEmpty else {
      throw SignalingError(
        stage: .configuration, code: .invalidConfiguration, field: "urls",
        detail: "there is no signaling URL", wayOut: "give at least one wss://host/signaling")
    }
    errors = [SignalingError?](repeating: nil, count: unique.count)
    var endpoints: [(index: Int, endpoint: WebSocketEndpoint)] = []
    for (index, url) in unique.enumerated() {
      do {
        endpoints.append((index, try WebSocketEndpoint(url)))
      } catch {
        errors[index] = error.at(url: url)
      }
    }
    // Reading certificates takes a while, and so do names and connections: one doesn't wait for the other.
    tls = endpoints.contains { $0.endpoint.isSecure } ? TLSPreparation(options.tls) : nil
    for (index, endpoint) in endpoints {
      do {
        attempts.append(
          (index, try WebSocketClient.begin(to: endpoint, options: options, tls: tls)))
      } catch {
        errors[index] = error
      }
    }
  }

  /// Waits for the first. Cancelling the task ends all at once.
  ///
  /// - Throws: of the failures that of the one that came furthest, with all in `candidates`.
  func winner() async throws(SignalingError) -> WebSocketConnection {
    enum Outcome {
      case opened(WebSocketConnection)
      case failed(index: Int, SignalingError)
      /// The certificates can't be used, so that there is no sense in any of the URLs.
      case unusable(SignalingError)
      case ready
    }
    var errors = errors
    var unusable: SignalingError?
    let winner = await withTaskGroup(of: Outcome.self) { group in
      for (index, attempt) in attempts {
        group.addTask {
          do throws(SignalingError) {
            return .opened(try await attempt.connection())
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
    throw Self.summary(errors.compactMap { $0 })
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
