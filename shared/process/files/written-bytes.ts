/** How many bytes this process has written into files: one count a process, as the kernel's own (`/proc/self/io`). */

let total = 0;

/** Whoever writes a file says so. */
export function countWrittenBytes(content: string | Uint8Array): void {
  total += typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
}

/** Since the process began. */
export function writtenBytes(): number {
  return total;
}
