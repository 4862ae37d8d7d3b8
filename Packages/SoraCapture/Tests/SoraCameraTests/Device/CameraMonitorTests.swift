import Foundation
import SoraCamera
import Synchronization
import Testing

@Suite struct CameraMonitorTests {
  @Test(.timeLimit(.minutes(5))) func changesAreToldOnce() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-cameras-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let changes = Mutex<[[String]]>([])
    let list: @Sendable () -> [CameraDevice] = {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      return names.filter { $0.hasPrefix("video") }.sorted().map {
        CameraDevice(path: $0, name: $0, bus: "", driver: "")
      }
    }
    let monitor = try CameraMonitor(
      folder: folder.path, queue: DispatchQueue(label: "test"), list: list,
      changed: { cameras in changes.withLock { $0.append(cameras.map(\.path)) } })
    func wait(for last: [String]) {
      pause(while: changes.withLock({ $0.last }) != last)
    }
    let file = folder.appendingPathComponent("video0")
    try Data().write(to: folder.appendingPathComponent("audio0"))
    try Data().write(to: file)
    wait(for: ["video0"])
    try FileManager.default.removeItem(at: file)
    wait(for: [])
    #expect(changes.withLock { $0.count } == 2)
    withExtendedLifetime(monitor) {}
  }

  @Test func aFolderThatIsntThereIsAnError() {
    #expect(throws: CameraError.self) {
      try CameraMonitor(
        folder: "/nowhere", queue: DispatchQueue(label: "test"), list: { [] }, changed: { _ in })
    }
    #expect(throws: CameraError.noDevice(path: "/dev/video-99")) {
      try CameraDevice(path: "/dev/video-99")
    }
    #expect(throws: CameraError.notACamera(path: "/dev/null")) {
      try CameraDevice(path: "/dev/null")
    }
  }
}
