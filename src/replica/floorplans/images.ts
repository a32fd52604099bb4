/**
 * Downloads the images of floor plan records. Images may come from the floor plan service itself, and otherwise only from the
 * public internet, unless private hosts are permitted. This module does not know how records are requested.
 */
import { randomUUID } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeError } from '../../store/files/partial-file.ts';
import { makeFolder } from '../../store/files/private-file.ts';
import type { Environment } from '../environment.ts';
import type { Egress } from '../http/egress-policy.ts';
import { RequestFailure, stopped } from '../http/failure.ts';
import { DEFAULT_BACKOFF, waitAfter, withRetries } from '../http/retry.ts';
import { extensionOf, fetchFile, fileNameOf, writeNewFile } from '../media/fetch-file.ts';
import type { FloorPlanRecord } from './client.ts';

/** The maximum size of an image, in bytes. */
const LARGEST_IMAGE = 50 * 1024 * 1024;
const BACKOFF = { ...DEFAULT_BACKOFF, attempts: 4 };
/** Consecutive failures of a host after which its remaining images are not requested. */
const PATIENCE = 3;

interface ImageOptions {
  readonly environment: Environment;
  readonly signal: AbortSignal;
  /** The folder to which the images are written. */
  readonly folder: string;
  /** Root of the floor plan service. Requests to its origin are permitted even if it is in a private network. */
  readonly root: URL;
  readonly egress: Egress;
  /** The maximum size of an image in bytes, which tests reduce. */
  readonly largest?: number;
}

/** The outcome of the download of a record's image. */
export type ImageOutcome =
  | { readonly kind: 'stored'; readonly path: string }
  /** The record has no MediaURL. */
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly reason: string };

/** Downloads the images of one run into one folder. Each file is written completely or not at all. */
export class ImageFolder {
  readonly #options: ImageOptions;
  readonly #names = new Set<string>();
  readonly #failures = new Map<string, number>();

  constructor(options: ImageOptions) {
    this.#options = options;
  }

  /** @throws errors of this machine, but not those of the image or its host; RequestFailure `stopped` */
  async download(record: FloorPlanRecord): Promise<ImageOutcome> {
    const { MediaURL: url } = record;
    if (url === undefined || url === null || url === '') return { kind: 'none' };
    if (typeof url !== 'string') return { kind: 'failed', reason: 'its MediaURL is not a string' };
    const host = URL.canParse(url) ? new URL(url).host : '';
    const failures = this.#failures.get(host) ?? 0;
    if (failures >= PATIENCE) {
      return {
        kind: 'failed',
        reason: `${host} is no longer requested: it failed ${failures} times in a row`,
      };
    }
    try {
      const path = await this.#insist(record, url);
      this.#failures.delete(host);
      return { kind: 'stored', path };
    } catch (error) {
      if (this.#options.signal.aborted) throw stopped();
      if (!(error instanceof RequestFailure)) throw error;
      if (error.kind === 'transient') this.#failures.set(host, failures + 1);
      return { kind: 'failed', reason: error.message };
    }
  }

  /**
   * Retries until the image has been downloaded or the attempts are used up. Waits at least as long as the host requests, and
   * longer after each failure.
   */
  #insist(record: FloorPlanRecord, url: string): Promise<string> {
    const { environment, signal } = this.#options;
    const once = (): Promise<string> => this.#once(record, url);
    return withRetries({ clock: environment.clock, signal }, once, (error, failures) => {
      const isLast = failures >= BACKOFF.attempts || signal.aborted;
      if (isLast || !(error instanceof RequestFailure) || error.kind !== 'transient') throw error;
      const { retryAfter = 0 } = error;
      if (retryAfter > BACKOFF.longest) throw error;
      return waitAfter(failures, retryAfter, BACKOFF, environment.random);
    });
  }

  async #once({ MediaKey: key, MediaType: type }: FloorPlanRecord, url: string): Promise<string> {
    const { environment, signal, folder, egress, root, largest = LARGEST_IMAGE } = this.#options;
    makeFolder(folder);
    const partial = join(folder, `.${randomUUID()}.partial`);
    try {
      const given = await fetchFile(
        environment,
        { address: url, signal, egress, own: root.origin, largest, isImage: true },
        async (content, contentType) => {
          await writeNewFile(content, partial, largest);
          return contentType;
        },
      );
      const name = fileNameOf(key, endingFor(type, given, url), (each) => this.#names.has(each));
      this.#names.add(name.toLowerCase());
      const path = join(folder, name);
      await rename(partial, path);
      return path;
    } catch (error) {
      throw writeError(error, folder, partial);
    } finally {
      await rm(partial, { force: true });
    }
  }
}

const EXTENSION = /\.([a-z0-9]{1,5})$/i;

/** The file extension: derived from the type of the record, or else from the type in the response, or else from the URL. */
function endingFor(type: unknown, given: string, url: string): string {
  const text = typeof type === 'string' ? type : '';
  const ofRecord = extensionOf(text.includes('/') ? text : `image/${text}`);
  if (ofRecord !== 'bin') return ofRecord;
  const ofAnswer = extensionOf(given);
  if (ofAnswer !== 'octet-stream') return ofAnswer;
  return EXTENSION.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? 'bin';
}
