/** The kubelet's pages on Podman. */
import { kubeletTests } from '../../e2e/kubelet/kubelet-checks.js';

kubeletTests('podman');
