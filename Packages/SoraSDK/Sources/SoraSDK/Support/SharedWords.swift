// Frames, sound and time, with their operators: what an app needs to send and take media of its own, so that `import Sora` is enough.
@_exported public import struct SoraCongestion.Bitrate
@_exported public import SoraMedia
// Cameras, their formats and what can be set on them.
@_exported public import SoraCamera
// Screens, windows and areas of desktops.
@_exported public import SoraScreen
// Sound that an app pulls, and sound that is pulled from it.
@_exported public import class SoraAudio.AudioMixer
@_exported public import class SoraAudioDevices.AudioPullSource
@_exported public import class SoraAudioDevices.AudioReader
// Windows, their tiles and images of them, beside `VideoView`.
@_exported public import SoraView
public import WebRTC

// Of WebRTC single words, whose names mean nothing else to an app that imports it as well.

/// Takes every frame of a stream, with its time.
public typealias VideoSink = WebRTC.VideoSink
/// Takes the sound of a stream.
public typealias AudioSink = WebRTC.AudioSink
