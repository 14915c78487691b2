/** `everynode-agent doctor`: checks this host and prints what is wrong with a remedy. Changes nothing. */

import { countText } from '../../shared/kube/objects/meta.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { printDocument, printLine } from '../../shared/process/output/terminal-output.js';
import { tableLines } from '../../shared/process/output/text-table.js';
import { systemClock } from '../../shared/process/time/clock.js';
import type { EngineLocations } from '../assembly/open-runtime.js';
import { type Finding, hostFindings } from '../decisions/doctor/host-findings.js';
import { type DoctorSettings, gatherHostFacts } from './host-facts.js';

/** Prints a line for each finding, or all of them as JSON. Throws `ExitError` if one is an error. */
export async function runDoctor(
  settings: DoctorSettings,
  places: EngineLocations,
  asJson: boolean,
): Promise<void> {
  const findings = hostFindings(await gatherHostFacts(settings, places, systemClock));
  if (asJson) printDocument(`${JSON.stringify(findings, undefined, 2)}\n`);
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
