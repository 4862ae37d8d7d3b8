import Dispatch
import SoraSignaling
import SoraSignalingChannels
import Synchronization

/// The calls of one connection that wait for their answers. Safe from any thread.
final class RPCCalls: Sendable {
  typealias Answer = Result<JSONValue, any Error>

  private struct Call {
    let continuation: CheckedContinuation<Answer, Never>
    /// Ends it without an answer; nil before it is on its way.
    var patience: HeldTimer?
  }

  private struct State {
    var methods: [String] = []
    var lastID = 0
    var waiting: [Int: Call] = [:]
    var isEnded = false
  }

  /// So many may wait at once; their answers are bounded by the size of a message.
  private static let mostCalls = 1024

  private let state = Mutex(State())

  /// What the offer permits.
  var methods: [String] {
    get { state.withLock { $0.methods } }
    set { state.withLock { $0.methods = newValue } }
  }

  /// The id of a new call.
  func nextID() -> Int {
    state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
  }

  /// Sends a call and waits for its answer.
  ///
  /// - Parameters:
  ///   - limit: seconds.
  ///   - send: whether the call is on its way.
  func answer(to id: Int, within limit: Double, send: () -> Bool) async -> Answer {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let refusal: (any Error)? = state.withLock { state in
          if state.isEnded {
            return SoraError.rpcDataChannelClosed(reason: "the channel has ended")
          }
          if Task.isCancelled { return CancellationError() }
          guard state.waiting.count < Self.mostCalls else {
            return SoraError.rpcUnavailable(
              reason: "\(Self.mostCalls) calls wait for their answers already")
          }
          state.waiting[id] = Call(continuation: continuation)
          return nil
        }
        if let refusal { return continuation.resume(returning: .failure(refusal)) }
        guard send() else {
          finish(id, .failure(SoraError.rpcDataChannelClosed(reason: "the call can't be sent")))
          return
        }
        // Dispatch, and not a task that sleeps: it holds where an app blocks every thread of its tasks.
        let nanoseconds = limit > 0 ? Int(min(limit, 86_400) * 1e9) : 0
        let patience = HeldTimer(after: .nanoseconds(nanoseconds), on: .global()) { [weak self] in
          self?.finish(id, .failure(SoraError.rpcTimeout))
        }
        // Of no effect where the answer is here already.
        state.withLock { $0.waiting[id]?.patience = patience }
      }
    } onCancel: {
      finish(id, .failure(CancellationError()))
    }
  }

  /// Hands an answer to who waits for it.
  ///
  /// - Returns: false where nobody does, or not any more.
  @discardableResult
  func received(_ response: SoraSignalingChannels.RPCResponse) -> Bool {
    guard let id = response.id.intValue else { return false }
    return finish(
      id, response.result.mapError { SoraError.rpcServerError(detail: RPCErrorDetail($0)) })
  }

  @discardableResult
  private func finish(_ id: Int, _ answer: Answer) -> Bool {
    let call = state.withLock { $0.waiting.removeValue(forKey: id) }
    call?.continuation.resume(returning: answer)
    return call != nil
  }

  /// No answer will come any more.
  func end() {
    let waiting = state.withLock { state in
      defer { state.waiting = [:] }
      state.isEnded = true
      return state.waiting.values.map { $0 }
    }
    let error = SoraError.rpcDataChannelClosed(reason: "the channel has ended")
    for call in waiting { call.continuation.resume(returning: .failure(error)) }
  }
}
