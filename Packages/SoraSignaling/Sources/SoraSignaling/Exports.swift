// The messages are a module of their own because they need neither SwiftNIO nor Foundation; whoever carries them
// needs both modules.
@_exported public import SoraSignalingMessages
