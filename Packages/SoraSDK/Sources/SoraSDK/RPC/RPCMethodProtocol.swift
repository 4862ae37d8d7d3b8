import Foundation
import SoraSignaling
import SoraSignalingChannels

/// A method that a client may call at the server. The SDK has those of Sora; an app can add its server's own.
public protocol RPCMethodProtocol {
  associatedtype Params: Encodable
  associatedtype Result: Decodable
  /// As `SignalingOffer.rpcMethods` lists it.
  static var name: String { get }
}

/// What joins a call and its answer.
public enum RPCID: Hashable, Sendable {
  case int(Int)
  case string(String)
}

/// The answer to a call that went well.
public struct RPCResponse<Result> {
  /// `2.0`
  public let jsonrpc: String
  public let id: RPCID
  public let result: Result

  public init(id: RPCID, result: Result) {
    jsonrpc = "2.0"
    self.id = id
    self.result = result
  }
}

extension RPCResponse: Sendable where Result: Sendable {}

/// Why the server couldn't do what a call asked for (JSON-RPC 2.0 §5.1).
public struct RPCErrorDetail: Sendable {
  public let code: Int
  public let message: String
  private let json: JSONValue?

  /// What the server says besides, in the types of `JSONSerialization`.
  public var data: Any? { json?.object }

  init(_ error: RPCError) {
    code = error.code
    message = error.message
    json = error.data
  }
}
