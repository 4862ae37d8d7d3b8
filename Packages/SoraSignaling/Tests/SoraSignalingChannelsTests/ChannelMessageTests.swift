import SoraSignalingChannels
import SoraSignalingMessages
import Testing

@Suite struct MessageCompressionTests {
  /// What Python's zlib makes of `{"type":"switched"}` at level 6.
  private let foreign: [UInt8] = [
    0x78, 0x9c, 0xab, 0x56, 0x2a, 0xa9, 0x2c, 0x48, 0x55, 0xb2, 0x52, 0x2a, 0x2e, 0xcf, 0x2c,
    0x49, 0xce, 0x48, 0x4d, 0x51, 0xaa, 0x05, 0x00, 0x43, 0xd6, 0x06, 0xd8,
  ]

  @Test func anothersStreamIsInflated() throws {
    let message = try MessageCompression.inflate(foreign.span.bytes, limit: 1000)
    #expect(String(decoding: message, as: UTF8.self) == #"{"type":"switched"}"#)
  }

  @Test(arguments: [0, 1, 2, 26, 511, 512, 513, 70_000, 262_144])
  func whatIsCompressedComesBack(count: Int) throws {
    var state: UInt64 = 88
    let message = (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 61)
    }
    let stream = try MessageCompression.compress(message.span.bytes)
    #expect(try MessageCompression.inflate(stream.span.bytes, limit: count) == message)
    if count > 0 {
      #expect(throws: ChannelMessageError.tooLarge(limit: count - 1)) {
        try MessageCompression.inflate(stream.span.bytes, limit: count - 1)
      }
    }
  }

  /// Zeros shrink a thousandfold: the limit holds all the same.
  @Test func aBombIsRefused() throws {
    let bomb = try MessageCompression.compress([UInt8](repeating: 0, count: 8 << 20).span.bytes)
    #expect(bomb.count < 10_000)
    #expect(throws: ChannelMessageError.tooLarge(limit: 262_144)) {
      try MessageCompression.inflate(bomb.span.bytes, limit: 262_144)
    }
  }

  @Test func whatIsNoStreamIsRefused() {
    var damaged = foreign
    damaged[damaged.count - 1] ^= 1
    let broken: [[UInt8]] = [
      [], [0], Array("{}".utf8), Array(foreign.dropLast()), damaged, foreign + [0],
      foreign + foreign,
    ]
    for bytes in broken {
      #expect(throws: ChannelMessageError.notCompressed) {
        try MessageCompression.inflate(bytes.span.bytes, limit: 1000)
      }
    }
  }
}

@Suite struct SenderHeaderTests {
  @Test func theSendersNameIsTakenOff() throws {
    let name = "0123456789ABCDEFGHJKMNPQRS"
    let split = try #require(SenderHeader.split(Array((name + "payload").utf8)))
    #expect(split.connectionID == name)
    #expect(split.payload == Array("payload".utf8))
    #expect(SenderHeader.split(Array(name.utf8))?.payload == [])
    #expect(SenderHeader.split(Array(name.utf8.dropLast())) == nil)
    #expect(SenderHeader.split([UInt8](repeating: 0xC3, count: 40)) == nil)
  }
}

/// The examples of JSON-RPC 2.0 §7.
@Suite struct RPCMessageTests {
  @Test func callsAreRead() throws {
    let positional = try RPCRequest(
      parsing: Array(#"{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}"#.utf8)
    )
    #expect(positional == RPCRequest(method: "subtract", params: [42, 23], id: 1))
    let named = try RPCRequest(
      parsing: Array(
        #"{"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42}, "id": "3"}"#.utf8))
    #expect(named == RPCRequest(method: "subtract", params: ["minuend": 42], id: "3"))
    let notification = try RPCRequest(
      parsing: Array(#"{"jsonrpc": "2.0", "method": "update", "params": [1,2,3]}"#.utf8))
    #expect(notification.id == nil)
    #expect(try RPCRequest(parsing: named.json.bytes) == named)
  }

  @Test(arguments: [
    (#"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#, -32_700),
    (#"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#, -32_600),
    (#"{"jsonrpc": "2.0", "method": "a", "params": "bar"}"#, -32_600),
    (#"{"jsonrpc": "2.0", "method": "a", "id": []}"#, -32_600),
    (#"{"method": "a", "id": 1}"#, -32_600), ("[]", -32_600), ("1", -32_600), ("", -32_700),
  ])
  func whatIsNoCallIsRefused(text: String, code: Int) {
    let error = #expect(throws: RPCError.self) { try RPCRequest(parsing: Array(text.utf8)) }
    #expect(error?.code == code)
  }

  @Test func answersAreWrittenAndRead() throws {
    let success = RPCResponse(.success(19), id: 1)
    #expect(success.json.text == #"{"id":1,"jsonrpc":"2.0","result":19}"#)
    let failure = RPCResponse(.failure(RPCError(.methodNotFound, "Method not found")), id: "1")
    #expect(
      failure.json.text
        == #"{"error":{"code":-32601,"message":"Method not found"},"id":"1","jsonrpc":"2.0"}"#)
    for response in [success, failure] { #expect(RPCResponse(json: response.json) == response) }
    #expect(RPCResponse(json: ["jsonrpc": "2.0", "id": 1]) == nil)
    #expect(RPCResponse(json: ["id": 1, "result": 1]) == nil)
  }
}
