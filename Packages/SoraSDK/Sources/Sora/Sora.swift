// The module that iOS apps know: `import Sora` gives everything of SoraSDK.
@_exported public import SoraSDK
