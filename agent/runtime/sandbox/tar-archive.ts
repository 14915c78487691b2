/** Tar archives in memory, as small as images need them. */

export interface TarFile {
  /** At most 100 bytes. */
  path: string;
  bytes: Uint8Array;
  /** Permission bits. */
  mode: number;
}

const BLOCK = 512;

/** A ustar archive of plain files, all of root and of the time 0, so that equal files make equal bytes. */
export function tarArchive(files: readonly TarFile[]): Buffer {
  const blocks = files.flatMap(({ path, bytes, mode }) => [
    header(path, bytes.length, mode),
    bytes,
    Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK),
  ]);
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

function header(path: string, size: number, mode: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(path, 0, 100);
  block.write(octal(mode, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(0, 11), 136);
  block.write('        ', 148);
  block.write('0', 156);
  block.write('ustar\x0000', 257);
  // The checksum is taken with its own field as spaces.
  block.write(
    `${octal(
      block.reduce((sum, byte) => sum + byte, 0),
      6,
    )}\0 `,
    148,
  );
  return block;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}
