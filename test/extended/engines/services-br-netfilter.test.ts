/** ClusterIPs and node ports on both engines, each with the br_netfilter that `npm test` leaves out. */
import { servicesOnEngines } from '../../e2e/services/engine-service-checks.js';

servicesOnEngines({ docker: '1', podman: '0' });
