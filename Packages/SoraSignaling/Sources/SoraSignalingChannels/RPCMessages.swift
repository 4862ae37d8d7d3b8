public import SoraSignalingMessages

/// A call of JSON-RPC 2.0.
public struct RPCRequest: Sendable, Hashable {
  public var method: String
  /// An array or an object; nil without any.
  public var params: JSONValue?
  /// A string, a number or null; nil for a notification, which isn't answered.
  public var id: JSONValue?

  public init(method: String, params: JSONValue? = nil, id: JSONValue? = nil) {
    self.method = method
    self.params = params
    self.id = id
  }

  /// Reads one call.
  ///
  /// - Throws: what the answer says, which has the id null (JSON-RPC 2.0 §5).
  public init(parsing bytes: [UInt8], maximumSize: Int = JSONValue.maximumSize) throws(RPCError) {
    let json: JSONValue
    do throws(SignalingError) {
      json = try JSONValue(parsing: bytes, maximumSize: maximumSize)
    } catch {
      throw RPCError(.parseError, error.detail)
    }
    guard json["jsonrpc"] == "2.0" else {
      throw RPCError(.invalidRequest, "a call is an object with jsonrpc \"2.0\", one a message")
    }
    guard let method = json["method"]?.stringValue else {
      throw RPCError(.invalidRequest, "method must be a string")
    }
    switch json["params"] {
    case nil, .array?, .object?: break
    default: throw RPCError(.invalidRequest, "params must be an array or an object")
    }
    switch json["id"] {
    case nil, .null?, .string?, .integer?, .unsigned?, .double?: break
    default: throw RPCError(.invalidRequest, "id must be a string, a number or null")
    }
    self.init(method: method, params: json["params"], id: json["id"])
  }

  public var json: JSONValue {
    var members: [String: JSONValue] = ["jsonrpc": "2.0", "method": .string(method)]
    members["params"] = params
    members["id"] = id
    return .object(members)
  }
}

/// The answer to a call of JSON-RPC 2.0.
public struct RPCResponse: Sendable, Hashable {
  public var result: Result<JSONValue, RPCError>
  /// That of the call; null where that couldn't be read.
  public var id: JSONValue

  public init(_ result: Result<JSONValue, RPCError>, id: JSONValue) {
    self.result = result
    self.id = id
  }

  /// Reads one answer; nil for anything else.
  public init?(json: JSONValue) {
    guard json["jsonrpc"] == "2.0", let id = json["id"] else { return nil }
    if let result = json["result"] {
      self.init(.success(result), id: id)
    } else if let error = json["error"], let code = error["code"]?.intValue,
      let message = error["message"]?.stringValue
    {
      self.init(.failure(RPCError(code: code, message: message, data: error["data"])), id: id)
    } else {
      return nil
    }
  }

  public var json: JSONValue {
    var members: [String: JSONValue] = ["jsonrpc": "2.0", "id": id]
    switch result {
    case .success(let value): members["result"] = value
    case .failure(let error): members["error"] = error.json
    }
    return .object(members)
  }
}

/// Why a call failed.
public struct RPCError: Error, Sendable, Hashable {
  /// The codes of JSON-RPC 2.0 §5.1.
  public enum Code: Int, Sendable, Hashable {
    case parseError = -32_700
    case invalidRequest = -32_600
    case methodNotFound = -32_601
    case invalidParams = -32_602
    case internalError = -32_603
  }

  public var code: Int
  /// In one line.
  public var message: String
  public var data: JSONValue?

  public init(code: Int, message: String, data: JSONValue? = nil) {
    self.code = code
    self.message = message
    self.data = data
  }

  public init(_ code: Code, _ message: String) {
    self.init(code: code.rawValue, message: message)
  }

  var json: JSONValue {
    var members: [String: JSONValue] = [
      "code": .integer(Int64(code)), "message": .string(message),
    ]
    members["data"] = data
    return .object(members)
  }
}
