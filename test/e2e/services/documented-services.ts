/** The example of docs/services.md: applies the manifest as it is, and runs the documented commands. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { untilPasses } from '../../harness/basics/wait-until.js';
import { busyboxImageArchive } from '../../harness/engines/test-images.js';
import type { TwoHosts } from '../../harness/hosts/two-hosts-fixture.js';

const PAGE = 'docs/services.md';
/** The image and the programs that the example and its commands use. */
const IMAGE = 'busybox:1.37';
const APPLETS = ['httpd', 'mkdir', 'nslookup', 'sleep'];
/** In place of `wget`: that of a static busybox crashes in getaddrinfo, so the script asks the Pod's resolver and uses `nc`. */
const WGET = `rest=\${2#http://}
authority=\${rest%%/*}
host=\${authority%%:*}
port=80
case $authority in *:*) port=\${authority##*:} ;; esac
address=$host
case $host in *[!0-9.]*)
  for domain in '' $(busybox sed -n 's/^search//p' /etc/resolv.conf); do
    address=$(nslookup "$host\${domain:+.$domain}" 2>/dev/null | busybox sed -n '/^Name:/,$s/^Address[ 0-9]*: //p' | busybox head -n 1)
    [ -n "$address" ] && break
  done
  [ -n "$address" ] || { echo "bad address '$host'" >&2; exit 1; } ;;
esac
printf 'GET / HTTP/1.0\\r\\nHost: %s\\r\\n\\r\\n' "$host" | busybox nc -w 5 "$address" "$port" | busybox sed '1,/^.$/d'`;
const SCRIPTS = {
  ...Object.fromEntries(APPLETS.map((name) => [name, `exec busybox ${name} "$@"`])),
  wget: WGET,
};
/** Names of nodes on the page. */
const NODES: Readonly<Record<string, string>> = { 'shop-1': 'one', 'shop-2': 'two' };

/** Returns the arguments of each `kubectl` command of the page's first section. */
function documentedCommands(): string[][] {
  const [, section = ''] = readFileSync(PAGE, 'utf8').split(/^## /m);
  return [...section.matchAll(/^\$ kubectl (.*)$/gm)].map(([, line = '']) =>
    [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word = '']) => {
      const argument = quoted ?? word;
      return Object.entries(NODES).reduce((text, [from, to]) => text.replace(from, to), argument);
    }),
  );
}

/** Replaces the Pods of the test, which use the same names, by those of the example. Runs all commands of the page. */
export async function runDocumentedServices(all: TwoHosts, daemonSets: readonly string[]): Promise<void> {
  const { kubectl } = all;
  const archive = await busyboxImageArchive(IMAGE, SCRIPTS);
  for (const host of [all.one, all.two]) host.loadArchive(archive);
  await kubectl.ok(`delete ds ${daemonSets.join(' ')} --wait=true --timeout=60s`);
  await untilPasses(async () => assert.equal(await kubectl.ok('get pods -o name'), ''), 60_000);

  const [apply, random, address, lookup, node, own, ...others] = documentedCommands();
  assert.ok(apply && random && address && lookup && node && own, 'the page has six commands');
  assert.deepEqual([apply, others], [['apply', '-f', 'examples/services.yaml'], []]);
  const run = async (command: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await kubectl.run(command);
    assert.equal(code, 0, `kubectl ${command.join(' ')}: ${stderr}${stdout}`);
    return stdout.trim();
  };
  // kubectl runs in a folder of its own.
  await run(apply.map((word) => (word.startsWith('examples/') ? resolve(word) : word)));
  for (const name of ['hello', 'client']) await kubectl.ok(`rollout status ds/${name} --timeout=60s`);

  const nodes = [all.one, all.two];
  await untilPasses(async () => {
    assert.match(await run(random), /^(one|two)$/);
    const found = await run(lookup);
    for (const { address: expected } of nodes)
      assert.match(found, new RegExp(`^Address.* ${expected}$`, 'm'));
  });
  assert.equal(await run(node), 'two');
  const answer = await run(own);
  assert.match(answer, /^(one|two)$/);
  assert.equal(await run(address), answer, "the address of the client's node leads to the same daemon");
}
