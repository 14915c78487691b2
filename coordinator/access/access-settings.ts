/** Settings of authentication, in addition to the administrator's token and ServiceAccounts. */
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

/** The algorithms that kube-apiserver accepts. Symmetric keys and unsigned tokens are excluded. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'];

const signingAlgorithms: Setting<string[]> = {
  description: 'accepted signature algorithms',
  placeholder: 'ALG,…',
  default: ['RS256'],
  read: (text) => {
    const named = text.split(',');
    if (named.every((name) => ALGORITHMS.includes(name))) return named;
    throw new Error(`must be of ${ALGORITHMS.join(', ')}`);
  },
};

/** Named like kube-apiserver's flags. */
export const ACCESS_SETTINGS = {
  tokenAuthFile: optionalTextSetting('static tokens: lines of TOKEN,USER,UID,"GROUP,…"', 'FILE'),
  oidcIssuerUrl: optionalTextSetting('OpenID Connect issuer whose ID tokens are accepted', 'URL'),
  oidcClientId: optionalTextSetting('client ID (audience) that these tokens must have', 'ID'),
  oidcClientSecretFile: optionalTextSetting(
    'secret of this client, for issuers that require one in addition to PKCE',
    'FILE',
  ),
  oidcScopes: textSetting('scopes that the console requests', 'SCOPE,…', 'openid,email,profile'),
  oidcUsernameClaim: textSetting('claim with the user name', 'CLAIM', 'sub'),
  oidcUsernamePrefix: optionalTextSetting(
    'prefix of user names; default: ISSUER#, or none for the claim email; - = none',
    'TEXT',
  ),
  oidcGroupsClaim: optionalTextSetting('claim with the groups', 'CLAIM'),
  oidcGroupsPrefix: optionalTextSetting('prefix of group names', 'TEXT'),
  oidcRequiredClaims: requiredClaims,
  oidcSigningAlgs: signingAlgorithms,
  oidcCaFile: optionalTextSetting('PEM file with the certificate authorities of the issuer', 'FILE'),
};
