/** Hosts of a rollout as a table, filtered by state. The URL contains the state. */
import { Link } from 'wouter';
import { countText } from '../../shared/kube/objects/meta.js';
import type { Rollout } from '../../shared/kube/rollouts/rollout-types.js';
import { useApiResource } from '../api/use-api-resource.js';
import controls from '../layout/controls.module.css';
import { ScrollFrame } from '../layout/scroll-frame.js';
import { codeWords, reasonStatus } from '../layout/status/reason-status.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import table from '../layout/table.module.css';
import { useUrlFilter } from '../layout/use-url-query.js';
import { ToggleButtons } from '../layout/widgets/toggle-buttons.js';
import { actionsOfHost, rolloutPath } from './rollout-actions.js';
import { RolloutButtons } from './rollout-buttons.js';
import classes from './rollout-page.module.css';

interface ListedHosts {
  total: number;
  hosts: readonly { node: string; code: string; sentence: string }[];
}

const MOST_ROWS = 100;

interface RolloutHostsProps {
  rollout: Rollout;
  codes: Readonly<Record<string, number>>;
}

export function RolloutHosts({ rollout, codes }: RolloutHostsProps) {
  const [query, setQuery] = useUrlFilter();
  const present = Object.entries(codes).filter(([, count]) => count > 0);
  const asked = query.get('state') ?? (codes.Failed ? 'Failed' : '');
  const shown = present.some(([code]) => code === asked) ? asked : '';
  if (present.length === 0) return null;
  const total = present.reduce((sum, [, count]) => sum + count, 0);
  const chips = [['', total] as const, ...present];
  return (
    <section className={controls.card} aria-label="Hosts">
      <h2>Hosts</h2>
      <div className={classes.chips}>
        <ToggleButtons
          label="State"
          choices={chips.map(([code, count]) => [
            code,
            <span key={code}>
              <strong>{count}</strong> {code === '' ? 'All' : codeWords(code)}
            </span>,
          ])}
          chosen={shown}
          onChoose={(code) => setQuery('state', code === '' ? 'all' : code)}
        />
      </div>
      <HostTable rollout={rollout} code={shown} version={JSON.stringify(codes)} />
    </section>
  );
}

interface HostTableProps {
  rollout: Rollout;
  /** Empty for all states. */
  code: string;
  /** Changes with the number of hosts in any state: then other hosts can be in this one. */
  version: string;
}

function HostTable({ rollout, code, version }: HostTableProps) {
  const { namespace = '', name } = rollout.metadata;
  const filter = code === '' ? '' : `code=${code}&`;
  const { answer, problem } = useApiResource<ListedHosts>(
    `${rolloutPath(namespace, name)}/hosts?${filter}limit=${MOST_ROWS}`,
    version,
  );
  if (problem) return <p role="alert">{problem}</p>;
  if (!answer) return <p role="status">Loading…</p>;
  return (
    <ScrollFrame className={table.frame} label="Hosts of the rollout">
      <table className={`${table.table} ${table.wraps} ${table.details}`}>
        <thead>
          <tr>
            <th scope="col">Host</th>
            <th scope="col">State</th>
            <th scope="col">Why</th>
            <th scope="col" aria-label="Action" />
          </tr>
        </thead>
        <tbody>
          {answer.hosts.map((host) => (
            <tr key={host.node}>
              <th scope="row">
                <Link href={`/hosts/${host.node}`}>{host.node}</Link>
              </th>
              <td>
                <StatusBadge status={reasonStatus(host.code)} />
              </td>
              <td data-long>{host.sentence}</td>
              <td className={classes.action}>
                <RolloutButtons rollout={rollout} actions={actionsOfHost(host.code, host.node)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {answer.total > answer.hosts.length && (
        <p>and {countText(answer.total - answer.hosts.length, 'more host', 'more hosts')}</p>
      )}
    </ScrollFrame>
  );
}
