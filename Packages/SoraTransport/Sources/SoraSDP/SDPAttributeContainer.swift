/// What the session part and a media section have in common: lines with attributes.
///
/// A getter reads the first fitting line and skips malformed ones. A setter rewrites the first line in place
/// and removes its repetitions; what wasn't there is appended; nil removes.
public protocol SDPAttributeContainer {
  var lines: [SDPLine] { get set }
}

extension SDPAttributeContainer {
  // MARK: Any attribute

  /// The value of the first attribute of this name; nil where it is absent or has no value.
  public func attribute(_ name: String) -> String? {
    lines.first { $0.isAttribute && $0.name == name }?.value
  }

  /// The values of all attributes of this name, in order.
  public func attributes(_ name: String) -> [String] {
    lines.compactMap { $0.isAttribute && $0.name == name ? $0.value : nil }
  }

  /// Sets, or with nil removes, an attribute that has a value.
  public mutating func setAttribute(_ name: String, _ value: String?) {
    setAttributes(name, value.map { [$0] } ?? [])
  }

  /// Replaces all attributes of this name, from where the first of them was.
  public mutating func setAttributes(_ name: String, _ values: [String]) {
    let position = lines.firstIndex { $0.isAttribute && $0.name == name } ?? lines.count
    let isOld = { (line: SDPLine) in line.isAttribute && line.name == name }
    lines.removeAll(where: isOld)
    lines.insert(
      contentsOf: values.map { SDPLine(attribute: name, value: $0) },
      at: min(position, lines.count))
  }

  /// Whether the attribute is there, with or without a value.
  public func hasFlag(_ name: String) -> Bool {
    lines.contains { $0.isAttribute && $0.name == name }
  }

  /// Adds or removes an attribute without a value.
  public mutating func setFlag(_ name: String, _ present: Bool) {
    if !present {
      lines.removeAll { $0.isAttribute && $0.name == name }
    } else if !hasFlag(name) {
      lines.append(SDPLine(attribute: name))
    }
  }

  /// All well-formed values of an attribute, in order.
  public func values<Value: SDPAttributeValue>(of type: Value.Type) -> [Value] {
    lines.compactMap { line in
      guard line.isAttribute, line.name == Value.attributeName, let text = line.value else {
        return nil
      }
      return Value(parsing: text)
    }
  }

  /// The first well-formed value of an attribute.
  public func value<Value: SDPAttributeValue>(of type: Value.Type) -> Value? {
    for line in lines where line.isAttribute && line.name == Value.attributeName {
      if let text = line.value, let value = Value(parsing: text) { return value }
    }
    return nil
  }

  /// Replaces all values of an attribute.
  public mutating func setValues<Value: SDPAttributeValue>(_ values: [Value]) {
    setAttributes(Value.attributeName, values.map(\.attributeValue))
  }

  // MARK: Building

  /// Appends an attribute.
  public mutating func append(_ value: some SDPAttributeValue) {
    lines.append(
      SDPLine(attribute: type(of: value).attributeName, value: value.attributeValue))
  }

  /// Appends `a=name` or `a=name:value`.
  public mutating func append(attribute name: String, _ value: String? = nil) {
    lines.append(SDPLine(attribute: name, value: value))
  }

  // MARK: Transport (RFC 8839 §5, RFC 8122 §5, RFC 8842)

  /// `a=ice-ufrag`.
  public var iceUfrag: String? {
    get { attribute("ice-ufrag") }
    set { setAttribute("ice-ufrag", newValue) }
  }

  /// `a=ice-pwd`.
  public var icePassword: String? {
    get { attribute("ice-pwd") }
    set { setAttribute("ice-pwd", newValue) }
  }

  /// The words of `a=ice-options`, for example `trickle`.
  public var iceOptions: [String] {
    get { attribute("ice-options").map { SDPText.words($0).map(String.init) } ?? [] }
    set {
      setAttribute("ice-options", newValue.isEmpty ? nil : newValue.joined(separator: " "))
    }
  }

  /// All fingerprints; a certificate that matches one of them is right (RFC 8122 §5).
  public var fingerprints: [SDPFingerprint] {
    get { values(of: SDPFingerprint.self) }
    set { setValues(newValue) }
  }

  /// `a=setup` (RFC 4145 §4).
  public var setup: SDPSetup? {
    get { attribute("setup").flatMap { SDPSetup(rawValue: $0) } }
    set { setAttribute("setup", newValue?.rawValue) }
  }

  /// `a=candidate` values, each with its leading `candidate:` and without `a=`.
  public var candidates: [String] {
    get { attributes("candidate").map { "candidate:" + $0 } }
    set {
      setAttributes(
        "candidate",
        newValue.map { $0.hasPrefix("candidate:") ? String($0.dropFirst(10)) : $0 })
    }
  }

  /// `a=end-of-candidates` (RFC 8840 §8.2).
  public var endOfCandidates: Bool {
    get { hasFlag("end-of-candidates") }
    set { setFlag("end-of-candidates", newValue) }
  }

  // MARK: RTP

  /// `a=sendrecv` and its kin; nil where none is written.
  public var explicitDirection: MediaDirection? {
    for line in lines where line.isAttribute && line.value == nil {
      if let direction = MediaDirection(rawValue: line.name) { return direction }
    }
    return nil
  }

  /// Header extensions (RFC 8285 §8).
  public var extensions: [SDPExtension] {
    get { values(of: SDPExtension.self) }
    set { setValues(newValue) }
  }

  /// `a=extmap-allow-mixed` (RFC 8285 §6).
  public var allowsMixedExtensions: Bool {
    get { hasFlag("extmap-allow-mixed") }
    set { setFlag("extmap-allow-mixed", newValue) }
  }

  /// `b=` lines, in order.
  public var bandwidths: [SDPBandwidth] {
    lines.compactMap { line in
      line.type == UInt8(ascii: "b") ? line.value.flatMap { SDPBandwidth(parsing: $0) } : nil
    }
  }

  /// The limit in bits per second that `b=TIAS` or, failing that, `b=AS` sets; nil without one.
  public var maximumBitrate: Int? {
    let all = bandwidths
    if let tias = all.first(where: { $0.modifier == "TIAS" }) { return tias.value }
    guard let kilobits = all.first(where: { $0.modifier == "AS" })?.value else { return nil }
    return kilobits.multipliedReportingOverflow(by: 1000).overflow ? Int.max : kilobits * 1000
  }

  /// Sets, or with nil removes, one `b=` line. `value` is in the modifier's own unit (AS: kbit/s, TIAS: bit/s).
  public mutating func setBandwidth(_ modifier: String, _ value: Int?) {
    let isOld = { (line: SDPLine) in
      line.type == UInt8(ascii: "b") && (line.value ?? "").hasPrefix(modifier + ":")
    }
    let old = lines.firstIndex(where: isOld)
    lines.removeAll(where: isOld)
    guard let value else { return }
    let line = SDPLine(
      type: "b", value: SDPBandwidth(modifier: modifier, value: value).description)
    lines.insert(line, at: min(old ?? position(after: "vosiuepcb"), lines.count))
  }

  // MARK: Lines that are not attributes

  /// The value of the first line of this type.
  public func firstLine(_ type: Unicode.Scalar) -> String? {
    let byte = UInt8(truncatingIfNeeded: type.value)
    return lines.first { $0.type == byte }?.value
  }

  mutating func setLine(_ type: Unicode.Scalar, _ value: String?, after: String) {
    let byte = UInt8(truncatingIfNeeded: type.value)
    let old = lines.firstIndex { $0.type == byte }
    lines.removeAll { $0.type == byte }
    guard let value else { return }
    lines.insert(SDPLine(type: type, value: value), at: old ?? position(after: after))
  }

  /// The index behind the run of lines at the beginning whose types are all in `types`.
  private func position(after types: String) -> Int {
    let letters = Set(types.utf8)
    return lines.firstIndex { !letters.contains($0.type) } ?? lines.count
  }
}
