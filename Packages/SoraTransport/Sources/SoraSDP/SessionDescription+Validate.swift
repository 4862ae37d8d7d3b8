extension SessionDescription {
  /// Checks the values of all attributes that this module knows.
  ///
  /// Parsing alone keeps malformed values and typed views skip them; whoever is about to act on a description
  /// calls this first, so that a fault is named with its line and not met later as something missing.
  public func validate() throws(SDPError) {
    if firstLine("o") != nil, origin == nil {
      let index = lines.firstIndex { $0.type == UInt8(ascii: "o") } ?? 0
      throw SDPError(
        .malformedAttribute("o="), line: index + 1, text: lines[index].text,
        advice: "Write 'o=- <id> <version> IN IP4 127.0.0.1'.")
    }
    for (offset, line) in lines.enumerated() {
      try SessionDescription.check(line, number: offset + 1)
    }
    var number = lines.count
    for section in media {
      number += 1
      for line in section.lines {
        number += 1
        try SessionDescription.check(line, number: number)
      }
    }
  }

  private static func check(_ line: SDPLine, number: Int) throws(SDPError) {
    if line.type == UInt8(ascii: "b") {
      if SDPBandwidth(parsing: line.value ?? "") == nil {
        throw SDPError(
          .malformedAttribute("b="), line: number, text: line.text,
          advice: "Write 'b=AS:<kbit/s>' or 'b=TIAS:<bit/s>'.")
      }
      return
    }
    guard line.isAttribute, let form = form(line.name, line.value ?? "") else { return }
    throw SDPError(
      .malformedAttribute("a=" + line.name), line: number, text: line.text,
      advice: "Write 'a=\(line.name):\(form)'.")
  }

  /// nil where the value is right or the attribute unknown; else the form it should have.
  private static func form(_ name: String, _ value: String) -> String? {
    switch name {
    case "mid":
      SDPText.words(value).count == 1 ? nil : "<token without spaces>"
    case "ice-ufrag":
      (4...256).contains(value.utf8.count) && !value.utf8.contains(32)
        ? nil : "<4 to 256 characters>"
    case "ice-pwd":
      (22...256).contains(value.utf8.count) && !value.utf8.contains(32)
        ? nil : "<22 to 256 characters>"
    case "fingerprint":
      SDPFingerprint(parsing: value) != nil ? nil : "sha-256 <hexadecimal bytes with colons>"
    case "setup": SDPSetup(rawValue: value) != nil ? nil : "actpass, active or passive"
    case "rtpmap":
      SDPRTPMap(parsing: value) != nil ? nil : "<payload type 0-127> <name>/<clock>[/<channels>]"
    case "fmtp": SDPFormatParameters(parsing: value) != nil ? nil : "<format> <key>=<value>;..."
    case "rtcp-fb": SDPFeedback(parsing: value) != nil ? nil : "<payload type or *> <kind>"
    case "extmap": SDPExtension(parsing: value) != nil ? nil : "<id>[/<direction>] <URI>"
    case "msid": SDPMsid(parsing: value) != nil ? nil : "<stream id> <track id>"
    case "ssrc": SDPSource(parsing: value) != nil ? nil : "<number> <attribute>:<value>"
    case "ssrc-group": SDPSourceGroup(parsing: value) != nil ? nil : "<semantics> <numbers>"
    case "rid": SDPRid(parsing: value) != nil ? nil : "<id> send|recv [restrictions]"
    case "simulcast":
      SDPSimulcast(parsing: value) != nil ? nil : "send <rid>;<rid> or recv <rid>;<rid>"
    case "group": SDPGroup(parsing: value) != nil ? nil : "BUNDLE <mids>"
    case "sctp-port":
      (SDPText.decimal(value[...]) as UInt16?) != nil ? nil : "<port 0-65535>"
    case "max-message-size":
      (SDPText.decimal(value[...]) as UInt64?) != nil ? nil : "<bytes>"
    default: nil
    }
  }
}
