/** Sessions of the console. A cookie authenticates only requests from the console's own pages. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { ConsoleSessions, refuseCrossSite } from '../../../coordinator/api/console/console-sessions.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { consoleModule } from '../../harness/console/console-module.js';

const { repeatAttempts } = await consoleModule<
  typeof import('../../../console/sign-in/repeated-attempts.js')
>('sign-in/repeated-attempts.ts');

function signedIn() {
  const clock = new ManualClock(0);
  const sessions = new ConsoleSessions(clock);
  const cookie = sessions.start('ann', 'Bearer secret');
  return { clock, sessions, cookie, header: cookie.split(';')[0] ?? '' };
}

test('the cookie is limited to TLS, this host and HTTP, and does not contain the credential', () => {
  const { cookie } = signedIn();
  for (const word of ['__Host-', 'Secure', 'HttpOnly', 'SameSite=Strict', 'Path=/'])
    assert.ok(cookie.includes(word), word);
  assert.ok(!cookie.includes('secret'));
});

test('the cookie maps to the credential until the session ends', () => {
  const { sessions, header } = signedIn();
  const request = { method: 'GET', headers: { cookie: `other=1; ${header}` } };
  assert.equal(sessions.authorizationOf(request), 'Bearer secret');
  assert.match(sessions.end(request.headers), /Max-Age=0/);
  assert.equal(sessions.authorizationOf(request), undefined);
});

test('a credential in the request takes precedence over the cookie', () => {
  const { sessions, header } = signedIn();
  const headers = { cookie: header, authorization: 'Bearer other' };
  assert.equal(sessions.authorizationOf({ method: 'POST', headers }), 'Bearer other');
});

test('a change that only the cookie authenticates is rejected unless the console sent it', () => {
  const { sessions, header } = signedIn();
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    assert.throws(() => sessions.authorizationOf({ method, headers: { cookie: header } }), ApiError);
    const headers = { cookie: header, 'x-everynode-console': '1' };
    assert.equal(sessions.authorizationOf({ method, headers }), 'Bearer secret');
  }
});

test("a WebSocket is accepted from the console's own origin only", () => {
  const { sessions, header } = signedIn();
  const headers = { cookie: header, upgrade: 'websocket', host: 'c:6443' };
  const from = (origin: string) => () =>
    sessions.authorizationOf({ method: 'GET', headers: { ...headers, origin } });
  assert.throws(from('https://evil'), ApiError);
  assert.throws(from('http://c:6443'), ApiError);
  assert.equal(from('https://c:6443')(), 'Bearer secret');
});

test('an unused session ends after twelve hours; use renews it', () => {
  const { sessions, header, clock } = signedIn();
  const request = { method: 'GET', headers: { cookie: header } };
  const hours = (count: number) => clock.advance(count * 3_600_000);
  hours(11);
  assert.ok(sessions.authorizationOf(request));
  hours(11);
  assert.ok(sessions.authorizationOf(request));
  hours(13);
  assert.equal(sessions.authorizationOf(request), undefined);
});

test('a user over the limit loses the least recently used session, and other users lose none', () => {
  const { sessions, header, clock } = signedIn();
  const request = { method: 'GET', headers: { cookie: header } };
  const signIn = (username: string, times: number) => {
    for (let count = 0; count < times; count += 1) {
      clock.advance(1);
      sessions.start(username, 'Bearer other');
    }
  };
  signIn('eve', 100);
  signIn('ann', 19);
  clock.advance(1);
  assert.equal(sessions.authorizationOf(request), 'Bearer secret');
  signIn('ann', 19);
  assert.equal(sessions.authorizationOf(request), 'Bearer secret');
  signIn('ann', 20);
  assert.equal(sessions.authorizationOf(request), undefined);
});

test('all ServiceAccounts of a namespace share one session limit and do not sign out other users', () => {
  const { sessions, header, clock } = signedIn();
  const account = (namespace: string, index: number) => `system:serviceaccount:${namespace}:account-${index}`;
  const isLive = (cookie: string) =>
    sessions.authorizationOf({ method: 'GET', headers: { cookie: cookie.split(';')[0] ?? '' } }) !==
    undefined;
  const other = sessions.start(account('other', 1), 'Bearer other');
  const cookies = Array.from({ length: 1_000 }, (_, index) => {
    clock.advance(1);
    return sessions.start(account('busy', index), 'Bearer busy');
  });
  assert.deepEqual(
    cookies.filter(isLive),
    cookies.slice(-200),
    'the two hundred most recent sessions of the namespace remain',
  );
  assert.ok(isLive(header) && isLive(other));
});

test('over the total limit a session of the user with the most sessions ends, and no sign-in is rejected', () => {
  const { sessions, header, clock } = signedIn();
  const isLive = (cookie: string) =>
    sessions.authorizationOf({ method: 'GET', headers: { cookie: cookie.split(';')[0] ?? '' } }) !==
    undefined;
  for (let user = 0; user < 500; user += 1) {
    clock.advance(1);
    for (let count = 0; count < 20; count += 1) sessions.start(`eve-${user}`, 'Bearer other');
  }
  const late = Array.from({ length: 100 }, (_, index) => sessions.start(`late-${index}`, 'Bearer late'));
  assert.ok([header, ...late].every(isLive), 'whoever has one session keeps it');
});

const CALLERS: [string, boolean, Record<string, string>][] = [
  ['kubectl', true, {}],
  ['a page of the console', true, { 'sec-fetch-site': 'same-origin', origin: 'https://c:6443' }],
  ['its own, in a browser without Sec-Fetch headers', true, { origin: 'https://c:6443' }],
  ['a page of another site', false, { 'sec-fetch-site': 'cross-site', origin: 'https://evil' }],
  ['a page that the user navigated to', false, { 'sec-fetch-site': 'same-site' }],
  ['a page of another site, in a browser that only sends Origin', false, { origin: 'https://evil' }],
  ['a page without an origin', false, { origin: 'null' }],
  ['a page over plain HTTP', false, { origin: 'http://c:6443' }],
];
for (const [who, may, headers] of CALLERS) {
  test(`a certificate ${may ? 'authenticates' : 'does not authenticate'} a change by ${who}`, () => {
    const changes = [
      { method: 'POST', headers: { host: 'c:6443', ...headers } },
      { method: 'GET', headers: { host: 'c:6443', upgrade: 'websocket', ...headers } },
    ];
    for (const change of changes) {
      if (may) refuseCrossSite(change);
      else assert.throws(() => refuseCrossSite(change), ApiError);
    }
    refuseCrossSite({ method: 'GET', headers: { host: 'c:6443', ...headers } });
  });
}

test('attempts to load the user follow each other, also if the coordinator does not answer one for long', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const ends: (() => void)[] = [];
  const attempt = () => new Promise<void>((resolve) => ends.push(resolve));
  const end = async () => {
    ends.at(-1)?.();
    await new Promise(setImmediate);
  };
  const stop = repeatAttempts(attempt, 2_000);
  try {
    for (let times = 0; times < 5; times += 1) mock.timers.tick(2_000);
    assert.equal(ends.length, 1, 'the first attempt has not ended');
    await end();
    mock.timers.tick(1_999);
    assert.equal(ends.length, 1);
    mock.timers.tick(1);
    assert.equal(ends.length, 2);
    stop();
    await end();
    mock.timers.tick(2_000);
    assert.equal(ends.length, 2, 'no attempt follows after the end');
  } finally {
    mock.timers.reset();
  }
});
