/** Reads one file out of a zip archive, so that tests need no unzip program. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';

const END_OF_DIRECTORY = 0x06054b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_HEADER_BYTES = 30;
const DEFLATED = 8;

function readAt(file: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  const read = readSync(file, buffer, 0, length, position);
  return buffer.subarray(0, read);
}

interface Entry {
  method: number;
  packedBytes: number;
  offset: number;
}

function findEntry(directory: Buffer, name: string): Entry | undefined {
  for (let at = 0; at + ENTRY_BYTES <= directory.length; ) {
    const nameBytes = directory.readUInt16LE(at + 28);
    const surplus = directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
    if (directory.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes) === name) {
      return {
        method: directory.readUInt16LE(at + 10),
        packedBytes: directory.readUInt32LE(at + 20),
        offset: directory.readUInt32LE(at + 42),
      };
    }
    at += ENTRY_BYTES + nameBytes + surplus;
  }
  return undefined;
}

/**
 * Returns the unpacked file. Throws if the archive has no such entry. Archives with a comment or above 4 GiB are not
 * supported.
 */
export function readZipEntry(path: string, name: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const end = readAt(file, fstatSync(file).size - END_BYTES, END_BYTES);
    if (end.readUInt32LE(0) !== END_OF_DIRECTORY) throw new Error(`${path} is not a plain zip archive`);
    const entry = findEntry(readAt(file, end.readUInt32LE(16), end.readUInt32LE(12)), name);
    if (!entry) throw new Error(`${path} holds no ${name}`);
    const header = readAt(file, entry.offset, LOCAL_HEADER_BYTES);
    const start = entry.offset + LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
    const packed = readAt(file, start, entry.packedBytes);
    return entry.method === DEFLATED ? inflateRawSync(packed) : packed;
  } finally {
    closeSync(file);
  }
}
