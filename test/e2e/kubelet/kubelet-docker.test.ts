/** The kubelet's pages on Docker. */
import { kubeletTests } from './kubelet-checks.js';

kubeletTests('docker');
