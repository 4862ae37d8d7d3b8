public import SoraCongestion
public import SoraMedia
public import WebRTC

// What an app needs of the modules below to send and take media of its own, so that `import Sora` is enough. None of these names
// means two things to an app that imports those modules as well.

/// A picture in memory.
public typealias PixelBuffer = SoraMedia.PixelBuffer
/// One frame with its time, as sinks take it. `VideoFrame.init(_:)` makes one for renderers and filters of it.
public typealias RawVideoFrame = SoraMedia.RawVideoFrame
/// How a frame is to be turned before it is shown.
public typealias VideoRotation = SoraMedia.VideoRotation
/// A piece of sound: linear PCM.
public typealias AudioFrame = SoraMedia.AudioFrame
/// A moment on the monotonic clock.
public typealias Instant = SoraMedia.Instant
/// An amount of data in a time.
public typealias Bitrate = SoraCongestion.Bitrate
/// Takes every frame of a stream, with its time.
public typealias VideoSink = WebRTC.VideoSink
/// Takes the sound of a stream.
public typealias AudioSink = WebRTC.AudioSink
