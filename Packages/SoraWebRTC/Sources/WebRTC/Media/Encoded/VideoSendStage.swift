/// What a track's frames go through before they are sent, encoded here or before. Safe from any thread.
package protocol VideoSendStage: AnyObject, Sendable {
  /// Bits per second that the link takes from the next frame on.
  func setTargetBitrate(_ bitsPerSecond: Int)
  /// Other layers' settings, limits or preferences from the next frame on.
  func update(_ configuration: VideoSendConfiguration)
  /// Somebody can't go on without a key frame.
  func requestKeyFrame()
  /// Another stage sends from now on. The next frame of this one is a key frame.
  func rest()
  /// Takes no more frames.
  func stop()
  var statistics: VideoSendStatistics { get }
  /// What the next frame is sent as.
  var currentConfiguration: VideoSendConfiguration { get }
}
