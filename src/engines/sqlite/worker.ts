/** A thread that reads a file on its own connection. */
import { workerData } from 'node:worker_threads';
import { Deadline } from '../../shared/deadline.ts';
import { deflateNow } from '../../store/read/blocks-task.ts';
import { makeReadContextFactory } from '../../store/read/read-task.ts';
import type { ThreadMemory } from '../../store/threads/pool.ts';
import { serveTasks } from '../../store/threads/thread.ts';
import { BodyValidator } from '../../store/whole/validate-body.ts';
import { connect, registerFileUrl } from './connection.ts';
import { sessionOn } from './session.ts';
import { runTask, type ThreadOptions } from './tasks.ts';

const options: ThreadOptions & ThreadMemory = workerData;
const deadline = new Deadline(options.deadline);
const connection = connect({ ...options, readOnly: true, deadline });
registerFileUrl(connection.database, options.secret);
const makeContext = makeReadContextFactory(deflateNow, new BodyValidator(options.bodies));

serveTasks({
  session: sessionOn(connection),
  read: (task, how) => runTask(connection, task, makeContext(how), how.milliseconds),
});
