/** The log files of Pods on Podman. */
import { logFiles } from './log-file-checks.js';

logFiles('podman');
