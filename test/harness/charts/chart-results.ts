/** Results of a run, one file for each case and Helm, so that an interrupted run continues. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChartOutcome } from './chart-outcome.js';

export interface ChartResult {
  chart: string;
  /** Name of the case. */
  name: string;
  version: string;
  helm: string;
  outcome: ChartOutcome;
}

export class ChartResults {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  clear(): void {
    rmSync(this.#folder, { recursive: true });
    mkdirSync(this.#folder);
  }

  add(result: ChartResult): void {
    const file = join(this.#folder, `${result.name}@${result.helm}.json`);
    writeFileSync(file, `${JSON.stringify(result, undefined, 2)}\n`);
  }

  /** Returns all results, by name of the case. */
  all(): ChartResult[] {
    const files = readdirSync(this.#folder).sort();
    return files.map((file) => JSON.parse(readFileSync(join(this.#folder, file), 'utf8')) as ChartResult);
  }

  has({ name, version }: Pick<ChartResult, 'name' | 'version'>, helm: string): boolean {
    return this.all().some(
      (result) => result.name === name && result.version === version && result.helm === helm,
    );
  }
}
