/** The hosts by their value of one key. */
import { Link } from 'wouter';
import type { HostsByValue, ValueGroup } from '../../shared/kube/fleet/effective-values-types.js';
import { useApiResource } from '../api/use-api-resource.js';
import controls from '../layout/controls.module.css';
import { ListTable } from '../layout/list-table.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { RichText } from '../texts/rich-text.js';
import { counted, t } from '../texts/translate.js';
import { valuesPath, valueText } from './value-text.js';
import classes from './values.module.css';

const COLUMNS = ['Value', 'Hosts', 'From', 'Namespace'] as const;

interface HostsByValueProps {
  namespace: string;
  valueKey: string;
  /** Empty: all values. */
  value: string;
  version: string;
}

export function HostsByValueTable({ namespace, valueKey, value, version }: HostsByValueProps) {
  const search = new URLSearchParams({ key: valueKey, ...(value && { value }) });
  const path = `${valuesPath('effectivevalues', namespace)}?${search}`;
  const { answer, problem } = useApiResource<HostsByValue>(path, version);
  if (problem)
    return (
      <p role="alert">
        {t('The hosts could not be found:')} {problem}
      </p>
    );
  if (!answer) return <p role="status">{t('Searching…')}</p>;
  const { groups, moreGroups, conflicts, missing } = answer;
  return (
    <section className={classes.part} aria-label={`Hosts by ${valueKey}`}>
      <h2>
        <RichText text="Hosts by value of <key/>" parts={{ key: <code>{valueKey}</code> }} />
      </h2>
      {conflicts.count > 0 && (
        <div className={controls.card} role="alert">
          <p>
            <StatusBadge status={{ tone: 'failed', word: 'Contradiction' }} />{' '}
            {counted('on {{count}} hosts: they get no Pod that uses this key.', conflicts.count)}
          </p>
          <p>
            {t('For example {{message}}.', { message: conflicts.message ?? '' })}{' '}
            {t('Give one of them a higher priority.')}
          </p>
          <p>
            <Names {...conflicts} />
          </p>
        </div>
      )}
      {groups.length === 0 && conflicts.count === 0 && <p role="status">{t('No host has this value.')}</p>}
      {groups.length > 0 && (
        <ListTable label="Values and hosts" columns={COLUMNS}>
          {groups.map((group) => (
            <Row key={`${group.namespace} ${JSON.stringify(group.value)}`} group={group} />
          ))}
        </ListTable>
      )}
      {moreGroups > 0 && (
        <p>{counted('{{count}} more values are not shown. Enter a value to find its hosts.', moreGroups)}</p>
      )}
      {namespace !== '' && value === '' && missing.count > 0 && (
        <p>
          {counted('{{count}} hosts without a value:', missing.count)} <Names {...missing} />
        </p>
      )}
    </section>
  );
}

function Row({ group: { namespace, value, from, count, nodes } }: { group: ValueGroup }) {
  return (
    <tr>
      <th scope="row" className={classes.value}>
        {valueText(value)}
      </th>
      <td>
        <strong>{count}</strong> <Names count={count} nodes={nodes} />
      </td>
      <td>
        {from.map((name) => (
          <span key={name}>
            <Link href={`/values/${namespace}/${name}`}>{name}</Link>{' '}
          </span>
        ))}
      </td>
      <td>{namespace}</td>
    </tr>
  );
}

const MOST_NAMES = 20;

function Names({ count, nodes }: { count: number; nodes: readonly string[] }) {
  const shown = nodes.slice(0, MOST_NAMES);
  return (
    <>
      {shown.map((node, at) => (
        <span key={node}>
          {at > 0 && ', '}
          <Link href={`/hosts/${node}`}>{node}</Link>
        </span>
      ))}
      {count > shown.length && ` and ${count - shown.length} more`}
    </>
  );
}
