/** The loop of a pool thread: it processes one task after another. It knows no engine. */
import { parentPort } from 'node:worker_threads';
import type { StoreModel } from '../../compile/model.ts';
import { PlatError } from '../../errors/index.ts';
import { Damage, DamagedRecord } from '../../records/damage.ts';
import { cacheSizes } from '../../shared/bounded-cache.ts';
import { messageOf, sqliteCodeOf } from '../../shared/error-code.ts';
import { checksOn } from '../check/check-store.ts';
import type { ReadBlock } from '../read/blocks-task.ts';
import { makeOutbox, type SharedBody } from '../read/page-memory.ts';
import type { ReadContext, ReadResult, ReadTask } from '../read/read-task.ts';
import type { Session } from '../session.ts';
import { readModel } from '../state/meta.ts';
import { type CheckTask, runCheck } from './check-task.ts';
import type { WorkerError, WorkerMessage, WorkerReply, WorkerRequest } from './pool.ts';

/** How a thread reads on its own connection. */
interface ThreadReader {
  read(
    task: ReadTask,
    how: Pick<ReadContext, 'isSent' | 'memory'> & { readonly milliseconds: number },
  ): ReadResult;
  /** For checks. */
  readonly session: Session;
}

const outbox = makeOutbox();
const EMPTY = new Uint8Array(0);

export function serveTasks(reader: ThreadReader): void {
  if (parentPort === null) throw new Error('This runs in a thread of its own only');
  parentPort.on('message', (message: WorkerMessage) => {
    if ('release' in message) {
      outbox.release(message.release);
      return;
    }
    if (message.returned !== undefined) outbox.release(message.returned);
    if (message.task.kind === 'check') void answerCheck(reader, message.id, message.task);
    else answer(reader, message, message.task);
  });
}

/** The model of the last check. */
let model: StoreModel | undefined;

/** A thread has one task at a time, so no other read runs in the meantime. */
async function answerCheck({ session }: ThreadReader, id: number, task: CheckTask): Promise<void> {
  try {
    // The model is read again for a check that needs a later generation.
    if (model === undefined || model.generation < task.generation) model = await readModel(session);
    send({ id, ok: true, result: await runCheck(checksOn(session, model), task) }, []);
  } catch (error) {
    send({ id, ok: false, error: serializeError(error) }, []);
  }
}

function answer(reader: ThreadReader, request: WorkerRequest, task: ReadTask): void {
  try {
    const { isSent, milliseconds } = request;
    const result = reader.read(task, { isSent, milliseconds, memory: outbox.body });
    sendResult(request.id, result);
  } catch (error) {
    send({ id: request.id, ok: false, error: serializeError(error) }, []);
  } finally {
    reportCaches();
  }
}

/** The main thread returns the memory of a body (pool.ts); other memory is transferred instead of copied. */
function sendResult(id: number, result: ReadResult): void {
  switch (result.kind) {
    case 'page': {
      const { release: _, ...page } = result.page;
      sendBody(id, page.body, (body) => ({ kind: 'page', page: { ...page, body } }));
      break;
    }
    case 'blocks': {
      const { release: _, body: read, ...page } = result.page;
      const memory = page.parts.flatMap((part) => (typeof part === 'number' ? [] : memoryOfBlock(part)));
      if (read === undefined) send({ id, ok: true, result: { kind: 'blocks', page } }, memory);
      else sendBody(id, read, (body) => ({ kind: 'blocks', page: { ...page, body } }), memory);
      break;
    }
    case 'ids':
      send({ id, ok: true, result }, [result.ids.buffer]);
      break;
    case 'body':
    case 'number':
    case 'facets':
      send({ id, ok: true, result }, []);
  }
}

const memoryOfBlock = ({ deflated }: ReadBlock): ArrayBufferLike[] =>
  deflated === undefined || deflated instanceof Promise ? [] : [deflated.bytes.buffer];

/** Milliseconds between two reports of this thread's caches. */
const REPORT_EVERY = 1000;
let reported = Number.NEGATIVE_INFINITY;

function reportCaches(): void {
  if (performance.now() - reported < REPORT_EVERY) return;
  reported = performance.now();
  send({ caches: cacheSizes() }, []);
}

/** A large body goes through shared memory; the rest of the page is sent as it is. */
function sendBody(
  id: number,
  body: Uint8Array,
  resultWith: (body: Uint8Array) => ReadResult,
  transferred: ArrayBufferLike[] = [],
): void {
  const shared: SharedBody | undefined = outbox.put(body);
  const rest = shared === undefined ? body : EMPTY;
  send({ id, ok: true, result: resultWith(rest), shared }, transferred);
}

function send(reply: WorkerReply, transferred: ArrayBufferLike[]): void {
  parentPort?.postMessage(
    reply,
    transferred.filter((buffer) => buffer instanceof ArrayBuffer),
  );
}

function serializeError(error: unknown): WorkerError {
  const message = messageOf(error);
  if (error instanceof Damage) return { kind: 'damage', message };
  if (error instanceof DamagedRecord) return { kind: 'record', record: error.record };
  if (error instanceof PlatError && error.code === 'answerTooLarge') return { kind: 'too-large' };
  return { kind: 'other', message, errcode: sqliteCodeOf(error) };
}
