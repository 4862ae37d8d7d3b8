public import Foundation
import SoraSignaling
import SoraSignalingChannels
import WebRTC

extension MediaChannel {
  /// Sends a message on a data channel of the app, as bytes. Returns at once; what the network can't take yet waits, up to 16 MiB.
  ///
  /// - Returns: nil when it was taken; otherwise `SoraError.messagingError` with the first condition that isn't met: the data channels are
  ///   in use (`MediaChannelHandlers.onDataChannel`), the label begins with `#`, there is such a channel, it is open, this side may send on
  ///   it, the other side takes messages of this size, and no more than 16 MiB wait.
  public func sendMessage(label: String, data: Data) -> (any Error)? {
    do throws(SoraError) {
      let (channel, buffer) = try dataChannels.outgoing(data, isText: false, on: label)
      do throws(RTCDataChannelError) {
        try channel.enqueue(buffer)
      } catch {
        throw .messagingError(reason: error.description)
      }
      return nil
    } catch {
      return error
    }
  }

  /// Sends a message on a data channel of the app, as bytes, as soon as no more than 1 MiB waits there. Linux only.
  ///
  /// - Throws: what `sendMessage` returns.
  public func send(label: String, data: Data) async throws(SoraError) {
    try await send(data, isText: false, label: label)
  }

  /// The same as text, which browsers get as a string. On channels that compress, it goes as bytes.
  public func send(label: String, text: String) async throws(SoraError) {
    try await send(Data(text.utf8), isText: true, label: label)
  }

  private func send(_ data: Data, isText: Bool, label: String) async throws(SoraError) {
    let (channel, buffer) = try dataChannels.outgoing(data, isText: isText, on: label)
    do throws(RTCDataChannelError) {
      try await channel.send(buffer)
    } catch {
      throw .messagingError(reason: error.description)
    }
  }

  /// Waits until messages can be sent on a label. Linux only.
  ///
  /// - Throws: `SoraError.messagingError` where the server's offer has no such channel, or the connection ended; `CancellationError`.
  public func ready(label: String) async throws { try await dataChannels.ready(label) }

  /// What comes on a data channel of the app, in order, until the channel ends. Every call makes a sequence of its own. Linux only.
  ///
  /// The first one also gets what came before it (the last 256 messages, or 1 MiB). Who has 1 MiB that it hasn't read holds up the label.
  /// Once 4 MiB more have come the other side waits, on all labels, those of signaling too; a label of which nothing is read for ten
  /// seconds then is closed. A sequence that is let go of holds up nobody.
  public func messages(label: String) -> DataChannelMessages {
    dataChannels.inbox(label).subscribe()
  }

  // MARK: Calls

  /// The methods that the server permits `rpc`, by name; empty before its offer.
  public var rpcMethods: [String] { calls.methods }

  /// Calls a method at the server, over the data channel `rpc`.
  ///
  /// ```swift
  /// import Sora
  ///
  /// /// Tells the others of the channel what this connection's state is.
  /// func tell(_ state: String, on channel: MediaChannel) async throws {
  ///   typealias Put = PutSignalingNotifyMetadataItem<[String: String], String>
  ///   let answer = try await channel.rpc(
  ///     method: Put.self, params: .init(key: "state", value: state, push: true))
  ///   print(answer?.result ?? [:])
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - method: what is called.
  ///   - params: what it is called with.
  ///   - isNotificationRequest: whether no answer is wanted.
  ///   - timeout: seconds that the answer may take.
  /// - Returns: the answer; nil where none was wanted.
  /// - Throws: `SoraError.rpcUnavailable`, `rpcEncodingError`, `rpcDecodingError`, `rpcDataChannelClosed`, `rpcTimeout`, `rpcServerError`;
  ///   `CancellationError`.
  public func rpc<Method: RPCMethodProtocol>(
    method: Method.Type, params: Method.Params, isNotificationRequest: Bool = false,
    timeout: TimeInterval = 5.0
  ) async throws -> RPCResponse<Method.Result>? {
    guard isAvailable, dataChannels.isOpen(.rpc) else {
      throw SoraError.rpcUnavailable(
        reason: "the data channel rpc is not open: check Configuration.dataChannelSignaling")
    }
    guard calls.methods.contains(Method.name) else {
      throw SoraError.rpcUnavailable(
        reason: "the server doesn't permit \(Method.name), but: \(calls.methods)")
    }
    let json: JSONValue
    do {
      json = try JSONValue(encoding: params)
    } catch {
      throw SoraError.rpcEncodingError(reason: "\(error)")
    }
    guard !isNotificationRequest else {
      guard dataChannels.say(RPCRequest(method: Method.name, params: json).json, on: .rpc) else {
        throw SoraError.rpcDataChannelClosed(reason: "the call can't be sent")
      }
      return nil
    }
    let id = calls.nextID()
    let call = RPCRequest(method: Method.name, params: json, id: .integer(Int64(id)))
    let result = try await calls.answer(to: id, within: timeout) {
      dataChannels.say(call.json, on: .rpc)
    }.get()
    do {
      return RPCResponse(id: .int(id), result: try result.decode(Method.Result.self))
    } catch {
      throw SoraError.rpcDecodingError(reason: "\(error)")
    }
  }
}
