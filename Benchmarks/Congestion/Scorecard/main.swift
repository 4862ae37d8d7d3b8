// How well congestion control does: the project's goals, and the test cases of RFC 8867 and RFC 8869, in virtual time.
// `SCORECARD_SEEDS` is 10, how many runs there are of each; `SCORECARD_ONLY`, a part of a name, narrows it; `SCORECARD_FILE` is where
// the tables go besides; with `SCORECARD_SHORT` there are the goals alone, with one seed. `SCORECARD_SERIES` prints one run of what
// `SCORECARD_ONLY` names instead, ten lines per second, of the seed `SCORECARD_SEEDS`.
import CongestionScenarios
import Foundation

let environment = ProcessInfo.processInfo.environment
let isShort = environment["SCORECARD_SHORT"] != nil
let seeds = UInt64(max(1, environment["SCORECARD_SEEDS"].flatMap(Int.init) ?? (isShort ? 1 : 10)))
let only = environment["SCORECARD_ONLY"]

func isWanted(_ name: String) -> Bool { only.map { name.contains($0) } ?? true }

/// What was sent, what arrived, the estimate (kbit/s) and the queue (ms), flow by flow.
func printSeries(_ outcome: Outcome) {
  let flows = outcome.flows.map { outcome.series(of: $0) }
  for tick in flows[0].indices {
    let cells = flows.map { flow in
      let point = flow[tick]
      return String(
        format: "%7.0f %7.0f %7.0f %5.0f", point.sent, point.received, point.estimate, point.queue)
    }
    print(String(format: "%6.1f", Double(tick) / 10), cells.joined(separator: " |"))
  }
}

func progress(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

if environment["SCORECARD_SERIES"] != nil {
  let scenarios =
    Goal.all.filter { isWanted($0.name) }.map(\.scenario)
    + (RFC8867.all + RFC8869.all).filter { isWanted($0.origin + " " + $0.name) }
  for scenario in scenarios { printSeries(try scenario.run(seed: seeds)) }
  exit(0)
}

var goals: [GoalRow] = []
for goal in Goal.all where isWanted(goal.name) {
  let verdicts = try (1...seeds).map { goal.verdict(try goal.scenario.run(seed: $0)) }
  goals.append(GoalRow(name: goal.name, bound: goal.bound, verdicts: verdicts))
  progress(goals.last!.cells.joined(separator: "; "))
}
var cases: [CaseRow] = []
for scenario in isShort ? [] : RFC8867.all + RFC8869.all
where isWanted(scenario.origin + " " + scenario.name) {
  let outcomes = try (1...seeds).map { try scenario.run(seed: $0) }
  cases.append(CaseRow(scenario: scenario, outcomes: outcomes))
  progress(cases.last!.cells.joined(separator: "; "))
}

var text = table(GoalRow.head, goals.map(\.cells))
if !cases.isEmpty { text += "\n\n" + table(CaseRow.head, cases.map(\.cells)) }
print(text)
if let file = environment["SCORECARD_FILE"] { try replaceTables(in: file, goals, cases, seeds) }
