import { TEXT } from '../column-types.ts';

/**
 * What the processes of one store share: nothing of worth, so it is written to no log, and gone when the server has
 * crashed or a standby takes over. Then windows starts over, and filters find their records again.
 */
export const SHARED_TABLES: readonly string[] = [
  `CREATE UNLOGGED TABLE IF NOT EXISTS plat_request_windows
   (key ${TEXT} PRIMARY KEY, ends bigint NOT NULL, used bigint NOT NULL) WITH (fillfactor = 50)`,
  `CREATE UNLOGGED TABLE IF NOT EXISTS plat_filter_lists
   (name ${TEXT} PRIMARY KEY, id ${TEXT} NOT NULL, made bigint NOT NULL, expires bigint NOT NULL,
   open_window boolean NOT NULL, bytes bigint NOT NULL, ids bytea NOT NULL)`,
  `ALTER TABLE plat_filter_lists ADD COLUMN IF NOT EXISTS of_order ${TEXT} NOT NULL DEFAULT ''`,
  'ALTER TABLE plat_filter_lists ALTER COLUMN ids SET STORAGE EXTERNAL',
  `CREATE UNLOGGED TABLE IF NOT EXISTS plat_sweeps
   (key ${TEXT} PRIMARY KEY, reached text[] NOT NULL) WITH (fillfactor = 50)`,
  // Far from the limit a process is lent an eighth of what is left, near to it one request at a time.
  `CREATE OR REPLACE FUNCTION plat_lend_requests(
     of_key text, most bigint, span bigint, returned bigint, of_window bigint,
     OUT ends bigint, OUT lent bigint, OUT remaining bigint, OUT milliseconds bigint
   ) LANGUAGE plpgsql VOLATILE AS $code$
   DECLARE
     moment bigint;
     taken bigint;
   BEGIN
     INSERT INTO plat_request_windows AS w VALUES (of_key, 0, 0)
     ON CONFLICT (key) DO UPDATE SET used = w.used RETURNING w.ends, w.used INTO ends, taken;
     moment := floor(extract(epoch FROM clock_timestamp()) * 1000);
     IF ends <= moment OR ends > moment + span THEN
       ends := moment + span;
       taken := 0;
     ELSIF ends = of_window THEN
       taken := greatest(0, taken - returned);
     END IF;
     remaining := greatest(0, most - taken);
     lent := least(remaining, greatest(1, remaining / 8));
     remaining := remaining - lent;
     milliseconds := ends - moment;
     UPDATE plat_request_windows w SET ends = plat_lend_requests.ends, used = taken + lent WHERE key = of_key;
   END $code$`,
];
