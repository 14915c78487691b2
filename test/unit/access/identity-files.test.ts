/** The token file, the claims of an ID token, and the headers of acting as someone else. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readImpersonation } from '../../../coordinator/access/impersonation.js';
import { type OidcSettings, oidcUser } from '../../../coordinator/access/oidc-authenticator.js';
import { readTokenFile } from '../../../coordinator/access/static-token-file.js';

describe('the token file', () => {
  const find = readTokenFile('# people\nt1,ann,7,"dev,ops"\r\nt2,bob,,dev\n\nt3,eve,9\n', 'tokens.csv');
  const everyone = 'system:authenticated';

  test('says who a token is', () => {
    assert.deepEqual(find('t1'), { username: 'ann', uid: '7', groups: ['dev', 'ops', everyone] });
    assert.deepEqual(find('t2'), { username: 'bob', groups: ['dev', everyone] });
    assert.deepEqual(find('t3'), { username: 'eve', uid: '9', groups: [everyone] });
  });

  test('knows no other token', () => {
    for (const token of ['', 't', 't1 ', 'T1', '# people']) assert.equal(find(token), undefined);
  });

  for (const line of ['secret', 'secret,ann', ',ann,1', 'secret,,1', 'secret,ann,1,"dev']) {
    test(`is refused for the line ${line}, which is not shown`, () => {
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

  test('the issuer stands before a name', () =>
    assert.equal(user({}).username, 'https://id.example.com#ann'));
  test('unless it is an e-mail address', () => {
    assert.equal(user({ email: 'a@b' }, { usernameClaim: 'email' }).username, 'a@b');
  });
  test('or nothing is to stand there', () => assert.equal(user({}, { usernamePrefix: '-' }).username, 'ann'));
  test('or something else', () => assert.equal(user({}, { usernamePrefix: 'oidc:' }).username, 'oidc:ann'));
  test('groups may be a list or one', () => {
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
    [
      'an e-mail address that is not verified',
      { email: 'a@b', email_verified: false },
      { usernameClaim: 'email' },
    ],
    [
      'an e-mail address that is verified only in words',
      { email: 'a@b', email_verified: 'true' },
      { usernameClaim: 'email' },
    ],
    [
      'an e-mail address of which nobody knows',
      { email: 'a@b', email_verified: null },
      { usernameClaim: 'email' },
    ],
    ['no name', {}, { usernameClaim: 'nickname' }],
    ['a name that is no text', { sub: 7 }, {}],
    ['groups that are no texts', { roles: [1] }, { groupsClaim: 'roles' }],
    ['a required claim of another value', { tenant: 'b' }, { requiredClaims: { tenant: 'a' } }],
    ['no required claim', {}, { requiredClaims: { tenant: 'a' } }],
  ] as [string, Record<string, unknown>, Partial<OidcSettings>][]) {
    test(`${title} is refused`, () => assert.throws(() => user(claims, change)));
  }
});

describe('Impersonate headers', () => {
  test('name a user, groups, a uid and more, each of which must be allowed', () => {
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

  test('a ServiceAccount brings its groups', () => {
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

  test('a nobody stays unauthenticated', () => {
    const { user } = readImpersonation({ 'impersonate-user': ['system:anonymous'] });
    assert.deepEqual(user.groups, ['system:unauthenticated']);
  });

  test('groups without a user are refused', () => {
    assert.throws(() => readImpersonation({ 'impersonate-group': ['system:masters'] }), /user name/);
  });
});
