public import SoraMedia
public import WebRTC

// What an app needs of the modules below to send and take media of its own, so that `import Sora` is enough. An app that
// imports SoraMedia beside it says `SoraSDK.VideoFrame` for the frames of this API.

/// A picture in memory.
public typealias PixelBuffer = SoraMedia.PixelBuffer
/// A piece of sound: linear PCM.
public typealias AudioFrame = SoraMedia.AudioFrame
/// A moment on the monotonic clock.
public typealias Instant = SoraMedia.Instant
/// Takes every picture of a stream.
public typealias VideoSink = WebRTC.VideoSink
/// Takes the sound of a stream.
public typealias AudioSink = WebRTC.AudioSink
