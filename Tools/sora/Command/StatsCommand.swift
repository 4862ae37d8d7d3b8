import ArgumentParser
import Foundation
import SoraCommandSupport
import SoraSDK

/// `sora stats`: what a connection that receives measures, in W3C's names.
struct StatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract:
      "Receive a channel's streams and print what the connection measures (W3C webrtc-stats).",
    discussion: """
      Prints a report each --interval seconds, until interrupted, for --duration seconds or --count reports; the first comes after one \
      interval. --type shows single types, such as inbound-rtp, candidate-pair, data-channel or transport. With --json a report is \
      one line: an object with elapsedMs and a list of W3C's objects.
      """)

  @OptionGroup var options: ChannelOptions

  @Option(help: ArgumentHelp("Seconds between reports; 1 by default.", valueName: "seconds"))
  var interval = 1.0

  @Option(help: ArgumentHelp("End after so many reports.", valueName: "reports"))
  var count: Int?

  @Option(
    help: ArgumentHelp("Print this type alone; give it again for others.", valueName: "type"),
    completion: .list(Self.types))
  var type: [String] = []

  /// Of W3C's webrtc-stats, those that a connection has here.
  private static let types = [
    "inbound-rtp", "outbound-rtp", "remote-inbound-rtp", "remote-outbound-rtp", "candidate-pair",
    "local-candidate", "remote-candidate", "transport", "certificate", "data-channel", "codec",
    "media-source", "media-playout", "peer-connection",
  ]

  func run() async throws {
    for name in type where !Self.types.contains(name) {
      throw UsageError("--type \(name): use \(Self.types.joined(separator: ", "))")
    }
    guard (0.1...86_400).contains(interval) else {
      throw UsageError("--interval \(interval): use seconds from 0.1 to 86400")
    }
    if let count, count < 1 {
      throw UsageError("--count \(count): use a number of reports from 1")
    }
    let configuration = try options.makeConfiguration(role: .recvonly)
    if let duration = options.duration, duration < interval {
      throw UsageError(
        "--duration \(duration): no report comes before one --interval, \(interval) s; use as much or more"
      )
    }
    let console = Console(isJSON: options.json)
    options.setUpLog(console)
    let call = Call(Interruption())
    call.endOnFailure(of: console)
    let channel: MediaChannel
    do {
      channel = try await call.connect(configuration, telling: console)
    } catch {
      console.note("sora: \(ErrorText.line(error))")
      throw ExitCode(1)
    }
    let error = await watch(call, channel, console)
    await call.disconnect(channel)
    if let error {
      console.note("sora: \(error)")
      throw ExitCode(1)
    }
    try console.checkOutput()
  }

  /// Until enough was told, somebody interrupts, or the channel ends. Returns what went wrong.
  private func watch(_ call: Call, _ channel: MediaChannel, _ console: Console) async -> String? {
    let start = call.elapsedMilliseconds
    var reports = 0
    for await event in call.events {
      switch event {
      case .interrupted, .outputEnded: return nil
      case .ended(let error):
        let undone =
          count.map { "after \(reports) of \($0) reports" }
          ?? options.duration.map { _ in Call.cutDuration }
        let failure = channel.failure(error, undone: undone)
        if failure == nil { console.note("sora: \(channel.endedByServer())") }
        return failure
      case .added, .removed, .named, .displayLost, .reconnecting, .reconnected: break
      case .tick:
        let seconds = Double(call.elapsedMilliseconds - start) / 1_000
        if seconds >= Double(reports + 1) * interval {
          reports += 1
          tell(await channel.statistics(), console, at: call.elapsedMilliseconds)
        }
        if reports == count { return nil }
        if let duration = options.duration, seconds >= duration { return nil }
      }
    }
    return nil
  }

  private func tell(_ statistics: Statistics, _ console: Console, at milliseconds: Int) {
    let wanted = statistics.entries.filter { type.isEmpty || type.contains($0.type) }
    guard options.json else {
      for entry in wanted {
        console.output("\(entry.type) \(entry.id)".printable)
        for (name, value) in entry.values.sorted(by: { $0.key < $1.key }) {
          console.output("  \(name): \(Self.text(value))".printable)
        }
      }
      return console.output("")
    }
    let objects = wanted.map { entry in
      var object: [String: Any] = entry.values
      object["id"] = entry.id
      object["type"] = entry.type
      object["timestamp"] = entry.timestamp
      return object
    }
    let report: [String: Any] = ["elapsedMs": milliseconds, "statistics": objects]
    guard JSONSerialization.isValidJSONObject(report),
      let data = try? JSONSerialization.data(
        withJSONObject: report, options: [.sortedKeys, .withoutEscapingSlashes])
    else { return }
    console.output(String(decoding: data, as: UTF8.self))
  }

  /// A value in one line: of a record, its members.
  private static func text(_ value: NSObject) -> String {
    guard let record = value as? [String: NSNumber] else { return "\(value)" }
    return record.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
      .joined(separator: ", ")
  }
}
