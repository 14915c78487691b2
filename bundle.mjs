/** Bundles the agent as one file, `dist/agent/bundle.cjs`, and the console as files for browsers. */
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

/** Replaces `import.meta.url`, which CommonJS lacks. Single executables accept only CommonJS. */
const OWN_URL = 'const BUNDLE_URL = require("node:url").pathToFileURL(__filename).href;';

/** Half a megabyte of packages that few starts need. The npm package has them outside of the bundle. */
const SELDOM = ['yaml', '@peculiar/x509', 'reflect-metadata', 'tar-stream'];

/** The font of the console. Its licence requires that its text is shipped with it. */
const INTER = 'node_modules/@fontsource-variable/inter';
/** The subset of most texts, which the page preloads. Browsers load the others when a text needs them. */
const LATIN_FONT = `${INTER}/files/inter-latin-wght-normal.woff2`;

/** Keeps the simulator outside of the bundle: only `simulate` loads it. */
const SIMULATION_APART = {
  name: 'simulation-apart',
  setup(build) {
    build.onResolve({ filter: /\/simulate\/(simulate-fleet|fleet-worker)\.js$/ }, ({ path }) => ({
      path: `./simulate/${basename(path)}`,
      external: true,
    }));
  },
};

/**
 * Writes the agent's bundle. `root` is the compiled checkout. With a path `alone`, writes it there and includes all
 * packages. Rejects with esbuild's error.
 */
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
    // Keeps names, because stack traces in logs contain them.
    minifySyntax: true,
    minifyWhitespace: true,
    logLevel: 'warning',
    // The package's default entry loads a native addon, which a single file cannot contain.
    alias: { msgpackr: join(root, 'node_modules/msgpackr/index.js') },
    define: {
      EVERYNODE_BUNDLE_VERSION: JSON.stringify(version),
      EVERYNODE_UNITS: JSON.stringify(unitTexts(join(root, 'systemd'))),
      'import.meta.url': 'BUNDLE_URL',
    },
    banner: { js: OWN_URL },
  });
}

/** Writes the console to `dist/console/`, with a hash of the content in each script's name. */
export async function bundleConsole(root) {
  const { build } = await import('esbuild');
  const options = consoleOptions(root);
  const { outdir } = options;
  // File names contain hashes, so files of earlier builds would remain.
  rmSync(outdir, { recursive: true, force: true });
  const { metafile } = await build(options);
  const outputs = Object.entries(metafile.outputs);
  const [script, { cssBundle }] = outputs.find(
    ([, { entryPoint }]) => entryPoint === 'console/console-app.tsx',
  );
  // The script names its chunks only when it has arrived. A slow link would wait for each step.
  const chunks = metafile.outputs[script].imports.filter(({ kind }) => kind === 'import-statement');
  const preloads = chunks.map(
    ({ path }) => `\n    <link rel="modulepreload" href="/console/${basename(path)}" />`,
  );
  const page = readFileSync(join(root, 'console/index.html'), 'utf8')
    .replace('<link rel="stylesheet"', `${preloads.join('').trimStart()}\n    <link rel="stylesheet"`)
    .replace('/console/main.js', `/console/${basename(script)}`)
    .replace('/console/main.css', `/console/${basename(cssBundle)}`)
    .replace('/console/inter.woff2', `/console/${basename(fileOf(outputs, LATIN_FONT))}`);
  writeFileSync(join(outdir, 'index.html'), page);
  copyFileSync(join(root, 'console/icon.svg'), join(outdir, 'icon.svg'));
  copyFileSync(join(root, INTER, 'LICENSE'), join(outdir, 'inter-license.txt'));
  compressFiles(outdir);
}

/** Returns the path of the output that contains the file `input`. */
function fileOf(outputs, input) {
  return outputs.find(([, { inputs }]) => Object.hasOwn(inputs, input))[0];
}

/** Returns the folders of the npm packages whose code or styles the console's files contain, such as `node_modules/react`. */
export async function consolePackages(root) {
  const { build } = await import('esbuild');
  const { metafile } = await build({ ...consoleOptions(root), write: false });
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  const folders = inputs.flatMap(([path, { bytesInOutput }]) =>
    bytesInOutput > 0 ? (/^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []) : [],
  );
  return [...new Set(folders)].sort();
}

function consoleOptions(root) {
  return {
    entryPoints: [join(root, 'console/console-app.tsx')],
    outdir: join(root, 'dist/console'),
    bundle: true,
    splitting: true,
    format: 'esm',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    minify: true,
    loader: { '.woff2': 'file' },
    metafile: true,
    absWorkingDir: root,
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
  };
}

/** Writes a compressed copy beside each file: over a slow link the console starts in a third of the time. */
function compressFiles(folder) {
  // WOFF2 is compressed already.
  for (const name of readdirSync(folder).filter((each) => !each.endsWith('.woff2'))) {
    const content = readFileSync(join(folder, name));
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content));
  }
}

function unitTexts(folder) {
  const names = readdirSync(folder).filter(
    (name) => name.startsWith('everynode-agent') && /\.(service|socket)$/.test(name),
  );
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}
