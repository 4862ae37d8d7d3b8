import NIOSSL

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
