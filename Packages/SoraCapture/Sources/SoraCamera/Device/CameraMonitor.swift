import CSoraV4L2
public import Dispatch

/// Tells of cameras that are plugged in and out.
public final class CameraMonitor: Sendable {
  private let cancel: @Sendable () -> Void

  /// Watches until it is released.
  ///
  /// - Parameters:
  ///   - queue: where `changed` runs.
  ///   - changed: gets all cameras of the machine after each change of them.
  /// - Throws: `CameraError.system` where the kernel doesn't let it watch.
  public convenience init(
    queue: DispatchQueue, changed: @escaping @Sendable ([CameraDevice]) -> Void
  ) throws(CameraError) {
    try self.init(folder: "/dev", queue: queue, list: { CameraDevice.all }, changed: changed)
  }

  package init(
    folder: String, queue: DispatchQueue, list: @escaping @Sendable () -> [CameraDevice],
    changed: @escaping @Sendable ([CameraDevice]) -> Void
  ) throws(CameraError) {
    var watch: Int32 = -1
    let code = unsafe sora_v4l2_watch(folder, &watch)
    guard code == 0 else {
      throw .system(operation: "watching", path: folder, code: code)
    }
    let known = Known(list())
    let source = DispatchSource.makeReadSource(fileDescriptor: watch, queue: queue)
    source.setEventHandler { [watch] in
      // Permissions come after the file itself, in an event of their own: what is there by then is found at each of them.
      guard unsafe sora_v4l2_watched(watch, "video") != 0 else { return }
      if let cameras = known.update(list()) { changed(cameras) }
    }
    source.setCancelHandler { [watch] in sora_v4l2_close(watch) }
    source.activate()
    let held = Held(source)
    cancel = { held.source.cancel() }
  }

  deinit { cancel() }

  private struct Held: @unchecked Sendable {
    // @unchecked: Dispatch lets any thread cancel a source.
    let source: any DispatchSourceRead

    init(_ source: any DispatchSourceRead) { self.source = source }
  }

  /// The cameras that were there last. Confined to the monitor's queue.
  private final class Known: @unchecked Sendable {
    // @unchecked: after `init` only the source's handler touches it, on its queue.
    private var cameras: [CameraDevice]

    init(_ cameras: [CameraDevice]) { self.cameras = cameras }

    func update(_ now: [CameraDevice]) -> [CameraDevice]? {
      guard now != cameras else { return nil }
      cameras = now
      return now
    }
  }
}
