extension Finding {
  /// Dates of a server's certificate.
  ///
  /// - Parameters:
  ///   - notBefore, notAfter, now: in seconds since 1970.
  ///   - isTrusted: nil where nobody asked.
  package static func certificate(
    names: [String], notBefore: Int64, notAfter: Int64, now: Int64, isTrusted: Bool?, host: String
  ) -> Finding {
    let names = names.isEmpty ? "no name" : names.joined(separator: ", ")
    let until = "for \(names), until \(MachineFiles.day(notAfter))"
    guard now >= notBefore else {
      return .fail(
        "certificate", "\(until), not good before \(MachineFiles.day(notBefore))",
        "check this machine's clock, then the certificate")
    }
    guard now <= notAfter else {
      return .fail(
        "certificate", "expired on \(MachineFiles.day(notAfter)) (for \(names))",
        "renew it on the server")
    }
    guard isTrusted != false else {
      return .fail(
        "certificate", "not trusted for \(host) (\(until))",
        "give the file of the authority that signed it with --ca FILE, and connect by a name that is in it"
      )
    }
    guard notAfter - now > 14 * 86_400 else {
      return .warn(
        "certificate", "\(until): \((notAfter - now) / 86_400) days are left",
        "renew it on the server")
    }
    guard isTrusted == true else {
      return .warn(
        "certificate", "\(until); nobody checked who signed it",
        "leave out --insecure, or use --ca FILE")
    }
    return .ok("certificate", until)
  }
}
