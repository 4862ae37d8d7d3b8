import SoraAudioDevices
import SoraClock
import SoraMedia
import SoundServer
import Testing

/// Streams over a sound server whose clock isn't the machine's.
@Suite(
  .enabled(if: SoundServer.isInstalled, "\(SoundServer.requirement)"), .timeLimit(.minutes(3)))
struct PulseClockTests {
  /// The server's own second isn't exact: where a null sink's blocks aren't whole microseconds, it rounds them down and runs 100 to 200
  /// ppm faster than it was told. So what the streams say is compared with the samples counted here.
  @Test(arguments: [
    (samplesPerSecond: 48_010, sign: -1.0), (samplesPerSecond: 47_980, sign: 1),
  ])
  func driftIsMadeUpFor(_ samplesPerSecond: Int, _ sign: Double) async throws {
    let server = try SoundServer()
    let backend = PulseBackend(server: server.address, nominalRate: samplesPerSecond)
    let heard = Heard()
    let monitor = try server.backend.devices().device(named: "t.monitor", .input)
    let capture = try AudioCapture(
      backend, monitor, channels: 1, deliver: { heard.add($0) }, notify: { _ in })
    let playback = try player(backend)
    var clock = CountedClock()
    await wait {
      clock.add(capture.statistics.samples)
      guard let counted = clock.driftPPM, counted * sign > 150 else { return false }
      return [capture.statistics.driftPPM, playback.statistics.driftPPM].allSatisfy {
        $0 * sign > 150 && abs($0 - counted) < 100
      }
    }
    let (input, output) = (capture.statistics, playback.statistics)
    print("drift: counted \(clock.driftPPM ?? 0), in \(input.driftPPM), out \(output.driftPPM) ppm")
    #expect(!Task.isCancelled, "what the streams say isn't what was counted")
    #expect(input.resets == 0 && output.resets == 0)
    // The samples are still those of a tone, a hundredth of a percent or two higher or lower.
    heard.clear()
    await wait { heard.hears(440) }
    playback.stop()
    capture.stop()
  }
}

/// How much slower than the machine's clock a device of 48 kHz is, by a straight line through the last 30 s of what it gave.
private struct CountedClock {
  private static let interval = Duration.milliseconds(100)
  private static let window = 300

  private var points: [(seconds: Double, samples: Double)] = []
  private var last: Instant?
  private let start = SystemClock.now

  /// Takes what the device has given since it was opened.
  mutating func add(_ samples: Int) {
    let now = SystemClock.now
    // The first seconds have what the server held before.
    guard now - start > .seconds(3), last.map({ now - $0 >= Self.interval }) ?? true else { return }
    last = now
    points.append(((now - start).inSeconds, Double(samples)))
    if points.count > Self.window { points.removeFirst() }
  }

  /// nil before there is half a window.
  var driftPPM: Double? {
    guard points.count > Self.window / 2 else { return nil }
    let count = Double(points.count)
    let mean = (
      points.reduce(0) { $0 + $1.seconds } / count, points.reduce(0) { $0 + $1.samples } / count
    )
    var (product, square) = (0.0, 0.0)
    for point in points {
      product += (point.seconds - mean.0) * (point.samples - mean.1)
      square += (point.seconds - mean.0) * (point.seconds - mean.0)
    }
    return (1 - product / square / 48_000) * 1e6
  }
}
