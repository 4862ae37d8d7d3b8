import CodecTestSupport
import SoraVP8

/// What these tests are about.
let vp8 = CodecUnderTest("VP8", VP8CodecFactory())
