import Foundation
import SoraSignaling
import Testing

@Suite struct JSONFoundationTests {
  @Test func convertsThroughCodable() throws {
    struct Metadata: Codable, Equatable {
      var token: String
      var level: Int64
      var ratio: Double
      var tags: [String]
      var flag: Bool
    }
    let metadata = Metadata(
      token: "t", level: 9_007_199_254_740_993, ratio: 0.25, tags: ["a", "b"], flag: true)
    let value = try JSONValue(encoding: metadata)
    #expect(value["level"] == .integer(9_007_199_254_740_993))
    #expect(value["flag"] == true)
    #expect(try value.decode(Metadata.self) == metadata)
    #expect(try JSONValue(encoding: "text") == "text")

    let whole: JSONValue = ["n": nil, "i": 1, "d": 1.5, "b": true, "a": [1, "x"], "o": [:]]
    let data = try JSONEncoder().encode(whole)
    #expect(try JSONDecoder().decode(JSONValue.self, from: data) == whole)
  }

  @Test func convertsThroughFoundationObjects() throws {
    let object: [String: Any] = [
      "s": "text", "one": 1, "zero": NSNumber(value: 0), "yes": true, "no": NSNumber(value: false),
      "d": 1.5, "nd": NSNumber(value: 2.5), "u": UInt64.max, "n": NSNull(), "a": [1, "x", [2.5]],
    ]
    let value = try JSONValue(object: object)
    #expect(
      value == [
        "s": "text", "one": 1, "zero": 0, "yes": true, "no": false, "d": 1.5, "nd": 2.5,
        "u": .unsigned(.max), "n": nil, "a": [1, "x", [2.5]],
      ])
    #expect(try JSONValue(object: value.object) == value)
    let parsed = try JSONSerialization.jsonObject(with: Data(#"{"a":true,"b":1,"c":1.5}"#.utf8))
    #expect(try JSONValue(object: parsed) == ["a": true, "b": 1, "c": 1.5])
    #expect { try JSONValue(object: ["a": [Date()]]) } throws: {
      ($0 as? SignalingError)?.field == "$.a[0]"
    }
  }
}
