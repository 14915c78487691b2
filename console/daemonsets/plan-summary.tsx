/** Preview of a change as `everynode plan` prints it: summary, waves and hosts. */
import { Link } from 'wouter';
import { CHANGING_ACTIONS, type DaemonSetPlan, type Plan } from '../../shared/kube/fleet/plan-types.js';
import controls from '../layout/controls.module.css';
import { LabelledTable } from '../layout/list-table.js';
import table from '../layout/table.module.css';

const WAVE_COLUMNS = ['Wave', 'Hosts', 'Change', 'From', 'Until'] as const;
const MAX_HOSTS = 200;

/** Returns the number of hosts that change, at once or later. */
export function changingHosts({ daemonSets }: Plan): number {
  const counts = daemonSets.flatMap((plan) => CHANGING_ACTIONS.map((action) => plan.counts[action]));
  return counts.reduce((sum, count) => sum + count, 0);
}

export function PlanSummary({ plan }: { plan: Plan }) {
  return (
    <section aria-label="Plan">
      {plan.refused.map(({ name, message }) => (
        <p key={name} role="alert" className={controls.problem}>
          {message}
        </p>
      ))}
      {plan.notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
      {plan.daemonSets.map((each) => (
        <OfDaemonSet key={`${each.namespace}/${each.name}`} plan={each} />
      ))}
    </section>
  );
}

function OfDaemonSet({ plan }: { plan: DaemonSetPlan }) {
  const { sentence, waves, assumptions, blockedBy, hosts, policy } = plan;
  const changing = hosts.filter(({ action }) => CHANGING_ACTIONS.includes(action));
  return (
    <>
      <p>
        <strong>{sentence}</strong>
      </p>
      {blockedBy && (
        <p role="alert" className={controls.problem}>
          It would not complete without an operator: {blockedBy}
        </p>
      )}
      {policy && <p className={controls.dim}>By policy {policy}.</p>}
      {assumptions.length > 0 && <p className={controls.dim}>Assuming that {assumptions.join('; ')}.</p>}
      {waves.length > 0 && (
        <div className={table.frame}>
          <LabelledTable columns={WAVE_COLUMNS}>
            {waves.map((wave) => (
              <tr key={wave.name}>
                <th scope="row">{wave.name}</th>
                <td>{wave.nodes}</td>
                <td>{wave.changes}</td>
                <td>
                  {after(wave.startSeconds)}
                  {wave.needsApproval && ', when approved'}
                </td>
                <td>{after(wave.endSeconds)}</td>
              </tr>
            ))}
          </LabelledTable>
        </div>
      )}
      {changing.length > 0 && (
        <details>
          <summary>
            <strong>{changing.length}</strong> hosts that change
          </summary>
          <div className={table.frame}>
            <table className={table.table}>
              <tbody>
                {changing
                  .slice(0, MAX_HOSTS)
                  .map(({ node, action, wave, startSeconds, message: because }) => (
                    <tr key={node}>
                      <th scope="row">
                        <Link href={`/hosts/${node}`}>{node}</Link>
                      </th>
                      <td>{action}</td>
                      <td>{wave}</td>
                      <td>{after(startSeconds)}</td>
                      <td>{because}</td>
                    </tr>
                  ))}
              </tbody>
            </table>
          </div>
          {changing.length > MAX_HOSTS && (
            <p>and {changing.length - MAX_HOSTS} more: everynode plan --hosts all</p>
          )}
        </details>
      )}
    </>
  );
}

/** Formats undefined as `–`, 0 as `at once`, and 4000 as `after 1 h 7 min`. */
function after(seconds: number | undefined): string {
  if (seconds === undefined) return '–';
  if (seconds < 1) return 'at once';
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [Math.round(seconds % 60), 's'],
  ];
  const shown = parts.filter(([count]) => count > 0).slice(0, 2);
  return `after ${shown.map(([count, unit]) => `${count} ${unit}`).join(' ')}`;
}
