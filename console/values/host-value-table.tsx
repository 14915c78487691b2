/** The values of one host, each with the object that it comes from and what that object overrides. */
import { Link } from 'wouter';
import type {
  EffectiveValue,
  GivenValue,
  ValuesOfHost,
} from '../../shared/kube/fleet/effective-values-types.js';
import { isSecretValue } from '../../shared/kube/host-values/rendered-values.js';
import { useApiResource } from '../api/use-api-resource.js';
import controls from '../layout/controls.module.css';
import { LabelledTable, TableCard } from '../layout/list-table.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { t } from '../texts/translate.js';
import { valuesPath, valueText } from './value-text.js';
import classes from './values.module.css';

const COLUMNS = ['Key', 'Value', 'From', 'Overridden', 'Namespace'] as const;

interface HostValueTableProps {
  node: string;
  /** Empty: all namespaces. */
  namespace: string;
  /** The values are loaded again when it changes. */
  version: string;
  /** Shows nothing instead of an explanation if the host has no values. */
  isCompact?: boolean;
}

export function HostValueTable({ node, namespace, version, isCompact = false }: HostValueTableProps) {
  const { answer, problem } = useApiResource<ValuesOfHost>(
    `${valuesPath('effectivevalues', namespace)}?node=${encodeURIComponent(node)}`,
    version,
  );
  if (problem)
    return (
      <p role="alert">
        {t('The values of {{node}} could not be loaded:', { node })} {problem}
      </p>
    );
  if (!answer)
    return isCompact ? null : <p role="status">{t('Loading the values of {{node}}…', { node })}</p>;
  if (answer.values.length === 0)
    return isCompact ? null : (
      <p role="status">
        {t('No HostValues give {{node}} a value. Check the labels of the host and the selectors.', { node })}
      </p>
    );
  return (
    <TableCard label={`Values of ${node}`}>
      <div className={controls.row}>
        <h2>{isCompact ? 'Values' : `Values of ${node}`}</h2>
        <Link href={isCompact ? `/values?host=${encodeURIComponent(node)}` : `/hosts/${node}`}>
          {isCompact ? 'Find values' : 'Host'}
        </Link>
      </div>
      <LabelledTable columns={COLUMNS}>
        {answer.values.map((value) => (
          <Row key={`${value.namespace}/${value.key}`} value={value} />
        ))}
      </LabelledTable>
    </TableCard>
  );
}

function Row({ value }: { value: EffectiveValue }) {
  const { namespace, key } = value;
  return (
    <tr>
      <th scope="row">
        <Link href={`/values?namespace=${namespace}&key=${encodeURIComponent(key)}`}>{key}</Link>
      </th>
      {value.state === 'Effective' ? (
        <>
          <td className={classes.value}>
            {isSecretValue(value.value) ? valueText(value.value) : <code>{valueText(value.value)}</code>}
          </td>
          <td>
            <Link href={`/values/${namespace}/${value.from}`}>{value.from}</Link>
          </td>
          <td className={controls.dim}>{value.overridden.map(givenText).join('; ')}</td>
        </>
      ) : (
        <td colSpan={3}>
          <StatusBadge status={{ tone: 'failed', word: 'Contradiction' }} />
          <br />
          {value.message}. {t('Give one of them a higher priority.')}
        </td>
      )}
      <td data-plain={value.state === 'Effective' ? undefined : true}>{namespace}</td>
    </tr>
  );
}

function givenText({ from, priority, value }: GivenValue): string {
  return `${valueText(value)} of ${from} (priority ${priority})`;
}
