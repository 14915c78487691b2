/** HTTPS_PROXY and NO_PROXY: Go's rules (golang.org/x/net/http/httpproxy), as kubectl has them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  proxyFor,
  readNoProxy,
  readProxyUrl,
  shownProxy,
} from '../../../shared/link/forward-proxy/proxy-settings.js';

const httpsProxy = new URL('http://proxy:3128');

const EXCEPTIONS: readonly [noProxy: string, server: string, isDirect: boolean][] = [
  ['', 'https://fleet.example.com:6443', false],
  ['', 'https://localhost:6443', true],
  ['', 'https://127.9.9.9:6443', true],
  ['', 'https://[::1]:6443', true],
  ['', 'https://[::ffff:127.0.0.1]:6443', true],
  ['*', 'https://fleet.example.com:6443', true],
  ['other, *', 'https://10.0.0.1', true],
  ['example.com', 'https://example.com', true],
  ['example.com', 'https://fleet.example.com', true],
  ['example.com', 'https://badexample.com', false],
  ['EXAMPLE.com', 'https://Fleet.Example.COM', true],
  ['.example.com', 'https://fleet.example.com', true],
  ['.example.com', 'https://example.com', false],
  ['*.example.com', 'https://fleet.example.com', true],
  ['*.example.com', 'https://example.com', false],
  ['example.com:6443', 'https://example.com:6443', true],
  ['example.com:6443', 'https://example.com:7443', false],
  ['example.com:443', 'https://example.com', true],
  [' a.test , b.test ', 'https://b.test', true],
  ['bücher.test', 'https://xn--bcher-kva.test', true],
  ['10.0.0.1', 'https://10.0.0.1:6443', true],
  ['10.0.0.1:6443', 'https://10.0.0.1:6443', true],
  ['10.0.0.1:7443', 'https://10.0.0.1:6443', false],
  ['10.0.0.1', 'https://10.0.0.10', false],
  ['10.0.0.0/8', 'https://10.200.3.4:6443', true],
  ['10.0.0.0/8', 'https://11.0.0.1', false],
  ['10.0.0.0/8', 'https://ten.example.com', false],
  ['10.0.0.0/99', 'https://10.0.0.1', false],
  ['10.0.0.0/', 'https://10.0.0.1', false],
  ['fd00::/8', 'https://[fd00::1]:6443', true],
  ['fd00::1', 'https://[fd00::1]:6443', true],
  ['[fd00::1]:6443', 'https://[fd00::1]:6443', true],
  ['[fd00::1]:7443', 'https://[fd00::1]:6443', false],
  [',,:6443,.', 'https://fleet.example.com:6443', false],
];

for (const [noProxy, server, isDirect] of EXCEPTIONS) {
  test(`NO_PROXY="${noProxy}" ${isDirect ? 'excepts' : 'does not except'} ${server}`, () => {
    const expected = isDirect ? undefined : httpsProxy;
    assert.equal(proxyFor({ httpsProxy, noProxy: readNoProxy(noProxy) }, new URL(server)), expected);
  });
}

test('without HTTPS_PROXY every server is reached directly', () => {
  assert.equal(proxyFor({ noProxy: 'example.com' }, new URL('https://10.0.0.1')), undefined);
});

test('the scheme of a proxy may be absent, and an empty variable means no proxy', () => {
  assert.equal(readProxyUrl('proxy:3128')?.href, 'http://proxy:3128/');
  assert.equal(readProxyUrl('ann:secret@proxy:3128')?.username, 'ann');
  assert.equal(readProxyUrl('https://proxy')?.href, 'https://proxy/');
  assert.equal(readProxyUrl('  '), undefined);
});

for (const text of [
  'socks5://proxy:1',
  'http://',
  'http://proxy/path',
  'http://a:s3cret%zz@proxy',
  'ftp://s3cret@p',
])
  test(`HTTPS_PROXY="${text}" is refused without quoting it`, () => {
    assert.throws(
      () => readProxyUrl(text),
      ({ message }: Error) => /must be of the form http:/.test(message) && !message.includes('s3cret'),
    );
  });

test('a list of exceptions with line breaks or quotes is refused', () => {
  for (const text of ['a\nb', 'a"', '$(id)']) assert.throws(() => readNoProxy(text), /comma-separated/);
});

test('the shown address of a proxy has no credentials', () => {
  assert.equal(shownProxy(new URL('http://ann:s3cret@proxy:3128')), 'http://proxy:3128');
});
