/** What is bundled: the agent as one file, `dist/agent/bundle.cjs`, and the console as files that browsers load. */
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** CommonJS, for single executables take nothing else; what it names as its own URL follows. */
const OWN_URL = 'const BUNDLE_URL = require("node:url").pathToFileURL(__filename).href;';

/** Asked for by few starts, half a megabyte of text: the npm package has them beside the bundle. */
const SELDOM = ['yaml', '@peculiar/x509', 'reflect-metadata', 'tar-stream'];

/** A simulation is asked for by name: the npm package has its modules beside the bundle. */
const SIMULATION_APART = {
  name: 'simulation-apart',
  setup(build) {
    build.onResolve({ filter: /\/simulate\/(simulate-fleet|fleet-worker)\.js$/ }, ({ path }) => ({
      path: `./simulate/${basename(path)}`,
      external: true,
    }));
  },
};

/** Writes the file. `root` is the checkout, compiled; `version` goes into it. With a path `alone` it is written there and needs no packages. Rejects with what esbuild said. */
export async function bundleAgent(root, version, alone) {
  const { build } = await import('esbuild');
  await build({
    entryPoints: [join(root, 'dist/agent/program.js')],
    outfile: alone ?? join(root, 'dist/agent/bundle.cjs'),
    external: alone ? [] : SELDOM,
    plugins: alone ? [] : [SIMULATION_APART],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    // Names stay: they are what a stack in a log tells.
    minifySyntax: true,
    minifyWhitespace: true,
    logLevel: 'warning',
    // The other entry looks for a native addon, which one file has no place for.
    alias: { msgpackr: join(root, 'node_modules/msgpackr/index.js') },
    define: {
      EVERYNODE_BUNDLE_VERSION: JSON.stringify(version),
      EVERYNODE_UNITS: JSON.stringify(unitTexts(join(root, 'systemd'))),
      'import.meta.url': 'BUNDLE_URL',
    },
    banner: { js: OWN_URL },
  });
}

/** The console as files that browsers load: `dist/console/`, each script named by its content. */
export async function bundleConsole(root) {
  const { build } = await import('esbuild');
  const outdir = join(root, 'dist/console');
  // Names carry hashes: what an earlier build left would stay for ever.
  rmSync(outdir, { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints: [join(root, 'console/console-app.tsx')],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    minify: true,
    metafile: true,
    absWorkingDir: root,
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
  });
  const outputs = Object.entries(metafile.outputs);
  const [script, { cssBundle }] = outputs.find(
    ([, { entryPoint }]) => entryPoint === 'console/console-app.tsx',
  );
  const page = readFileSync(join(root, 'console/index.html'), 'utf8')
    .replace('/console/main.js', `/console/${basename(script)}`)
    .replace('/console/main.css', `/console/${basename(cssBundle)}`);
  writeFileSync(join(outdir, 'index.html'), page);
  copyFileSync(join(root, 'console/icon.svg'), join(outdir, 'icon.svg'));
}

function unitTexts(folder) {
  const names = readdirSync(folder).filter(
    (name) => name.startsWith('everynode-agent') && name.endsWith('.service'),
  );
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}
