/** Page of HostValues: which hosts have which value, the values of one host, and all objects by priority. */
import { useCallback, useId, useState } from 'react';
import { Link } from 'wouter';
import type { ValueCounts } from '../../shared/kube/fleet/effective-values-types.js';
import { useIsAllowed } from '../api/access-checks.js';
import { useInterval } from '../api/live-list.js';
import { useApiResource } from '../api/use-api-resource.js';
import { useScopedResource } from '../api/use-scoped-resource.js';
import controls from '../layout/controls.module.css';
import { NamespaceProblem, useNamespaceFilter, useSettledText } from '../layout/namespace-filter.js';
import { Page } from '../layout/shell/page.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { namespaceFlag } from '../layout/text/shell-words.js';
import { useUrlFilter } from '../layout/use-url-query.js';
import { t } from '../texts/translate.js';
import { HostValueTable } from './host-value-table.js';
import { HostsByValueTable } from './hosts-by-value.js';
import { FLEET_API, valuesPath } from './value-text.js';
import classes from './values.module.css';
import { AS_TABLE, PAGE_SIZE, ValuesObjectTable, type ValuesTable } from './values-object-table.js';

/** Hosts and values change without an object of this page that could be watched. */
const REFRESH_MS = 30_000;

export function ValuesPage() {
  const [query, setQuery] = useUrlFilter();
  const typed = fieldsOf(query);
  const settled = fieldsOf(new URLSearchParams(useSettledText(query.toString())));
  const asked = useNamespaceFilter(typed.namespace);
  const [round, setRound] = useState(0);
  useInterval(
    REFRESH_MS,
    useCallback(() => setRound((before) => (document.hidden ? before : before + 1)), []),
  );
  const version = String(round);
  const [limit, setLimit] = useState(PAGE_SIZE);
  const list = useScopedResource<ValuesTable>({
    ...{ groupVersion: FLEET_API, resource: 'hostvalues', asked },
    ...{ search: `limit=${limit}`, version, accept: AS_TABLE },
  });
  const { namespace = '' } = list;
  // The namespace is known when the list is: a user of one namespace may not read the effective values of all.
  const known = list.phase === 'loading' && asked === '' ? '' : version;
  const { answer: counts } = useApiResource<ValueCounts>(valuesPath('effectivevalues', namespace), known);
  return (
    <Page title="Values">
      <Head namespace={list.namespace} />
      <search className={`${controls.card} ${classes.find}`} aria-label={t('Find values')}>
        <Text label="Host" hint="till-0001" value={typed.host} onText={(text) => setQuery('host', text)} />
        <Text
          label="Key"
          hint="store"
          value={typed.key}
          options={[...new Set(counts?.keys.map((each) => each.key))]}
          onText={(text) => setQuery('key', text)}
        />
        <Text
          label="Value of this key"
          hint="any"
          value={typed.value}
          onText={(text) => setQuery('value', text)}
        />
        <Text
          label="Namespace"
          hint={namespace || t('all namespaces')}
          value={typed.namespace}
          onText={(text) => setQuery('namespace', text)}
        />
      </search>
      <NamespaceProblem typed={typed.namespace} />
      {settled.host !== '' && <HostValueTable node={settled.host} {...{ namespace, version: known }} />}
      {settled.key !== '' && (
        <HostsByValueTable valueKey={settled.key} {...{ namespace, value: settled.value, version: known }} />
      )}
      {typed.key === '' && typed.value !== '' && <p role="status">{t('Enter the key of this value.')}</p>}
      <ValuesObjectTable list={list} counts={counts} onMore={() => setLimit(limit + PAGE_SIZE)} />
      <CopyCommand text={`kubectl get hostvalues ${namespaceFlag(list.namespace)}`} />
    </Page>
  );
}

/** The fields of the search, as the URL has them. */
function fieldsOf(query: URLSearchParams) {
  const text = (name: string) => query.get(name)?.trim() ?? '';
  return { namespace: text('namespace'), key: text('key'), value: text('value'), host: text('host') };
}

function Head({ namespace }: { namespace: string | undefined }) {
  const mayCreate = useIsAllowed({
    ...{ verb: 'create', group: 'fleet.everynode.dev', resource: 'hostvalues' },
    namespace: namespace ?? 'default',
  });
  return (
    <div className={classes.head}>
      <h1>{t('Values per host')}</h1>
      {mayCreate && (
        <Link
          href={namespace === undefined ? '/values/new' : `/values/new?namespace=${namespace}`}
          className={`${controls.button} ${classes.action}`}
          data-main
        >
          {t('Add values…')}
        </Link>
      )}
    </div>
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
