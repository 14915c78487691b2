/** List of join tokens, without their secrets. */
import { useState } from 'react';
import {
  TOKEN_SECRET_PREFIX,
  TOKEN_SECRET_TYPE,
  type TokenSummary,
  tokenSummary,
} from '../../shared/kube/access/join-token-secret.js';
import type { Secret } from '../../shared/kube/objects/config-types.js';
import { ACCESS, useIsAllowed } from '../api/access-checks.js';
import { requestApi } from '../api/api-call.js';
import { useLiveList } from '../api/live-list.js';
import { ConfirmDialog } from '../layout/confirm-dialog.js';
import controls from '../layout/controls.module.css';
import { ListTable } from '../layout/list-table.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { t, translated } from '../texts/translate.js';
import { TOKENS } from './create-join-token.js';
import classes from './onboarding.module.css';

const PATH = `${TOKENS}?fieldSelector=${encodeURIComponent(`type=${TOKEN_SECRET_TYPE}`)}`;

export function TokenList() {
  const { objects, phase } = useLiveList<Secret>(PATH);
  const mayDelete = useIsAllowed(ACCESS.deleteTokens);
  const [revoked, setRevoked] = useState<TokenSummary>();
  const tokens = objects.map(tokenSummary);
  return (
    <section className={classes.part} aria-label={t('Tokens')}>
      <h2>{t('Tokens')}</h2>
      {phase === 'loading' && <p role="status">{t('Loading tokens…')}</p>}
      {phase === 'live' && tokens.length === 0 && <p>{t('None: no host can join.')}</p>}
      {tokens.length > 0 && (
        <ListTable label="Join tokens" columns={['Token', 'Ends', 'Hosts', 'Names', 'For', '']}>
          {tokens.map((token) => (
            <tr key={token.id}>
              <th scope="row">
                <code>{token.id}</code>
              </th>
              <td>{token.expires ? <RelativeTime at={token.expires} /> : t('never')}</td>
              <td>{translated(USES[token.uses])}</td>
              <td>{token.nodes === '*' ? 'any' : token.nodes}</td>
              <td>{token.description}</td>
              <td>
                {mayDelete && (
                  <button
                    type="button"
                    className={controls.button}
                    aria-label={t('Revoke token {{id}}', { id: token.id })}
                    onClick={() => setRevoked(token)}
                  >
                    {t('Revoke')}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </ListTable>
      )}
      {revoked && (
        <ConfirmDialog
          question={{
            title: t('Revoke token {{id}}?', { id: revoked.id }),
            text: (
              <>
                <p>{t('No further host can join with it. Joined hosts are not affected.')}</p>
                <CopyCommand text={`everynode token revoke ${revoked.id}`} />
              </>
            ),
            act: 'Revoke',
            reason: 'none',
            perform: async () => {
              await requestApi(`${TOKENS}/${TOKEN_SECRET_PREFIX}${revoked.id}`, { method: 'DELETE' });
            },
          }}
          onClose={() => setRevoked(undefined)}
        />
      )}
    </section>
  );
}

const USES: Readonly<Record<TokenSummary['uses'], string>> = { any: 'any number', 1: 'one', 0: 'used up' };
