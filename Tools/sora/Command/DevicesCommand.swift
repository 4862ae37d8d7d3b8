import ArgumentParser
import Foundation
import SoraCamera
import SoraCommandSupport

/// `sora devices`: the cameras of this machine.
struct DevicesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices",
    abstract: "List the cameras of this machine with their formats, sizes and frame rates.")

  @Flag(help: "Print one JSON object a camera.")
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
    try console.checkOutput()
  }
}
