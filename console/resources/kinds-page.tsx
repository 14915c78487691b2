/** Page with every kind that the API serves, custom resources included. */
import { Link } from 'wouter';
import controls from '../layout/controls.module.css';
import { ListTable } from '../layout/list-table.js';
import { Page } from '../layout/shell/page.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { useUrlQuery } from '../layout/use-url-query.js';
import { t } from '../texts/translate.js';
import { listAddress, matchingKinds } from './served-kinds.js';
import { useServedKinds } from './use-served-kinds.js';

const COLUMNS = ['Kind', 'Group', 'Version', 'Scope'] as const;

export function KindsPage() {
  const { kinds, problem } = useServedKinds();
  const [query, setQuery] = useUrlQuery();
  const typed = query.get('find') ?? '';
  const shown = matchingKinds(kinds ?? [], typed);
  return (
    <Page title="Resources">
      <h1>{t('Resources')}</h1>
      <label>
        {t('Find a kind')}{' '}
        <input
          className={controls.input}
          type="search"
          value={typed}
          placeholder={t('deployment or a group')}
          data-shortcut="/"
          onChange={(event) => setQuery('find', event.target.value)}
        />
      </label>
      {problem && (
        <p role="alert">
          {t('The kinds could not be loaded:')} {problem}
        </p>
      )}
      {!kinds && !problem && <p role="status">{t('Loading…')}</p>}
      {kinds && shown.length === 0 && <p role="status">{t('No kind matches “{{typed}}”.', { typed })}</p>}
      {shown.length > 0 && (
        <ListTable label="Kinds" columns={COLUMNS}>
          {shown.map((kind) => (
            <tr key={listAddress(kind)}>
              <th scope="row">
                <Link href={listAddress(kind)}>{kind.kind}</Link>
              </th>
              <td>{kind.group || 'core'}</td>
              <td>{kind.version}</td>
              <td>{kind.namespaced ? 'Namespaced' : 'Cluster'}</td>
            </tr>
          ))}
        </ListTable>
      )}
      <CopyCommand text="kubectl api-resources" />
    </Page>
  );
}
