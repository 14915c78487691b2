/** The token file, the claims of an ID token, and impersonation headers. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readImpersonation } from '../../../coordinator/access/impersonation.js';
import { type OidcSettings, oidcUser } from '../../../coordinator/access/oidc-authenticator.js';
import { readTokenFile } from '../../../coordinator/access/static-token-file.js';

describe('a token file', () => {
  const find = readTokenFile('# people\nt1,ann,7,"dev,ops"\r\nt2,bob,,dev\n\nt3,eve,9\n', 'tokens.csv');
  const everyone = 'system:authenticated';

  test('maps a token to its user', () => {
    assert.deepEqual(find('t1'), { username: 'ann', uid: '7', groups: ['dev', 'ops', everyone] });
    assert.deepEqual(find('t2'), { username: 'bob', groups: ['dev', everyone] });
    assert.deepEqual(find('t3'), { username: 'eve', uid: '9', groups: [everyone] });
  });

  test('rejects an unknown token', () => {
    for (const token of ['', 't', 't1 ', 'T1', '# people']) assert.equal(find(token), undefined);
  });

  for (const line of ['secret', 'secret,ann', ',ann,1', 'secret,,1', 'secret,ann,1,"dev']) {
    test(`rejects the line ${line} without printing it`, () => {
      const read = () => readTokenFile(`t1,ann,7\n${line}`, 'tokens.csv');
      assert.throws(
        read,
        (error: Error) => error.message.includes('line 2') && !error.message.includes('secret'),
      );
    });
  }
});

const SETTINGS: OidcSettings = {
  issuer: 'https://id.example.com',
  clientId: 'everynode',
  usernameClaim: 'sub',
  groupsPrefix: '',
  requiredClaims: {},
  signingAlgorithms: ['RS256'],
};

describe('the claims of an ID token', () => {
  const user = (claims: Record<string, unknown>, change: Partial<OidcSettings> = {}) =>
    oidcUser({ sub: 'ann', ...claims }, { ...SETTINGS, ...change });

  test('a user name is prefixed with the issuer', () =>
    assert.equal(user({}).username, 'https://id.example.com#ann'));
  test('an e-mail address is not prefixed with the issuer', () => {
    assert.equal(user({ email: 'a@b' }, { usernameClaim: 'email' }).username, 'a@b');
  });
  test('an empty prefix setting leaves the user name unprefixed', () =>
    assert.equal(user({}, { usernamePrefix: '-' }).username, 'ann'));
  test('a configured prefix replaces the issuer', () =>
    assert.equal(user({}, { usernamePrefix: 'oidc:' }).username, 'oidc:ann'));
  test('the groups claim may be a list or a single string', () => {
    const change = { groupsClaim: 'roles', groupsPrefix: 'oidc:' };
    assert.deepEqual(user({ roles: ['a', 'b'] }, change).groups, [
      'oidc:a',
      'oidc:b',
      'system:authenticated',
    ]);
    assert.deepEqual(user({ roles: 'a' }, change).groups, ['oidc:a', 'system:authenticated']);
    assert.deepEqual(user({}, change).groups, ['system:authenticated']);
  });
  for (const [title, claims, change] of [
    ['an unverified e-mail address', { email: 'a@b', email_verified: false }, { usernameClaim: 'email' }],
    [
      'an e-mail address whose verified claim is a string',
      { email: 'a@b', email_verified: 'true' },
      { usernameClaim: 'email' },
    ],
    [
      'an e-mail address without a verified claim',
      { email: 'a@b', email_verified: null },
      { usernameClaim: 'email' },
    ],
    ['no name', {}, { usernameClaim: 'nickname' }],
    ['a name that is not a string', { sub: 7 }, {}],
    ['groups that are not strings', { roles: [1] }, { groupsClaim: 'roles' }],
    ['a required claim with another value', { tenant: 'b' }, { requiredClaims: { tenant: 'a' } }],
    ['a missing required claim', {}, { requiredClaims: { tenant: 'a' } }],
  ] as [string, Record<string, unknown>, Partial<OidcSettings>][]) {
    test(`${title} is refused`, () => assert.throws(() => user(claims, change)));
  }
});

describe('Impersonate headers', () => {
  test('impersonation headers name a user, groups, a uid and extra fields, and each needs its own permission', () => {
    const { user, requiredAccess: needs } = readImpersonation({
      'impersonate-user': ['jane'],
      'impersonate-group': ['dev', 'ops'],
      'impersonate-uid': ['7'],
      'impersonate-extra-example.com%2fscope': ['a'],
    });
    assert.deepEqual(user, {
      username: 'jane',
      groups: ['dev', 'ops', 'system:authenticated'],
      uid: '7',
      extra: { 'example.com/scope': ['a'] },
    });
    assert.deepEqual(
      needs.map((need) =>
        'path' in need ? '' : `${need.verb} ${need.resource}/${need.subresource} ${need.name}`,
      ),
      [
        'impersonate users/ jane',
        'impersonate groups/ dev',
        'impersonate groups/ ops',
        'impersonate userextras/example.com/scope a',
        'impersonate uids/ 7',
      ],
    );
  });

  test('impersonating a ServiceAccount adds its groups', () => {
    const { user, requiredAccess: needs } = readImpersonation({
      'impersonate-user': ['system:serviceaccount:ns:robot'],
    });
    assert.deepEqual(user.groups, [
      'system:serviceaccounts',
      'system:serviceaccounts:ns',
      'system:authenticated',
    ]);
    const [need] = needs;
    assert.ok(need && !('path' in need));
    assert.deepEqual([need.resource, need.namespace, need.name], ['serviceaccounts', 'ns', 'robot']);
  });

  test('impersonating system:anonymous stays unauthenticated', () => {
    const { user } = readImpersonation({ 'impersonate-user': ['system:anonymous'] });
    assert.deepEqual(user.groups, ['system:unauthenticated']);
  });

  test('impersonating groups without a user is rejected', () => {
    assert.throws(() => readImpersonation({ 'impersonate-group': ['system:masters'] }), /user name/);
  });
});
