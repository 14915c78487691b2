/** Reads which application protocols a TLS client offers, before the handshake (RFC 8446, 4.1.2; RFC 7301, 3.1). */

const CLIENT_HELLO = 1;
/** Record header of 5 bytes, before the type of the handshake message. */
const TYPE_OFFSET = 5;
/** Type, length, version and random of the handshake message. */
const SESSION_ID_OFFSET = TYPE_OFFSET + 4 + 2 + 32;
const ALPN = 16;

/** Returns [] for bytes that are no complete ClientHello, and for a client that offers no protocol. */
export function offeredProtocols(record: Buffer): string[] {
  try {
    return record[TYPE_OFFSET] === CLIENT_HELLO ? protocolsIn(extensionsOf(record)) : [];
  } catch (error) {
    // A length points behind the end: damaged, or the rest is in another record.
    if (error instanceof RangeError) return [];
    throw error;
  }
}

function extensionsOf(record: Buffer): Buffer {
  const ciphersAt = SESSION_ID_OFFSET + 1 + record.readUInt8(SESSION_ID_OFFSET);
  const compressionAt = ciphersAt + 2 + record.readUInt16BE(ciphersAt);
  const extensionsAt = compressionAt + 1 + record.readUInt8(compressionAt);
  return record.subarray(extensionsAt + 2, extensionsAt + 2 + record.readUInt16BE(extensionsAt));
}

function protocolsIn(extensions: Buffer): string[] {
  for (let at = 0; at < extensions.length; at += 4 + extensions.readUInt16BE(at + 2)) {
    if (extensions.readUInt16BE(at) !== ALPN) continue;
    const end = at + 6 + extensions.readUInt16BE(at + 4);
    const names: string[] = [];
    for (let nameAt = at + 6; nameAt < end; nameAt += 1 + extensions.readUInt8(nameAt))
      names.push(extensions.toString('latin1', nameAt + 1, nameAt + 1 + extensions.readUInt8(nameAt)));
    return names;
  }
  return [];
}
