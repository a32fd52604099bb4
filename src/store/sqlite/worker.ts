import { parentPort, workerData } from 'node:worker_threads';
import { connect } from './connection.ts';
import { registerFileUrl } from './functions.ts';
import type { WorkerOptions, WorkerReply, WorkerRequest } from './pool.ts';
import { type ReadResult, runTask } from './tasks.ts';

/** A thread that reads: it answers one task after the other, and hands the bytes over without copying them. */
const options: WorkerOptions = workerData;
const connection = connect({ ...options, readOnly: true });
registerFileUrl(connection.database, options.secret);

const port = parentPort;
if (port === null) throw new Error('This file runs as a worker thread only');
port.on('message', (request: WorkerRequest) => {
  try {
    connection.deadline.set(request.milliseconds);
    const result = runTask(connection, request.task);
    const reply: WorkerReply = { id: request.id, ok: true, result };
    port.postMessage(reply, transfers(result));
  } catch (error) {
    const reply: WorkerReply = { id: request.id, ok: false, error: describe(error) };
    port.postMessage(reply);
  } finally {
    connection.deadline.clear();
  }
});

function transfers(result: ReadResult): ArrayBuffer[] {
  const bytes =
    result.kind === 'page'
      ? result.page.body
      : result.kind === 'ids'
        ? result.ids
        : result.kind === 'body'
          ? result.body
          : undefined;
  if (bytes === undefined || !(bytes.buffer instanceof ArrayBuffer) || bytes.byteLength === 0) return [];
  return [bytes.buffer];
}

function describe(error: unknown): { message: string; errcode?: number } {
  const message = error instanceof Error ? error.message : String(error);
  const errcode =
    typeof error === 'object' && error !== null && 'errcode' in error ? error.errcode : undefined;
  return typeof errcode === 'number' ? { message, errcode } : { message };
}
