/** `everynode-agent doctor`: checks this host and prints what is wrong with a remedy. Changes nothing. */

import { reportFindings } from '../../shared/doctor/doctor-report.js';
import { systemClock } from '../../shared/process/time/clock.js';
import type { EngineLocations } from '../assembly/open-runtime.js';
import { hostFindings } from '../decisions/doctor/host-findings.js';
import { type DoctorSettings, gatherHostFacts } from './host-facts.js';

/** Prints a line for each finding, or all of them as JSON. Throws `ExitError` if one is an error. */
export async function runDoctor(
  settings: DoctorSettings,
  places: EngineLocations,
  asJson: boolean,
): Promise<void> {
  const findings = hostFindings(await gatherHostFacts(settings, places, systemClock));
  reportFindings(findings, asJson ? `${JSON.stringify(findings, undefined, 2)}\n` : undefined);
}
