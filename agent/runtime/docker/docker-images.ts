/** Inspects, pulls, tags, removes and loads images of an engine. */

import { type EngineImage, type PullRequest, RuntimeError } from '../runtime-driver.js';
import { type DockerApi, jsonLines } from './docker-api.js';

/** Response of `GET /images/NAME/json`, as far as the agent reads it. */
interface ImageResponse {
  Id: string;
  RepoDigests: string[] | null;
  Size?: number;
  Config?: { User?: string } | null;
}

/** One line of the engine's pull or load progress. */
interface Progress {
  error?: string;
  errorDetail?: { message?: string };
}

/** Returns the engine's image, or undefined if it has none of this name. */
export async function inspectImage(api: DockerApi, image: string): Promise<ImageResponse | undefined> {
  try {
    return await api.json<ImageResponse>(
      { method: 'GET', path: `/images/${image}/json` },
      { 404: 'NotFound', 400: 'InvalidImageName', fallback: 'ErrImagePull' },
    );
  } catch (error) {
    if (error instanceof RuntimeError && error.reason === 'NotFound') return undefined;
    throw error;
  }
}

/** Converts the response of `GET /images/NAME/json`. */
export function toEngineImage({ Id, Size, Config }: ImageResponse): EngineImage {
  return { id: withAlgorithm(Id), user: Config?.User ?? '', sizeBytes: Size ?? 0 };
}

/** Throws `RuntimeError` ErrImagePull or InvalidImageName with the registry's message. */
export async function pullImage(
  api: DockerApi,
  { image, auth, signal, onProgress }: PullRequest,
): Promise<void> {
  const stream = await api.stream(
    {
      method: 'POST',
      path: '/images/create',
      query: { fromImage: withTag(image) },
      headers: auth === undefined ? {} : { 'X-Registry-Auth': auth },
      signal,
    },
    { 400: 'InvalidImageName', fallback: 'ErrImagePull' },
  );
  await finish(stream, 'ErrImagePull', onProgress);
}

/** Gives the image a second name. Throws `RuntimeError` ErrImagePull. */
export async function tagImage(api: DockerApi, image: string, name: string): Promise<void> {
  const colon = name.lastIndexOf(':');
  const [repo, tag] = [name.slice(0, colon), name.slice(colon + 1)];
  await api.json(
    { method: 'POST', path: `/images/${image}/tag`, query: { repo, tag } },
    { fallback: 'ErrImagePull' },
  );
}

/** Returns the ids of the images of all containers of the engine. */
export async function imagesInUse(api: DockerApi): Promise<Set<string>> {
  const containers = await api.json<{ ImageID: string }[]>(
    { method: 'GET', path: '/containers/json', query: { all: '1' } },
    { fallback: 'EngineDown' },
  );
  return new Set(containers.map(({ ImageID }) => withAlgorithm(ImageID)));
}

/** Succeeds if the image does not exist. */
export async function removeImage(api: DockerApi, image: string): Promise<void> {
  try {
    await api.json(
      { method: 'DELETE', path: `/images/${image}` },
      { 404: 'NotFound', 409: 'Conflict', fallback: 'EngineDown' },
    );
  } catch (error) {
    if (!(error instanceof RuntimeError && error.reason === 'NotFound')) throw error;
  }
}

/** Podman leaves out the algorithm in some responses. */
function withAlgorithm(id: string): string {
  return id.includes(':') ? id : `sha256:${id}`;
}

/** Loads an archive of images, as `docker load` does. */
export async function loadImages(api: DockerApi, archive: Uint8Array): Promise<void> {
  const stream = await api.stream(
    {
      method: 'POST',
      path: '/images/load',
      query: { quiet: '1' },
      archive,
      headers: { 'Content-Type': 'application/x-tar' },
    },
    { fallback: 'CreateContainerError' },
  );
  await finish(stream, 'CreateContainerError');
}

/** Engines respond 200 and report a failure later, in the progress. A stream that breaks off is a failure, too. */
async function finish(
  stream: AsyncIterable<Uint8Array>,
  reason: string,
  onProgress?: () => void,
): Promise<void> {
  try {
    for await (const { error, errorDetail } of jsonLines<Progress>(stream)) {
      onProgress?.();
      const message = errorDetail?.message ?? error;
      if (message) throw new RuntimeError(reason, message, true);
    }
  } catch (error) {
    if (error instanceof RuntimeError && error.reason === reason) throw error;
    throw new RuntimeError(reason, error instanceof Error ? error.message : String(error), true);
  }
}

/** For a name without tag, an engine would pull all tags of the repository. */
function withTag(image: string): string {
  const last = image.slice(image.lastIndexOf('/') + 1);
  return last.includes(':') || last.includes('@') ? image : `${image}:latest`;
}
