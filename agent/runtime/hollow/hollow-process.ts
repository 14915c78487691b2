/** Simulated processes in hollow containers. */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { ExecProcess, ExecRequest, OutputChunk, TerminalSize } from '../runtime-driver.js';

/** Result of a simulated command: prints `output`, and exits after `afterMs`. */
export interface HollowProcessOutcome {
  exitCode: number;
  output?: string;
  afterMs?: number;
}

const KILLED = 137;
/** Programs that would take the input away from a shell. */
const READS_INPUT: ReadonlySet<string> = new Set(['cat', 'size', 'sh']);
/** Size of the output buffer. When it is full, the program waits for its reader. */
const OUTPUT_CHUNKS = 16;

/** A simulated process with the commands of `#program`. Any other is not found, as without a shell. */
export class HollowProcess implements ExecProcess {
  readonly output: AsyncIterable<OutputChunk>;
  readonly #output = new PassThrough({ objectMode: true, highWaterMark: OUTPUT_CHUNKS });
  readonly #input = new PassThrough();
  readonly #clock: Clock;
  readonly #hasInput: boolean;
  readonly #killed = new AbortController();
  readonly #ended: Promise<number>;
  #size: TerminalSize = { width: 80, height: 24 };

  /** `outcome` replaces the simulated program. The process is killed when `container` aborts. */
  constructor(
    request: ExecRequest,
    outcome: HollowProcessOutcome | undefined,
    clock: Clock,
    container: AbortSignal,
  ) {
    this.#clock = clock;
    this.#hasInput = request.stdin;
    if (!request.stdin) this.#input.end();
    container.addEventListener('abort', () => this.#killed.abort(), { once: true });
    this.output = this.#output as AsyncIterable<OutputChunk>;
    this.#ended = this.#run(request, outcome);
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (!this.#hasInput || this.#input.writableEnded || this.#input.write(bytes)) return;
    await once(this.#input, 'drain', { signal: this.#killed.signal }).catch(() => undefined);
  }

  endInput(): void {
    this.#input.end();
  }

  async resize(size: TerminalSize): Promise<void> {
    this.#size = size;
  }

  close(): void {
    this.#output.destroy();
    this.#input.end();
  }

  exitCode(): Promise<number> {
    return this.#ended;
  }

  async kill(): Promise<boolean> {
    this.#killed.abort();
    return true;
  }

  async #run({ command }: ExecRequest, outcome: HollowProcessOutcome | undefined): Promise<number> {
    const killed = new Promise<number>((resolve) =>
      this.#killed.signal.addEventListener('abort', () => resolve(KILLED), { once: true }),
    );
    const work = outcome ? this.#produce(outcome) : this.#program(command);
    const code = await Promise.race([work.catch(() => KILLED), killed]);
    this.#output.end();
    this.#input.destroy();
    return code;
  }

  async #produce({ exitCode, output = '', afterMs }: HollowProcessOutcome): Promise<number> {
    await this.#print(Buffer.from(output));
    if (afterMs !== undefined) await this.#wait(afterMs);
    return exitCode;
  }

  /** A few commands of a shell. `size` prints the terminal's height and width for each line of input. */
  async #program([name = '', ...args]: readonly string[]): Promise<number> {
    switch (name) {
      case 'true':
        return 0;
      case 'exit':
        return Number(args[0] ?? 0);
      case 'echo':
        await this.#print(Buffer.from(`${args.join(' ')}\n`));
        return 0;
      case 'warn':
        await this.#print(Buffer.from(`${args.join(' ')}\n`), 'stderr');
        return 0;
      case 'cat':
        for await (const bytes of this.#input) await this.#print(bytes as Uint8Array);
        return 0;
      case 'size':
        for await (const _line of this.#input)
          await this.#print(Buffer.from(`${this.#size.height} ${this.#size.width}\n`));
        return 0;
      case 'zeros':
        for (let left = Number(args[0]); left > 0; left -= 16_384)
          await this.#print(Buffer.alloc(Math.min(left, 16_384)));
        return 0;
      case 'sleep':
        await this.#wait(Number(args[0]) * 1000);
        return 0;
      case 'sh':
        return this.#shell();
      default:
        await this.#print(Buffer.from(`exec: "${name}": executable file not found in $PATH\n`), 'stderr');
        return 127;
    }
  }

  /** Runs each line of the input, and prints it like a terminal. `exit` ends it. */
  async #shell(): Promise<number> {
    let typed = '';
    await this.#print(Buffer.from('$ '));
    for await (const bytes of this.#input) {
      for (const letter of String(bytes)) {
        if (letter !== '\r' && letter !== '\n') {
          typed += letter;
          await this.#print(Buffer.from(letter));
          continue;
        }
        await this.#print(Buffer.from('\r\n'));
        const words = typed.split(/\s+/).filter(Boolean);
        typed = '';
        if (words[0] === 'exit') return Number(words[1] ?? 0);
        if (READS_INPUT.has(words[0] ?? ''))
          await this.#print(Buffer.from('A simulated shell cannot run it.\r\n'));
        else if (words.length > 0) await this.#program(words);
        await this.#print(Buffer.from('$ '));
      }
    }
    return 0;
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(ms, resolve));
  }

  async #print(bytes: Uint8Array, from: OutputChunk['from'] = 'stdout'): Promise<void> {
    if (bytes.length === 0 || this.#output.destroyed || this.#output.writableEnded) return;
    if (this.#output.write({ from, bytes } satisfies OutputChunk)) return;
    await once(this.#output, 'drain', { signal: this.#killed.signal });
  }
}
