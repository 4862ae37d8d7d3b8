import SoraCommandSupport

/// What failed for good while a call ran, and didn't end it: a camera, a screen, a sound device, a display. Each is told once.
struct CallFaults {
  private var known: [String] = []

  /// All of them in one line; nil where nothing failed.
  var line: String? { known.isEmpty ? nil : known.joined(separator: "; ") }

  /// Takes a fault, in one line, and tells it where it is new.
  ///
  /// - Parameter isTold: whether a person has been told already.
  mutating func add(_ fault: String?, isTold: Bool = false, _ console: Console) {
    guard let fault, !known.contains(fault) else { return }
    known.append(fault)
    if !isTold { console.note("sora: \(fault)") }
  }
}
