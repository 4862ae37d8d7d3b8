import Foundation
import SoraDTLS

/// A certificate with an RSA key of 2,048 bits, made once with `openssl req -x509 -newkey rsa:2048`. Its key is no secret.
enum RSACertificate {
  static func make() throws -> DTLSCertificate {
    try DTLSCertificate(
      der: Array(Data(base64Encoded: certificate) ?? Data()),
      privateKeyDER: Array(Data(base64Encoded: key) ?? Data()))
  }

  private static let certificate = """
    MIIDCTCCAfGgAwIBAgIUMNyDsA30to8H0M7JeMP0wdl2t6wwDQYJKoZIhvcNAQELBQAwEzERMA8GA1UEAwwIU29yYVRl\
    c3QwIBcNMjYxMTIxMTQyODA2WhgPMjEyNjEwMjgxNDI4MDZaMBMxETAPBgNVBAMMCFNvcmFUZXN0MIIBIjANBgkqhkiG\
    9w0BAQEFAAOCAQ8AMIIBCgKCAQEAxNkdMoj4pC3wuqQdPKuH6edFaqUOSMMwPHoT6mmLly4QvLKIWkKMGF9RY+gGpZxc\
    E7JsCtu72p7tegOrNONK6vqHjjMTCfX2SC95jE6Vx1AvuyKUJJwHEQZwifYaLaVOb99tr/MM8JeyWtwZ0lydc0jhNZ1t\
    e8NOUv+XSmmnXOSNal8wXLNnV0Gt1G26y3vQEk8xy4hX7LMOb9tDGSqsRcqassMyD5Z1wMF4larsX+pO1L7ghU2Y6aGA\
    X/vB9cXd5h2wzyrStnIBAKA+HkJSy5eoeEGRg3VKXvvgHV/dNsieaA8on88DqdcUd45Bn6SKE6b8xADODvNp5lOGbTwS\
    wQIDAQABo1MwUTAdBgNVHQ4EFgQUSmJHOG2dvugoc4vaAE7D1n4HdmgwHwYDVR0jBBgwFoAUSmJHOG2dvugoc4vaAE7D\
    1n4HdmgwDwYDVR0TAQH/BAUwAwEB/zANBgkqhkiG9w0BAQsFAAOCAQEAd4moMGNmPv+wNNc81NiYTzSrNeA+uCQQiLPc\
    MQv2HVE4auTtu/8rpRcRK1KJgl/nkXjRv+knUblZUPx4MF+gYPvlhurmIA+OWB+muKIOeYaC4akn6GF7T/OHMZx42kvC\
    Qg+kryE3I02csn5pnBKcq0yXlaQHBYvt/uR3iZchc14K0mYb9cAv1hxsOi+zgua4Rrjm5toNbey6iCgGXbYyJDP5VM8y\
    QW+zrc0OOrojfeSAsV3Ppri1kvP0Ic0py3njW8yU3FBqCgtv7Pf2vxWM9+FWAiBau1j5UgkfjMmKOYmKt8JNkbhHgrX2\
    rq8TkzHo9PsQ/JNMJBIX4shOboEZRw==
    """

  private static let key = """
    MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDE2R0yiPikLfC6pB08q4fp50VqpQ5IwzA8ehPqaYuX\
    LhC8sohaQowYX1Fj6AalnFwTsmwK27vanu16A6s040rq+oeOMxMJ9fZIL3mMTpXHUC+7IpQknAcRBnCJ9hotpU5v322v\
    8wzwl7Ja3BnSXJ1zSOE1nW17w05S/5dKaadc5I1qXzBcs2dXQa3UbbrLe9ASTzHLiFfssw5v20MZKqxFypqywzIPlnXA\
    wXiVquxf6k7UvuCFTZjpoYBf+8H1xd3mHbDPKtK2cgEAoD4eQlLLl6h4QZGDdUpe++AdX902yJ5oDyifzwOp1xR3jkGf\
    pIoTpvzEAM4O82nmU4ZtPBLBAgMBAAECggEAIFm4IS5+gmjkZ6ACCA7+orO15k1i+BVP75h2fm9DGCDjckd6/i5ynKzJ\
    kPw4X24/eaM4e15aVJcK2yMQN3xlOxHaRkXhiqEIDRv0Q1lE50En3v7TTuLvjF49D4dJDRheOCeFfMWaak3b62/BtJ8w\
    5xninS+WpyDVVfGYWQvdC/hfeZ1mXVvBV5A5sFSMtY248wS8UQSl3eh5o+d3ybMhcVOVJ1W67QOYL5wtURiAfeYiVT/V\
    M3SUclVSyEKbVaxhzQIzVBXiPJSVSkYUTMi85rcpfkvUFFhfWL28GwdOMMg7WKAU09wgzXc4l5welMz+/Bo+TLSrKhFJ\
    g60YzBR6iwKBgQD7yduy4IKv4YK1zblzB1IwAYfeDRFFT4QhEZn4+jTqq2HaEFcvKwxgb+wCR1TXRfexZ8GA9vubSawy\
    y1C0xtmICdCuNX4rgmSUOsCIOs28zX/vjWd+i/jQM23xD9yM/l8M0UMsoIvGrY1v7fpWUnlMEKFZKP+siwyCYDYmYwkA\
    TwKBgQDIJAEw6IlnjduOd+iVDzOn0f1JLD3LBYT6+oTxPv16SVJpEqLpHyoKl1vN3PbW5rYhUhRn/7Ork92OMZppRKeJ\
    p61TEvXvoI99ahUg9SBhkmtV3NUlIjw535Bu4tanINXzWlG7RsueZiQD/wmOs2Vck29OCiWzuOtGn387Mbtn7wKBgG6B\
    Yl34cQL2K2LVPm4AqY6OLW5EN+8+fdPxoK0ISw8vVovZHhqCfzUYCfHaEp9EgvgmfGO4gibeR6gnWW1t1G0DOcYrjgtU\
    eAYiXvurKz6QxnSBkAmXLwVZfQgOmRJ8VYUPlrbQY2g4JVoZjQQzwC6lIds6xjOY902FIl7omju7AoGBAKCM6XuvftJY\
    ZQFzxVsV980vUe1KFUPw6I1hPBY+/p4DhZ2Oeqth+ZrHcrjBAi7Aoug17PLEmAASvQ+dUQ4TKgbuQMc8lZemCJWF7O8k\
    VNaQ25PkdAO24/NVGYsqYyFs4NS35orCLwOhUlD2XVdhJ/XMu+Qxla8Hr41W03zL11d3AoGBANeKtxf9/kyNxzrWAIvN\
    NXrvqUVOZBJrjBOB3cqwT1MQ+VbMkoA/0TxRgnoFCbsZlRvv+w3NPM8D2JNZj0k15f2VoROzBCKIhB3F51o5bLwkc4rd\
    Nc3oI/sm8+BHEn/xfCmv4Uouj9g8SCrK7qMBPT1NTsluNzDX9GgDqYqaEEMs
    """
}
