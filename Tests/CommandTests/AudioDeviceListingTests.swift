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

  @Test func destinations() throws {
    #expect(try AudioDestination(nil) == .meter)
    #expect(try AudioDestination("speaker:Jabra") == .speaker("Jabra"))
    #expect(throws: UsageError.self) { try AudioDestination("a.wav") }
  }
}
