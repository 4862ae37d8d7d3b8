import ArgumentParser
import Foundation
import SoraAudioDevices
import SoraCamera
import SoraCommandSupport
import SoraScreen

/// `sora devices`: the cameras, screens and sound devices of this machine.
struct DevicesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices",
    abstract:
      "List the cameras of this machine with their formats, sizes and frame rates, its screens, windows and sound devices.",
    discussion:
      "A star marks the screen, the microphone and the speaker that are used where none is named.")

  @Flag(help: "Print one JSON object a device.")
  var json = false

  @Flag(help: "List what can be set on each camera, too.")
  var controls = false

  func run() throws {
    let console = Console(isJSON: json)
    let cameras = CameraDevice.all.map { CameraListing($0, withControls: controls) }
    if cameras.isEmpty, !json { console.output("no cameras") }
    for (index, camera) in cameras.enumerated() {
      if json {
        console.output(camera.jsonLine)
      } else {
        if index > 0 { console.output("") }
        for line in camera.lines { console.output(line) }
      }
    }
    listScreens(console)
    listSound(console)
    try console.checkOutput()
  }

  private func listScreens(_ console: Console) {
    if !json { console.output("") }
    do throws(ScreenError) {
      let screens = try ScreenDevice.all().map { ScreenListing($0) }
      for listing in screens + (try ScreenWindow.all().map { ScreenListing($0) }) {
        console.output(json ? listing.jsonLine : listing.line)
      }
    } catch {
      // Most servers have none.
      if !json { console.output("\(error)".inOneLine) }
    }
    do throws(ScreenError) {
      guard let listing = PortalListing(try PortalScreen.offered()) else { return }
      console.output(json ? listing.jsonLine : listing.line)
    } catch {
      // Nor has X11 any.
      if !json { console.output("\(error)".inOneLine) }
    }
  }

  private func listSound(_ console: Console) {
    if !json { console.output("") }
    do throws(AudioDeviceError) {
      for device in try AudioDevice.all() {
        let listing = AudioDeviceListing(device)
        console.output(json ? listing.jsonLine : listing.line)
      }
    } catch {
      // A machine without sound is no failure of the command's.
      if !json { console.output("\(error)".inOneLine) }
    }
  }
}
