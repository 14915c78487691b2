/** Settings of who may come in, beside the administrator and the ServiceAccounts. */
import { optionalTextSetting, textSetting } from '../../shared/process/settings/setting-values.js';
import type { Setting } from '../../shared/process/settings/settings-schema.js';

const requiredClaims: Setting<Record<string, string>> = {
  description: 'claims that a token must have with these values',
  placeholder: 'CLAIM=VALUE,…',
  default: {},
  read: (text) =>
    Object.fromEntries(
      text.split(',').map((pair) => {
        const at = pair.indexOf('=');
        if (at <= 0) throw new Error('must be CLAIM=VALUE,…');
        return [pair.slice(0, at), pair.slice(at + 1)];
      }),
    ),
};

/** Those that kube-apiserver takes; none of them lets a shared secret or no signature at all pass. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'];

const signingAlgorithms: Setting<string[]> = {
  description: 'signature algorithms that are accepted',
  placeholder: 'ALG,…',
  default: ['RS256'],
  read: (text) => {
    const named = text.split(',');
    if (named.every((name) => ALGORITHMS.includes(name))) return named;
    throw new Error(`must be of ${ALGORITHMS.join(', ')}`);
  },
};

/** Named as kube-apiserver's flags. */
export const ACCESS_SETTINGS = {
  tokenAuthFile: optionalTextSetting('static tokens: lines of TOKEN,USER,UID,"GROUP,…"', 'FILE'),
  oidcIssuerUrl: optionalTextSetting('OpenID Connect issuer whose ID tokens are accepted', 'URL'),
  oidcClientId: optionalTextSetting('client (audience) that these tokens must be for', 'ID'),
  oidcClientSecretFile: optionalTextSetting(
    'secret of this client, for issuers that ask the console for one besides PKCE',
    'FILE',
  ),
  oidcScopes: textSetting('scopes that the console asks for', 'SCOPE,…', 'openid,email,profile'),
  oidcUsernameClaim: textSetting('claim that names the user', 'CLAIM', 'sub'),
  oidcUsernamePrefix: optionalTextSetting(
    'put before user names; absent: ISSUER#, for email none; - = none',
    'TEXT',
  ),
  oidcGroupsClaim: optionalTextSetting('claim that names the groups', 'CLAIM'),
  oidcGroupsPrefix: optionalTextSetting('put before group names', 'TEXT'),
  oidcRequiredClaims: requiredClaims,
  oidcSigningAlgs: signingAlgorithms,
  oidcCaFile: optionalTextSetting('PEM of the authorities that the issuer is trusted by', 'FILE'),
};
