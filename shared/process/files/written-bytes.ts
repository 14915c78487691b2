/**
 * Counts the bytes that this process has written to files. One counter for the process, like the kernel's
 * `/proc/self/io`.
 */

let total = 0;

/** Must be called for each write to a file. */
export function countWrittenBytes(content: string | Uint8Array): void {
  total += typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
}

/** Returns the count since the start of the process. */
export function writtenBytes(): number {
  return total;
}
