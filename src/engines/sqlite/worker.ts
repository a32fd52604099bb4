import { parentPort, workerData } from 'node:worker_threads';
import { Damage, DamagedRecord } from '../../records/damage.ts';
import { cachesInUse } from '../../shared/bounded-cache.ts';
import type { ReadResult, ReadTask } from '../../store/read-task.ts';
import { WholeBodies } from '../../store/whole/whole-bodies.ts';
import { type CheckTask, checkerOn } from './check-task.ts';
import { connect } from './connection.ts';
import { registerFileUrl } from './functions.ts';
import { makeOutbox, type SharedBody } from './outbox.ts';
import type { WorkerError, WorkerMessage, WorkerOptions, WorkerReply, WorkerRequest } from './pool.ts';
import { runTask } from './tasks.ts';

/** A thread that reads: it answers one task after the other. */
const options: WorkerOptions = workerData;
const connection = connect({ ...options, readOnly: true });
registerFileUrl(connection.database, options.secret);
const bodies = new WholeBodies(options.bodies);
const runCheck = checkerOn(connection);
const outbox = makeOutbox();
const EMPTY = new Uint8Array(0);

const port = parentPort;
if (port === null) throw new Error('This file runs as a worker thread only');
port.on('message', (message: WorkerMessage) => {
  if ('release' in message) outbox.release(message.release);
  else if (message.task.kind === 'check') void answerCheck(message.id, message.task);
  else answer(message, message.task);
});

/** A thread has one task at a time, so nothing else is read meanwhile. */
async function answerCheck(id: number, task: CheckTask): Promise<void> {
  try {
    send({ id, ok: true, result: await runCheck(task) }, []);
  } catch (error) {
    send({ id, ok: false, error: describe(error) }, []);
  }
}

function answer(request: WorkerRequest, task: ReadTask): void {
  try {
    connection.deadline.set(request.milliseconds);
    const result = runTask(connection, task, request.isSent, bodies);
    if (result.kind === 'page') sendPage(request.id, result);
    else send({ id: request.id, ok: true, result }, result.kind === 'ids' ? [result.ids.buffer] : []);
  } catch (error) {
    send({ id: request.id, ok: false, error: describe(error) }, []);
  } finally {
    connection.deadline.clear();
    reportCaches();
  }
}

/** Milliseconds from one report of what this thread keeps to the next. */
const REPORT_EVERY = 1000;
let reported = Number.NEGATIVE_INFINITY;

function reportCaches(): void {
  if (performance.now() - reported < REPORT_EVERY) return;
  reported = performance.now();
  send({ caches: cachesInUse() }, []);
}

/** A page's body goes through shared memory, if it is large; the rest of the page travels as it is. */
function sendPage(id: number, result: ReadResult & { kind: 'page' }): void {
  const shared: SharedBody | undefined = outbox.put(result.page.body);
  if (shared === undefined) send({ id, ok: true, result }, []);
  else send({ id, ok: true, result: { ...result, page: { ...result.page, body: EMPTY } }, shared }, []);
}

function send(reply: WorkerReply, transferred: ArrayBufferLike[]): void {
  port?.postMessage(
    reply,
    transferred.filter((buffer) => buffer instanceof ArrayBuffer),
  );
}

function describe(error: unknown): WorkerError {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Damage) return { kind: 'damage', message };
  if (error instanceof DamagedRecord) return { kind: 'record', record: error.record };
  const errcode =
    typeof error === 'object' && error !== null && 'errcode' in error ? error.errcode : undefined;
  return { kind: 'other', message, ...(typeof errcode === 'number' ? { errcode } : {}) };
}
