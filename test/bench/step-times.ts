/** Where the seconds of a run went: its sections, and the steps that they say they are at. */

/** A step of a section, from its beginning until the next one's. */
export interface StepTime {
  section: string;
  step: string;
  seconds: number;
}

export class StepTimes {
  readonly #begun: { section: string; step: string; at: number }[] = [];
  readonly #now: () => number;

  /** `now`: milliseconds of a clock that only goes forward. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** What was done until now is over; so for `begin`. */
  startSection(section: string): void {
    this.#begun.push({ section, step: 'beginning', at: this.#now() });
  }

  /** A step of the section that was begun last. */
  startStep(step: string): void {
    const { section = '' } = this.#begun.at(-1) ?? {};
    this.#begun.push({ section, step, at: this.#now() });
  }

  /** In the order in which they began, the last one until now. */
  steps(): StepTime[] {
    const end = this.#now();
    return this.#begun.map(({ section, step, at }, index) => {
      const until = this.#begun[index + 1]?.at ?? end;
      return { section, step, seconds: (until - at) / 1000 };
    });
  }

  /** `real 92 s, hollow 61 s`: each section with all of its steps. */
  bySection(): string {
    const seconds = new Map<string, number>();
    for (const each of this.steps()) {
      seconds.set(each.section, (seconds.get(each.section) ?? 0) + each.seconds);
    }
    return [...seconds].map(([section, sum]) => `${section} ${Math.round(sum)} s`).join(', ');
  }
}
