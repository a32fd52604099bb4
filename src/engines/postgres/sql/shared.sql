-- Tables that the processes of one store share. Their content may be lost, so they are not logged, and are empty after a crash of the
-- server or a failover. Rate-limit windows then start over, and filters find their records again.

CREATE UNLOGGED TABLE IF NOT EXISTS plat_request_windows (
  key text COLLATE "C" PRIMARY KEY, ends bigint NOT NULL, used bigint NOT NULL
) WITH (fillfactor = 50);

CREATE UNLOGGED TABLE IF NOT EXISTS plat_filter_lists (
  name text COLLATE "C" PRIMARY KEY, id text COLLATE "C" NOT NULL, made bigint NOT NULL, expires bigint NOT NULL,
  open_window boolean NOT NULL, bytes bigint NOT NULL, ids bytea NOT NULL
);
ALTER TABLE plat_filter_lists ADD COLUMN IF NOT EXISTS of_order text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE plat_filter_lists ALTER COLUMN ids SET STORAGE EXTERNAL;

CREATE UNLOGGED TABLE IF NOT EXISTS plat_sweeps (
  key text COLLATE "C" PRIMARY KEY, reached text[] NOT NULL
) WITH (fillfactor = 50);

-- Far from the limit, a process gets an eighth of the remaining requests; near the limit, one request at a time.
CREATE OR REPLACE FUNCTION plat_lend_requests(
  of_key text, most bigint, span bigint, returned bigint, of_window bigint,
  OUT ends bigint, OUT lent bigint, OUT remaining bigint, OUT milliseconds bigint
) LANGUAGE plpgsql VOLATILE AS $$
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
END
$$;
