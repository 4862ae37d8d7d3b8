import Foundation

/// What one check of `sora doctor` found.
package struct Finding: Encodable, Equatable, Sendable {
  package enum State: String, Encodable, Sendable, CaseIterable {
    case ok
    /// Something may be missing; what is asked for may work all the same.
    case warn
    case fail
  }

  package private(set) var type = "check"
  /// What was checked, in one word or two.
  package var check: String
  package var state: State
  /// What was found.
  package var detail: String
  /// What to do about it; nil where nothing is to be done.
  package var advice: String?

  package static func ok(_ check: String, _ detail: String) -> Finding {
    Finding(check: check, state: .ok, detail: detail)
  }

  package static func warn(_ check: String, _ detail: String, _ advice: String) -> Finding {
    Finding(check: check, state: .warn, detail: detail, advice: advice)
  }

  package static func fail(_ check: String, _ detail: String, _ advice: String) -> Finding {
    Finding(check: check, state: .fail, detail: detail, advice: advice)
  }

  /// The lines of the table: the second, where there is one, says what to do.
  ///
  /// - Parameter isColored: for a terminal.
  package func lines(isColored: Bool = false) -> [String] {
    let color = [State.ok: "32", .warn: "33", .fail: "31"][state] ?? "0"
    let word = state.rawValue.padding(toLength: 4, withPad: " ", startingAt: 0)
    let shown = isColored ? "\u{1B}[\(color)m\(word)\u{1B}[0m" : word
    let name = check.padding(toLength: 12, withPad: " ", startingAt: 0)
    let first = "\(shown)  \(name)  \(detail.inOneLine)"
    return [first]
      + (advice.map { [String(repeating: " ", count: 20) + "-> \($0.inOneLine)"] } ?? [])
  }
}

/// How the checks of one run went together.
package struct FindingCounts: Encodable, Equatable, Sendable {
  package private(set) var type = "summary"
  package private(set) var ok = 0
  package private(set) var warn = 0
  package private(set) var fail = 0

  package init() {}

  package mutating func add(_ finding: Finding) {
    switch finding.state {
    case .ok: ok += 1
    case .warn: warn += 1
    case .fail: fail += 1
    }
  }

  package var line: String {
    "\(ok) ok, \(warn) \(warn == 1 ? "warning" : "warnings"), \(fail) failed"
  }
}
