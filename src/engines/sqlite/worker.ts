/** A thread that reads a file on its own connection. */
import { workerData } from 'node:worker_threads';
import { deflatingNow } from '../../store/read/deflating.ts';
import { makerOf } from '../../store/read/read-task.ts';
import { answerTasks } from '../../store/threads/thread.ts';
import { WholeBodies } from '../../store/whole/whole-bodies.ts';
import { connect } from './connection.ts';
import { registerFileUrl } from './functions.ts';
import { sessionOn } from './session.ts';
import { runTask, type ThreadOptions } from './tasks.ts';

const options: ThreadOptions = workerData;
const connection = connect({ ...options, readOnly: true });
registerFileUrl(connection.database, options.secret);
const making = makerOf(deflatingNow, new WholeBodies(options.bodies));

answerTasks({
  session: sessionOn(connection),
  read: (task, how) => runTask(connection, task, making(how), how.milliseconds),
});
