import CodecTestSupport
import SoraVP9

/// What these tests are about.
let vp9 = CodecUnderTest("VP9", VP9CodecFactory())
