/** ClusterIPs and node ports on both engines. `npm run extended` has each engine with the other br_netfilter. */
import { servicesOnEngines } from './engine-service-checks.js';

servicesOnEngines({ docker: '0', podman: '1' });
