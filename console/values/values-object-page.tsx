/** Page of one HostValues object, and the page that creates one. The URL contains whether it is edited. */
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import type { HostValues } from '../../shared/kube/host-values/host-values-types.js';
import { countText, FLEET_GROUP } from '../../shared/kube/objects/meta.js';
import { useIsAllowed } from '../api/access-checks.js';
import { useLiveList } from '../api/live-list.js';
import controls from '../layout/controls.module.css';
import { ListState } from '../layout/list-state.js';
import { ListTable } from '../layout/list-table.js';
import { useNewObjectNamespace } from '../layout/namespace-filter.js';
import { SpecHistory } from '../layout/revisions/history-of-spec.js';
import { Page } from '../layout/shell/page.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { selectorText } from '../layout/text/selector-text.js';
import { useUrlQuery } from '../layout/use-url-query.js';
import { EventList } from '../pods/event-list.js';
import { RichText } from '../texts/rich-text.js';
import { t } from '../texts/translate.js';
import { valuesPath, valueText } from './value-text.js';
import classes from './values.module.css';
import { firstValues, ValuesEditor, valuesText } from './values-editor.js';

const MOST_HOSTS = 50;

export function NewValuesPage() {
  const [, go] = useLocation();
  const namespace = useNewObjectNamespace();
  const leave = (written?: HostValues) =>
    go(written ? `/values/${written.metadata.namespace}/${written.metadata.name}` : '/values');
  return (
    <Page title="New values">
      <p>
        <Link href="/values">{t('Values')}</Link>
      </p>
      <h1>{t('New values')}</h1>
      <section className={controls.card} aria-label={t('Manifest')}>
        <ValuesEditor base={undefined} firstText={firstValues(namespace)} onDone={leave} />
      </section>
    </Page>
  );
}

export function ValuesObjectPage() {
  const { namespace = '', name = '' } = useParams();
  const { objects, phase, error } = useLiveList<HostValues>(
    `${valuesPath('hostvalues', namespace)}?fieldSelector=metadata.name%3D${name}`,
  );
  const [object] = objects;
  return (
    <Page title={`${name} – Values`}>
      <p>
        <Link href="/values">{t('Values')}</Link> / {namespace}
      </p>
      <h1>{name}</h1>
      <ListState {...{ phase, error }} what={`HostValues of ${namespace}`} isEmpty={!object}>
        <p>
          <RichText
            text="There are no HostValues with this name: <to>all values</to>"
            parts={{ to: <Link href="/values" /> }}
          />
        </p>
      </ListState>
      {object && <Details object={object} />}
    </Page>
  );
}

function Details({ object }: { object: HostValues }) {
  const { namespace = '', name } = object.metadata;
  const [query, setQuery] = useUrlQuery();
  const [isWritten, setWritten] = useState(false);
  const mayEdit = useIsAllowed({
    ...{ verb: 'update', group: 'fleet.everynode.dev', resource: 'hostvalues' },
    namespace,
  });
  if (query.has('edit'))
    return (
      <section className={controls.card} aria-label={t('Manifest')}>
        <h2>{t('Manifest')}</h2>
        <ValuesEditor
          base={object}
          firstText={valuesText(object)}
          onDone={(written) => {
            setWritten(written !== undefined);
            setQuery('edit', '');
          }}
        />
      </section>
    );
  return (
    <>
      {isWritten && <p role="status">{t('Saved. Pods that use a changed value are replaced.')}</p>}
      <Summary object={object} />
      {mayEdit && (
        <p>
          <button type="button" className={controls.button} onClick={() => setQuery('edit', 'manifest')}>
            {t('Edit values')}
          </button>
        </p>
      )}
      <SelectedValues object={object} />
      <NamedHosts object={object} />
      <SpecHistory
        {...{ object, group: FLEET_GROUP, resource: 'hostvalues' }}
        path={`${valuesPath('hostvalues', namespace)}/${name}`}
        target={`hv/${name}`}
        effect={t('Pods that use a changed value are replaced. The present version stays in the history.')}
      />
      <EventList namespace={namespace} about={`involvedObject.kind=HostValues,involvedObject.name=${name}`} />
      <CopyCommand text={`kubectl -n ${namespace} get hostvalues ${name} -o yaml`} />
    </>
  );
}

function Summary({ object: { spec } }: { object: HostValues }) {
  const named = Object.keys(spec.hosts ?? {}).length;
  const hasValues = spec.values !== undefined || spec.secrets !== undefined;
  return (
    <section className={controls.card} aria-label={t('Summary')}>
      <dl className={controls.row}>
        <div>
          <dt className={controls.dim}>{t('Priority')}</dt>
          <dd>{t('{{priority}}; the highest wins', { priority: spec.priority ?? 0 })}</dd>
        </div>
        {hasValues && (
          <div>
            <dt className={controls.dim}>{t('Hosts by labels')}</dt>
            <dd>{selectorText(spec.nodeSelector)}</dd>
          </div>
        )}
        {named > 0 && (
          <div>
            <dt className={controls.dim}>{t('Hosts by name')}</dt>
            <dd>{countText(named, 'host')}</dd>
          </div>
        )}
      </dl>
    </section>
  );
}

const VALUE_COLUMNS = ['Key', 'Value'] as const;

function SelectedValues({ object: { metadata, spec } }: { object: HostValues }) {
  const secrets = Object.entries(spec.secrets ?? {}).map(
    ([key, reference]) => [key, valueText({ secretKeyRef: reference })] as const,
  );
  const values = [...Object.entries(spec.values ?? {}), ...secrets];
  if (values.length === 0) return null;
  return (
    <ListTable label="Values of the selected hosts" columns={VALUE_COLUMNS}>
      {values.map(([key, value]) => (
        <tr key={key}>
          <th scope="row">
            <Link href={`/values?namespace=${metadata.namespace}&key=${encodeURIComponent(key)}`}>{key}</Link>
          </th>
          <td className={classes.value}>{valueText(value)}</td>
        </tr>
      ))}
    </ListTable>
  );
}

const HOST_COLUMNS = ['Host', 'Values'] as const;

function NamedHosts({ object: { spec } }: { object: HostValues }) {
  const [filter, setFilter] = useState('');
  const all = Object.entries(spec.hosts ?? {});
  if (all.length === 0) return null;
  const found = all.filter(([host]) => host.includes(filter.trim())).sort(([a], [b]) => (a < b ? -1 : 1));
  return (
    <section className={classes.part} aria-label={t('Named hosts')}>
      <div className={controls.row}>
        <h2>{t('Values of single hosts')}</h2>
        <input
          type="search"
          className={controls.input}
          aria-label={t('Find a host')}
          placeholder={t('Find a host')}
          value={filter}
          onChange={({ target }) => setFilter(target.value)}
        />
      </div>
      <ListTable label="Values by host" columns={HOST_COLUMNS}>
        {found.slice(0, MOST_HOSTS).map(([host, values]) => (
          <tr key={host}>
            <th scope="row">
              <Link href={`/hosts/${host}`}>{host}</Link>
            </th>
            <td className={classes.value}>
              {Object.entries(values)
                .map(([key, value]) => `${key}: ${valueText(value)}`)
                .join(', ')}
            </td>
          </tr>
        ))}
      </ListTable>
      {found.length > MOST_HOSTS && (
        <p className={controls.dim}>
          {t('{{shown}} of {{total}} hosts are shown. Enter a part of a name.', {
            shown: MOST_HOSTS,
            total: found.length,
          })}
        </p>
      )}
    </section>
  );
}
