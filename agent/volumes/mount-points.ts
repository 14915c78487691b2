/** Mount points in the kernel's list of mounts; pure. */

/** Those of a `/proc/PID/mountinfo`, the newest first: what lies below another is unmounted before it. */
export function mountPoints(mountInfo: string): string[] {
  const lines = mountInfo.split('\n').filter((line) => line !== '');
  return lines.map((line) => unescaped(line.split(' ')[4] ?? '')).reverse();
}

/** Spaces, tabs, line ends and backslashes are written in octal. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
