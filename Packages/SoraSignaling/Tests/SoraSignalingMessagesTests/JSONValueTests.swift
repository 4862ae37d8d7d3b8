import SoraSignalingMessages
import Testing

@Suite struct JSONValueTests {
  @Test(arguments: [
    ("null", JSONValue.null), (" true ", true), ("-0", .double(-0.0)), ("0", 0),
    ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
    ("18446744073709551615", .unsigned(.max)), ("18446744073709551616", .double(0x1p64)),
    ("1.5e3", .double(1500)), ("9007199254740993", .integer(9_007_199_254_740_993)),
    (#""\ud83d\ude00\n\u0000\/""#, .string("😀\n\u{0}/")), (#""\ud800x""#, .string("\u{FFFD}x")),
    (#""\ud800\u0041""#, .string("\u{FFFD}A")), ("[]", .array([])), ("{ }", .object([:])),
    (#"{"a":[1,{"b":null}],"a":2}"#, .object(["a": 2])),
  ])
  func reads(text: String, value: JSONValue) throws {
    #expect(try JSONValue(parsing: text) == value)
    #expect(try JSONValue(parsing: value.text) == value)
  }

  @Test(arguments: [
    "", " ", "tru", "nul", "01", "1.", ".5", "+1", "1e", "-", "NaN", "1e400", "[1,]", "[1", "{",
    #"{"a"}"#, #"{"a":}"#, #"{a:1}"#, #"{"a":1,}"#, "'a'", #""\x""#, #""\u12g4""#, #""\u12"#,
    "\"a\nb\"", "\"", "1 2", "{}x", "\u{FEFF}{}",
  ])
  func refuses(text: String) {
    #expect { try JSONValue(parsing: text) } throws: {
      ($0 as? SignalingError)?.code == .malformedJSON
    }
  }

  @Test func refusesInvalidUTF8() {
    #expect(throws: SignalingError.self) { try JSONValue(parsing: [0x22, 0xC3, 0x28, 0x22]) }
  }

  @Test func boundsDepthAndSize() throws {
    let deepest = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
    _ = try JSONValue(parsing: deepest)
    #expect { try JSONValue(parsing: "[" + deepest + "]") } throws: {
      ($0 as? SignalingError)?.code == .tooDeep
    }
    #expect { try JSONValue(parsing: String(repeating: "[", count: 1 << 20)) } throws: {
      ($0 as? SignalingError)?.code == .tooDeep
    }
    #expect { try JSONValue(parsing: String(repeating: " ", count: 1 << 20) + "1") } throws: {
      ($0 as? SignalingError)?.code == .tooLarge
    }
  }

  @Test func escapesWhatItMust() {
    #expect(JSONValue.string("\"\\\n\u{1}é/").text == #""\"\\\n\u0001é/""#)
    #expect(JSONValue.double(.nan).text == "null")
    #expect((["b": 1, "a": [true, nil]] as JSONValue).text == #"{"a":[true,null],"b":1}"#)
  }
}
