/** Time spent in each section of a run and in its reported steps. */

/** A step of a section, from its start until the start of the next one. */
export interface StepTime {
  section: string;
  step: string;
  seconds: number;
}

export class StepTimes {
  readonly #starts: { section: string; step: string; at: number }[] = [];
  readonly #now: () => number;

  /** `now`: milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Starts a section. Its first step lasts until the next `startStep`. */
  startSection(section: string): void {
    this.#starts.push({ section, step: 'beginning', at: this.#now() });
  }

  /** Starts a step of the current section. */
  startStep(step: string): void {
    const { section = '' } = this.#starts.at(-1) ?? {};
    this.#starts.push({ section, step, at: this.#now() });
  }

  /** Steps in order of their start. The last one lasts until now. */
  steps(): StepTime[] {
    const end = this.#now();
    return this.#starts.map(({ section, step, at }, index) => {
      const until = this.#starts[index + 1]?.at ?? end;
      return { section, step, seconds: (until - at) / 1000 };
    });
  }

  /** `real 92 s, hollow 61 s`: the total of each section's steps. */
  bySection(): string {
    const seconds = new Map<string, number>();
    for (const each of this.steps()) {
      seconds.set(each.section, (seconds.get(each.section) ?? 0) + each.seconds);
    }
    return [...seconds].map(([section, sum]) => `${section} ${Math.round(sum)} s`).join(', ');
  }
}
