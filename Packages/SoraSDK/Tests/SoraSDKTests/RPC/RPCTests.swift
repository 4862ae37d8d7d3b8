import Foundation
import SoraSDK
import SoraSignaling
import SoraSignalingChannels
import Testing
import WebRTC

/// Calls at the server.
@Suite(.timeLimit(.minutes(5))) struct RPCTests {
  private typealias Put = PutSignalingNotifyMetadata<[String: String]>
  private typealias PutItem = PutSignalingNotifyMetadataItem<[String: Int], Int>

  private func call() async throws -> SwitchedCall {
    let methods = [
      RequestSimulcastRid.name, Put.name, PutItem.name, RequestSpotlightRid.name,
      ResetSpotlightRid.name,
    ]
    let call = try await SwitchedCall(offer: { $0.rpcMethods = methods })
    try await call.switchOver(ignoringWebSocket: true)
    #expect(call.channel.rpcMethods.count == 5)
    return call
  }

  /// The next request, and its answer.
  private func request(_ call: SwitchedCall, _ number: Int = 1) async throws -> RPCRequest {
    await call.received.wait { $0.count { $0.label == "rpc" } == number }
    let message = try #require(call.received.elements.last { $0.label == "rpc" })
    #expect(!message.buffer.isBinary)
    return try RPCRequest(parsing: Array(message.buffer.data))
  }

  private func answer(
    _ call: SwitchedCall, _ request: RPCRequest, _ result: Result<JSONValue, RPCError>
  ) throws {
    let response = SoraSignalingChannels.RPCResponse(result, id: try #require(request.id))
    call.send(response.json.text, on: "rpc")
  }

  @Test func results() async throws {
    let call = try await call()
    async let simulcast = call.channel.rpc(
      method: RequestSimulcastRid.self, params: .init(rid: .r1, senderConnectionId: "S"))
    var request = try await request(call)
    #expect(request.method == "2025.2.0/RequestSimulcastRid")
    #expect(request.params == ["rid": "r1", "sender_connection_id": "S"])
    try answer(
      call, request,
      .success(["channel_id": "c", "receiver_connection_id": "R", "rid": "r1", "new": 1]))
    let first = try #require(try await simulcast)
    #expect(first.jsonrpc == "2.0" && first.id == .int(1))
    #expect(first.result.rid == .r1 && first.result.senderConnectionId == nil)

    async let item = call.channel.rpc(
      method: PutItem.self, params: .init(key: "k", value: 3, push: true))
    request = try await self.request(call, 2)
    #expect(request.params == ["key": "k", "value": 3, "push": true])
    try answer(call, request, .success(["k": 3]))
    #expect(try await item?.result == ["k": 3])

    let none = try await call.channel.rpc(
      method: Put.self, params: .init(metadata: ["a": "b"]), isNotificationRequest: true)
    #expect(none == nil)
    request = try await self.request(call, 3)
    #expect(request.id == nil && request.params == ["metadata": ["a": "b"]])
    await call.channel.disconnect()
  }

  @Test func failures() async throws {
    let call = try await call()
    async let refused = call.channel.rpc(
      method: Put.self, params: .init(metadata: [:]), timeout: 60)
    var request = try await request(call)
    try answer(
      call, request,
      .failure(RPCError(code: -32_602, message: "no", data: ["why": 1])))
    do {
      _ = try await refused
      Issue.record("it was answered")
    } catch SoraError.rpcServerError(let detail) {
      #expect(detail.code == -32_602 && detail.message == "no")
      #expect((detail.data as? [String: Any])?["why"] as? Int == 1)
    }

    async let odd = call.channel.rpc(method: Put.self, params: .init(metadata: [:]), timeout: 60)
    request = try await self.request(call, 2)
    try answer(call, request, .success([1, 2]))
    do {
      _ = try await odd
      Issue.record("an array is no dictionary")
    } catch SoraError.rpcDecodingError {}

    do {
      _ = try await call.channel.rpc(
        method: Put.self, params: .init(metadata: [:]), timeout: 0.01)
      Issue.record("nobody answered")
    } catch SoraError.rpcTimeout {}

    do {
      _ = try await call.channel.rpc(method: Unknown.self, params: [:])
      Issue.record("it isn't permitted")
    } catch SoraError.rpcUnavailable(let reason) {
      #expect(reason.contains("Unknown") && reason.contains(Put.name))
    }

    let cancelled = Task {
      try await call.channel.rpc(method: Put.self, params: .init(metadata: [:]), timeout: 60)
    }
    _ = try await self.request(call, 4)
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }

    async let ended = call.channel.rpc(method: Put.self, params: .init(metadata: [:]), timeout: 60)
    _ = try await self.request(call, 5)
    await call.channel.disconnect()
    do {
      _ = try await ended
      Issue.record("there is nobody to answer")
    } catch SoraError.rpcDataChannelClosed {}
    do {
      _ = try await call.channel.rpc(method: Put.self, params: .init(metadata: [:]))
      Issue.record("the channel has ended")
    } catch SoraError.rpcUnavailable {}
  }

  private enum Unknown: RPCMethodProtocol {
    typealias Params = [String: String]
    typealias Result = [String: String]
    static let name = "Unknown"
  }
}
