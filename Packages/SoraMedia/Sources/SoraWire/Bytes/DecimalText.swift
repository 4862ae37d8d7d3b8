/// Reads one to ten ASCII digits; `nil` for anything else or a value above `limit`.
public func decimal(_ text: some Collection<UInt8>, limit: UInt64) -> UInt64? {
  guard !text.isEmpty, text.count <= 10 else { return nil }
  var value: UInt64 = 0
  for character in text {
    guard character >= UInt8(ascii: "0"), character <= UInt8(ascii: "9") else { return nil }
    value = value * 10 + UInt64(character - UInt8(ascii: "0"))
  }
  return value <= limit ? value : nil
}
