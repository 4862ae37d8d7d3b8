// Addresses stand in SoraWire; whoever speaks ICE has them at hand.
@_exported public import SoraWire
