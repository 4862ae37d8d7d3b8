import Foundation
import SoraAudio
import SoraMedia
import SoraRTP

// One point of the audio scorecard: encodes speech, has a seeded network lose and delay its packets, writes what arrives when, and
// plays that through our jitter buffer in virtual time.

let usage = """
  usage: AudioTrace SPEECH.wav [--loss SHARE] [--burst PACKETS] [--jitter MS] [--fec] [--red COPIES] [--seed N]
                    [--trace FILE] [--output FILE.wav]

  """

var arguments = Arguments(words: Array(CommandLine.arguments.dropFirst()))
let network = SpeechNetwork(
  loss: arguments.number("--loss", 0), burst: arguments.number("--burst", 1),
  jitter: arguments.number("--jitter", 0),
  seed: arguments.number("--seed", 1))
let coding = SpeechCoding(hasFEC: arguments.flag("--fec"), copies: arguments.number("--red", 0))
let traceFile = arguments.value("--trace")
let outputFile = arguments.value("--output")
guard arguments.words.count == 1, (0..<1).contains(network.loss), network.burst >= 1,
  network.jitter >= 0
else { fail(usage) }

do {
  let packets = try coding.encode(path: arguments.words[0], expectedLoss: network.loss)
  let arrivals = network.carry(packets)
  if let traceFile {
    try Data(Arrival.write(arrivals)).write(to: URL(fileURLWithPath: traceFile))
  }
  let share = 1 - Double(arrivals.count) / Double(max(1, packets.count))
  print("packets \(packets.count)")
  print("lost \(share)")
  if let outputFile {
    let statistics = try play(arrivals, packets: packets.count, into: outputFile)
    print(
      "concealed \(Double(statistics.concealedSamples) / Double(statistics.totalSamplesReceived))")
    print("restored \(statistics.fecPacketsUsed)")
    print("late \(statistics.packetsLate)")
    print(
      "stretched \(statistics.insertedSamplesForDeceleration) \(statistics.removedSamplesForAcceleration)"
    )
  }
} catch { fail("\(error)") }
