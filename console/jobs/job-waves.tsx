/** Waves of a job by its RolloutPolicy: what they wait for, and the hosts of each. Shows nothing without waves. */
import type { DaemonJob } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import controls from '../layout/controls.module.css';
import table from '../layout/table.module.css';
import { t } from '../texts/translate.js';
import { JobBar } from './job-bar.js';
import { jobRollout } from './job-text.js';

export function JobWaves({ job }: { job: DaemonJob }) {
  const rollout = jobRollout(job);
  if (!rollout) return null;
  return (
    <section className={controls.card} aria-label={t('Waves')}>
      <h2>{t('Waves')}</h2>
      <p role="status">{rollout.message}</p>
      <div className={table.frame}>
        <table className={table.table}>
          <tbody>
            {rollout.waves.map((wave) => (
              <tr key={wave.name} aria-current={wave.name === rollout.wave ? 'step' : undefined}>
                <th scope="row">
                  {wave.name}
                  {wave.name === rollout.wave && ` (${t('open')})`}
                </th>
                <td>
                  <JobBar status={wave} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
