/** What a walk that may pause after each part comes to, without a pause; `onPause` is called where it might. */
export function runToEnd<T>(walk: Generator<unknown, T, void>, onPause: () => void = () => undefined): T {
  for (;;) {
    const part = walk.next();
    if (part.done) return part.value;
    onPause();
  }
}
