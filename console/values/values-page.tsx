/** Page of HostValues: which hosts have which value, the values of one host, and all objects by priority. */
import { useCallback, useId, useState } from 'react';
import { Link } from 'wouter';
import type { ValueCounts } from '../../shared/kube/fleet/effective-values-types.js';
import { useIsAllowed } from '../api/access-checks.js';
import { useInterval } from '../api/live-list.js';
import { useApiResource } from '../api/use-api-resource.js';
import controls from '../layout/controls.module.css';
import { PageShell } from '../layout/shell/page-shell.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { useUrlFilter } from '../layout/use-url-query.js';
import { HostValueTable } from './host-value-table.js';
import { HostsByValueTable } from './hosts-by-value.js';
import { valuesPath } from './value-text.js';
import classes from './values.module.css';
import { ValuesObjectTable } from './values-object-table.js';

/** Hosts and values change without an object of this page that could be watched. */
const REFRESH_MS = 30_000;

export function ValuesPage() {
  const [query, setQuery] = useUrlFilter();
  const [namespace, key, value, host] = ['namespace', 'key', 'value', 'host'].map(
    (name) => query.get(name) ?? '',
  ) as [string, string, string, string];
  const [round, setRound] = useState(0);
  useInterval(
    REFRESH_MS,
    useCallback(() => setRound((before) => (document.hidden ? before : before + 1)), []),
  );
  const version = String(round);
  const { answer: counts } = useApiResource<ValueCounts>(valuesPath('effectivevalues', namespace), version);
  const mayCreate = useIsAllowed({
    ...{ verb: 'create', group: 'fleet.everynode.dev', resource: 'hostvalues' },
    namespace: namespace || 'default',
  });
  return (
    <PageShell title="Values">
      <div className={classes.head}>
        <h1>Values per host</h1>
        {mayCreate && (
          <Link href="/values/new" className={`${controls.button} ${classes.action}`} data-main>
            Add values…
          </Link>
        )}
      </div>
      <search className={`${controls.card} ${classes.find}`} aria-label="Find values">
        <Text label="Host" hint="till-0001" value={host} onText={(text) => setQuery('host', text)} />
        <Text
          label="Key"
          hint="store"
          value={key}
          options={[...new Set(counts?.keys.map((each) => each.key))]}
          onText={(text) => setQuery('key', text)}
        />
        <Text label="Value of this key" hint="any" value={value} onText={(text) => setQuery('value', text)} />
        <Text
          label="Namespace"
          hint="all namespaces"
          value={namespace}
          onText={(text) => setQuery('namespace', text)}
        />
      </search>
      {host.trim() !== '' && <HostValueTable node={host.trim()} {...{ namespace, version }} />}
      {key.trim() !== '' && <HostsByValueTable valueKey={key.trim()} {...{ namespace, value, version }} />}
      {key === '' && value !== '' && <p role="status">Enter the key of this value.</p>}
      <ValuesObjectTable namespace={namespace} counts={counts} version={version} />
      <CopyCommand text={`kubectl get hostvalues ${namespace === '' ? '-A' : `-n ${namespace}`}`} />
    </PageShell>
  );
}

interface TextProps {
  label: string;
  hint: string;
  value: string;
  /** Suggestions. */
  options?: readonly string[];
  onText: (text: string) => void;
}

function Text({ label, hint, value, options, onText }: TextProps) {
  const id = useId();
  return (
    <div className={controls.field}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="search"
        className={controls.input}
        value={value}
        placeholder={hint}
        autoComplete="off"
        spellCheck={false}
        {...(options && { list: `${id}-options` })}
        onChange={({ target }) => onText(target.value.trim())}
      />
      {options && (
        <datalist id={`${id}-options`}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </div>
  );
}
