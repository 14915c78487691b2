/** `kubectl logs` on Podman. */
import { podLogs } from '../../e2e/streams/pod-log-checks.js';

podLogs('podman');
