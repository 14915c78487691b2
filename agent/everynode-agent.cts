/** The `everynode-agent` of the npm package: the bundled agent, with Node's compile cache. */
import nodeModule = require('node:module');
import path = require('node:path');

// Node 22.8 and newer. The cache is next to the program: only users who can replace the program can replace the cached code, which may run as root.
const { enableCompileCache } = nodeModule as { enableCompileCache?: (directory: string) => unknown };
enableCompileCache?.(path.join(__dirname, '.compile-cache'));
require('./bundle.cjs');
