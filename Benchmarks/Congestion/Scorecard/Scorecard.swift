import CongestionScenarios
import Foundation

/// One line of the table of cases: means over the seeds.
struct CaseRow {
  let scenario: Scenario
  let outcomes: [Outcome]

  static let head = [
    "case", "of", "used", "wait p50", "wait p95", "loss", "90 % of a step", "Jain", "media's share",
  ]

  var cells: [String] {
    [
      scenario.name, scenario.origin, percent(mean { $0.utilisation }),
      milliseconds(mean { $0.delay(0.5) }), milliseconds(mean { $0.delay(0.95) }),
      String(format: "%.2f %%", 100 * (mean { $0.loss } ?? 0)),
      mean { $0.stepTime }.map { String(format: "%.1f s", $0) } ?? "",
      mean { $0.fairness }.map { String(format: "%.3f", $0) } ?? "",
      mean { $0.mediaShare }.map { percent($0) } ?? "",
    ]
  }

  private func mean(_ figure: (Outcome) -> Double?) -> Double? {
    let figures = outcomes.compactMap(figure)
    return figures.isEmpty ? nil : figures.reduce(0, +) / Double(figures.count)
  }

  private func percent(_ share: Double?) -> String { String(format: "%.0f %%", 100 * (share ?? 0)) }

  private func milliseconds(_ time: Double?) -> String { String(format: "%.0f ms", time ?? 0) }
}

/// One line of the table of goals: the worst of the seeds decides.
struct GoalRow {
  let name: String
  let bound: String
  let verdicts: [Goal.Verdict]

  static let head = ["goal", "bound", "by seed", ""]

  var isMet: Bool { verdicts.allSatisfy(\.isMet) }

  var cells: [String] {
    let unit = verdicts.first?.unit ?? ""
    let figures = verdicts.map {
      String(format: unit == "%" || unit == "ms" ? "%.0f" : "%.2f", $0.figure)
    }
    return [name, bound, figures.joined(separator: ", ") + " " + unit, isMet ? "pass" : "miss"]
  }
}

/// A table in Markdown, its columns aligned.
func table(_ head: [String], _ rows: [[String]]) -> String {
  var widths = head.map(\.count)
  for row in rows {
    for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.count) }
  }
  func line(_ cells: [String]) -> String {
    let padded = zip(cells, widths).map { cell, width in
      cell + String(repeating: " ", count: max(0, width - cell.count))
    }
    return "| " + padded.joined(separator: " | ") + " |"
  }
  let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
  return ([line(head), rule] + rows.map(line)).joined(separator: "\n")
}

/// Writes the tables into a document, between the marks that it has for them.
func replaceTables(in path: String, _ goals: [GoalRow], _ cases: [CaseRow], _ seeds: UInt64) throws
{
  var text = try String(contentsOfFile: path, encoding: .utf8)
  let parts = [
    (
      "seeds", "Seeds 1 to \(seeds); every figure is of virtual time, and the same on each machine."
    ),
    ("goals", table(GoalRow.head, goals.map(\.cells))),
    ("cases", table(CaseRow.head, cases.map(\.cells))),
  ]
  for (name, content) in parts {
    guard let start = text.range(of: "<!-- scorecard: \(name) -->\n"),
      let end = text.range(
        of: "<!-- end -->", range: start.upperBound..<text.endIndex)
    else { continue }
    text.replaceSubrange(start.upperBound..<end.lowerBound, with: content + "\n")
  }
  try text.write(toFile: path, atomically: true, encoding: .utf8)
}
