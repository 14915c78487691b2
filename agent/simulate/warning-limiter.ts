/** What whoever steers a simulation should know of single hosts or Pods: each once, and not without end. */

/** Of one kind; a fleet of thousands can be wrong a thousand times in the same way. */
const MOST = 5;

export class WarningLimiter {
  readonly #say: (text: string) => void;
  readonly #said = new Map<string, Set<string>>();

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  /** Says `text`, unless it was said before or much of its kind was. */
  warn(kind: string, text: string): void {
    const said = this.#said.get(kind) ?? new Set();
    this.#said.set(kind, said);
    if (said.size === MOST || said.has(text)) return;
    said.add(text);
    this.#say(said.size === MOST ? `${text} (more of this is not said)` : text);
  }
}
