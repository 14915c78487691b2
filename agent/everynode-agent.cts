/** The `everynode-agent` of the npm package: all of the agent as one file, compiled once where Node can keep that. */
import nodeModule = require('node:module');
import path = require('node:path');

// Node 22.8 and newer. Beside the program, so that nobody can plant what runs as root who could not plant the program.
const { enableCompileCache } = nodeModule as { enableCompileCache?: (directory: string) => unknown };
enableCompileCache?.(path.join(__dirname, '.compile-cache'));
require('./bundle.cjs');
