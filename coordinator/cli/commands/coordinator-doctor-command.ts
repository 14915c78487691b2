/** `everynode doctor`: checks a coordinator's machine and prints what is wrong with a remedy. Changes nothing. */
import type { Command } from 'commander';
import { reportFindings } from '../../../shared/doctor/doctor-report.js';
import { addSettingFlags } from '../../../shared/process/settings/settings-schema.js';
import { COORDINATOR_SETTINGS } from '../../coordinator-settings.js';
import { coordinatorFindings } from '../../decisions/doctor/coordinator-findings.js';
import { serviceConfig } from '../machine/stopped-service.js';
import { readSettings } from '../terminal/command-options.js';
import { addOutputOption, documentIn, type OutputForm } from '../terminal/output-form.js';

const { data, port, host, advertise, etcd, etcdCa, etcdCert, etcdKey, backupDir } = COORDINATOR_SETTINGS;
const { tlsCertFile, tlsPrivateKeyFile } = COORDINATOR_SETTINGS;

/** The flags. All other settings are read from the settings file. */
const DOCTOR_FLAGS = {
  ...{ data, port, host, advertise, etcd, etcdCa, etcdCert, etcdKey },
  ...{ tlsCertFile, tlsPrivateKeyFile, backupDir },
};

export function doctorCommand(program: Command): void {
  const command = program
    .command('doctor')
    .description(
      "check the coordinator's machine: port, clock, certificates, disk, names, proxy, limits, etcd and backups; changes nothing",
    )
    .option('--config <FILE>', 'YAML file with settings (default that of the installed service)');
  addSettingFlags(addOutputOption(command), DOCTOR_FLAGS)
    .addHelpText('after', '\nExit codes: 0 no error (there may be warnings), 3 an error, 2 wrong usage.')
    .action(diagnose);
}

async function diagnose({
  output,
  ...flags
}: Record<string, unknown> & { output: OutputForm }): Promise<void> {
  const config = flags.config ?? serviceConfig(flags.data);
  const settings = await readSettings(COORDINATOR_SETTINGS, { ...flags, config });
  const { gatherCoordinatorFacts } = await import('../doctor/gather-coordinator-facts.js');
  const findings = coordinatorFindings(await gatherCoordinatorFacts(settings));
  reportFindings(findings, documentIn(output, findings));
}
