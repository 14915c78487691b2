/** Prints the report of a doctor. */

import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { countText } from '../kube/objects/meta.js';
import { EXIT_CODES, ExitError } from '../process/exit-error.js';
import { printDocument, printLine } from '../process/output/terminal-output.js';
import { tableLines } from '../process/output/text-table.js';
import type { DiskFact, Finding } from './finding.js';

/** Prints the findings: as this document, else a line for each. Throws `ExitError` if one is an error. */
export function reportFindings(findings: readonly Finding[], document: string | undefined): void {
  if (document !== undefined) printDocument(document);
  else for (const line of findingLines(findings)) printLine(line);
  const errors = findings.filter(({ result }) => result === 'error').length;
  if (errors > 0) throw new ExitError(EXIT_CODES.environment, `${countText(errors, 'problem')} found.`);
}

/** Returns aligned lines. The remedy is below what was found. */
export function findingLines(findings: readonly Finding[]): string[] {
  const rows = findings.flatMap((finding) => {
    const line = [finding.result, finding.check, finding.found];
    return finding.result === 'ok' ? [line] : [line, ['', '', `→ ${finding.remedy}`]];
  });
  return tableLines(rows);
}

/**
 * For an installer, before it changes anything: reports warnings, and throws `ExitError` for the first error. `skipped`:
 * checks that a step of the installation makes itself, with a better text.
 */
export function refuseOnErrors(
  findings: readonly Finding[],
  report: (text: string) => void,
  skipped: readonly string[] = [],
): void {
  for (const finding of findings) {
    if (finding.result === 'ok' || skipped.includes(finding.check)) continue;
    const text = `${finding.check}: ${finding.found}. ${finding.remedy}`;
    if (finding.result === 'error') throw new ExitError(EXIT_CODES.environment, text);
    report(text);
  }
}

/** Measures the file system of a directory. Before an installation it does not exist: then of its nearest existing parent. */
export async function measureDisk(directory: string): Promise<DiskFact> {
  const path = nearestExisting(directory);
  const { bavail, blocks, bsize } = await statfs(path);
  return { path, free: bavail * bsize, total: blocks * bsize };
}

/** Returns the path, or its nearest parent that exists. */
export function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}
