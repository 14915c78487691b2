/** The kubelet's pages on Podman. */
import { kubeletTests } from './kubelet-checks.js';

kubeletTests('podman');
