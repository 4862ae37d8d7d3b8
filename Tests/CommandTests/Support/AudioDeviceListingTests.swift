import SoraAudioDevices
import SoraCommandSupport
import Testing

@Suite struct AudioDeviceListingTests {
  @Test func aLineForEachDevice() {
    let microphone = AudioDeviceListing(
      AudioDevice(
        id: "usb-1", name: "Desk\u{1B}[31m", direction: .input, system: .pulseAudio,
        isDefault: true, sampleRate: 44_100, channels: 1))
    #expect(microphone.line.hasPrefix("microphone * usb-1  Desk"))
    #expect(microphone.line.hasSuffix("(PulseAudio, 44100 Hz, 1 channel)"))
    #expect(!microphone.line.contains("\u{1B}"))
    #expect(microphone.jsonLine.contains(#""type":"microphone""#))
    let speaker = AudioDeviceListing(
      AudioDevice(id: "hw:0", name: "hw:0", direction: .output, system: .alsa))
    #expect(speaker.line == "speaker      hw:0  (ALSA)")
  }

  /// As when the last publisher goes and another comes.
  @Test func aDeviceThatIsOpenedAgainGoesOnCounting() throws {
    var tally = Report.AudioDevice.Tally()
    #expect(tally.total == nil)
    var statistics = AudioStreamStatistics()
    for (samples, overruns) in [(480, 1), (48_000, 2), (960, 0), (48_000, 5)] {
      statistics.samples = samples
      statistics.overruns = overruns
      tally.add(statistics, underruns: overruns + 1)
    }
    let total = try #require(tally.total)
    #expect(total.overruns == 7)
    #expect(total.underruns == 9)
    #expect(total.voice == nil)
  }

  @Test func destinations() throws {
    #expect(try AudioDestination(nil) == .meter)
    #expect(try AudioDestination("speaker:Jabra") == .speaker("Jabra"))
    #expect(throws: UsageError.self) { try AudioDestination("a.wav") }
  }
}
