/**
 * Finds out whether a container engine listens on this machine, before `npm run up` spends minutes on packages. Plain
 * JavaScript without dependencies, because no packages are installed yet. It refuses only what `everynode-agent check`
 * would refuse later: which engine it is and its version are checked there.
 */
import { connect } from 'node:net';

/** Places of `candidateAddresses` in agent/runtime/docker/find-engine.ts. */
function sockets({ DOCKER_HOST: chosen, XDG_RUNTIME_DIR: runtimeDir, HOME: home }) {
  if (chosen) return [chosen.slice('unix://'.length)];
  return [
    '/var/run/docker.sock',
    ...(runtimeDir ? [`${runtimeDir}/docker.sock`] : []),
    ...(home ? [`${home}/.docker/run/docker.sock`] : []),
    '/run/podman/podman.sock',
    ...(runtimeDir ? [`${runtimeDir}/podman/podman.sock`] : []),
  ];
}

/** True if the engine cannot be checked yet, or `up` needs none. `args` are those of `everynode`. */
function isUndecided(args, environment) {
  const has = (flag) => args.some((each) => each === flag || each.startsWith(`${flag}=`));
  // The settings of a file or variable are read by the program. A hollow engine is part of the agent.
  if (has('--config') || has('--help') || has('-h') || has('--install-engine')) return true;
  if (environment.EVERYNODE_INSTALL_ENGINE) return true;
  const flag = args.indexOf('--runtime');
  const inline = args.find((each) => each.startsWith('--runtime='))?.slice('--runtime='.length);
  const runtime = inline ?? (flag >= 0 ? args[flag + 1] : environment.EVERYNODE_RUNTIME);
  const isRemote = environment.DOCKER_HOST && !environment.DOCKER_HOST.startsWith('unix://');
  return runtime === 'hollow' || Boolean(isRemote);
}

const CAUSES = {
  ENOENT: 'the socket does not exist (start the engine)',
  EACCES: 'permission denied (join its group, or run as root)',
  ECONNREFUSED: 'no engine listens there (start it)',
};

/** Resolves with why nothing listens at the socket; undefined if an engine does. */
function failureAt(path) {
  return new Promise((resolve) => {
    const socket = connect({ path })
      .on('connect', () => {
        socket.destroy();
        resolve(undefined);
      })
      .on('error', ({ code, message }) => resolve(`${path}: ${CAUSES[code] ?? message}`));
  });
}

/** Resolves with the sentence that refuses `everynode ARGS`; undefined if it may start. */
export async function engineProblem(args, environment) {
  if (args[0] !== 'up' || isUndecided(args, environment)) return undefined;
  const failures = await Promise.all(sockets(environment).map(failureAt));
  if (failures.includes(undefined)) return undefined;
  return (
    `No container engine found (${failures.join('; ')}). Install one, on Debian: apt-get install docker.io, ` +
    'or repeat with --install-engine as root; or set DOCKER_HOST to its socket.'
  );
}
