-- The functions that plat's statements use and PostgreSQL lacks. They have the same results as those of the SQLite engine; one test
-- suite verifies both. The store fills in the names in double braces, and creates all functions again when this text has changed.

-- A number that is too small for a double becomes zero; one that is too large becomes null, and so does a division by zero.
CREATE OR REPLACE FUNCTION plat_far(operator text, a float8, b float8) RETURNS float8
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE operator WHEN '+' THEN a + b WHEN '-' THEN a - b WHEN '*' THEN a * b ELSE a / nullif(b, 0) END;
EXCEPTION WHEN numeric_value_out_of_range THEN
  RETURN CASE WHEN operator = '*' AND abs(a) < 1 OR operator = '/' AND abs(b) > 1 THEN 0 END;
END
$$;

CREATE OR REPLACE FUNCTION plat_lower(value text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN lower(value COLLATE "{{unicode}}") COLLATE "C";

CREATE OR REPLACE FUNCTION plat_upper(value text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN upper(value COLLATE "{{unicode}}") COLLATE "C";

CREATE OR REPLACE FUNCTION plat_ends_with(value text, ending text) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN right(value, char_length(ending)) = ending;

-- Positions count characters from 0; a negative start counts from the end, but not beyond the beginning.
CREATE OR REPLACE FUNCTION plat_substring(value text, start float8, count float8) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN substr(
  value,
  1 + trunc(CASE WHEN start < 0 THEN greatest(0, char_length(value) + start) ELSE least(start, 2e9) END)::integer,
  trunc(greatest(0, least(count, 2e9)))::integer
);

-- Rounds half away from zero.
CREATE OR REPLACE FUNCTION plat_round(value float8) RETURNS float8
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE
  WHEN abs(value) < 4503599627370496 THEN trunc(value + CASE WHEN value < 0 THEN -0.5 ELSE 0.5 END) + 0
  ELSE value
END;

-- A number as JavaScript writes it.
CREATE OR REPLACE FUNCTION plat_number_text(value float8) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE
  WHEN value = 0 THEN '0'
  WHEN abs(value) >= 1e21 OR abs(value) < 1e-6 THEN regexp_replace(value::text, 'e([+-])0', 'e\1')
  ELSE value::text::numeric::text
END;

-- ISO 8601 calls the year before 1 year 0, and PostgreSQL calls it 1 BC.
CREATE OR REPLACE FUNCTION plat_moment(moment text) RETURNS timestamp
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN left(moment, 4) = '0000' THEN ('0001' || substr(moment, 5) || ' BC')::timestamp ELSE moment::timestamp END;

CREATE OR REPLACE FUNCTION plat_day_of_year(moment text) RETURNS float8
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN extract(doy FROM plat_moment(moment))::float8;

CREATE OR REPLACE FUNCTION plat_day_of_week(moment text) RETURNS float8
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN extract(dow FROM plat_moment(moment))::float8;

CREATE OR REPLACE FUNCTION plat_seconds(later text, earlier text) RETURNS float8
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN extract(epoch FROM plat_moment(later) - plat_moment(earlier))::float8;

-- Far from the limits of numbers, arithmetic is the server's own; beyond them, its errors would depend on the plan. These functions are
-- not strict, so that the server inlines them into the statement if their arguments are simple.
CREATE OR REPLACE FUNCTION plat_add(a float8, b float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN abs(a) < 8e307 AND abs(b) < 8e307 THEN a + b ELSE plat_far('+', a, b) END;
CREATE OR REPLACE FUNCTION plat_subtract(a float8, b float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN abs(a) < 8e307 AND abs(b) < 8e307 THEN a - b ELSE plat_far('-', a, b) END;
CREATE OR REPLACE FUNCTION plat_multiply(a float8, b float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
  WHEN (a = 0 OR abs(a) BETWEEN 1e-150 AND 1e150) AND (b = 0 OR abs(b) BETWEEN 1e-150 AND 1e150) THEN a * b
  ELSE plat_far('*', a, b)
END;
CREATE OR REPLACE FUNCTION plat_divide(a float8, b float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
  WHEN (a = 0 OR abs(a) BETWEEN 1e-150 AND 1e150) AND abs(b) BETWEEN 1e-150 AND 1e150 THEN a / b
  ELSE plat_far('/', a, b)
END;

-- The exact value of a double, from its bits.
CREATE OR REPLACE FUNCTION plat_exact(value float8) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  bits bigint := ('x' || encode(float8send(value), 'hex'))::bit(64)::bigint;
  exponent integer := ((bits >> 52) & 2047)::integer;
  fraction numeric := (bits & 4503599627370495)::numeric + CASE WHEN exponent > 0 THEN 4503599627370496 ELSE 0 END;
  power integer := greatest(exponent, 1) - 1075;
BEGIN
  fraction := fraction * sign(value)::numeric;
  IF power >= 0 THEN RETURN fraction * 2::numeric ^ power; END IF;
  RETURN fraction * 5::numeric ^ (-power) * ('1e' || power)::numeric;
END
$$;

CREATE OR REPLACE FUNCTION plat_mod(value float8, divisor float8) RETURNS float8
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE
  WHEN divisor = 0 THEN NULL
  WHEN abs(value) < 9e15 AND abs(divisor) < 9e15 AND value = trunc(value) AND divisor = trunc(divisor)
    THEN mod(value::bigint, divisor::bigint)::float8
  ELSE mod(plat_exact(value), plat_exact(divisor))::float8
END;

CREATE OR REPLACE FUNCTION plat_shift(moment text, seconds float8) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  whole float8;
  days float8;
  shifted timestamp;
  shown text;
  fraction text;
BEGIN
  IF abs(seconds) > 1e12 THEN RETURN NULL; END IF;
  whole := floor(seconds);
  days := floor(whole / 86400);
  shifted := plat_moment(moment) + make_interval(days => days::integer)
    + (whole - days * 86400) * interval '1 second' + floor((seconds - whole) * 1e6 + 0.5) * interval '1 microsecond';
  IF shifted < '0001-01-01 BC' OR shifted >= '10000-01-01' THEN RETURN NULL; END IF;
  shown := to_char(shifted, 'YYYY-MM-DD"T"HH24:MI:SS');
  IF shifted < '0001-01-01' THEN shown := '0000' || substr(shown, 5); END IF;
  IF char_length(moment) = 10 THEN RETURN left(shown, 10); END IF;
  fraction := rtrim(to_char(shifted, 'US'), '0');
  RETURN CASE WHEN fraction = '' THEN shown ELSE shown || '.' || rpad(fraction, greatest(3, char_length(fraction)), '0') END;
EXCEPTION WHEN datetime_field_overflow OR numeric_value_out_of_range THEN RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION plat_text_boolean(value text) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE value WHEN 'true' THEN true WHEN 'false' THEN false END;

CREATE OR REPLACE FUNCTION plat_text_decimal(value text) RETURNS float8
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF value !~ '^[+-]?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$' THEN RETURN NULL; END IF;
  RETURN value::float8 + 0;
EXCEPTION WHEN numeric_value_out_of_range THEN
  RETURN CASE WHEN value ~ '[eE]-' OR value ~ '^[+-]?0*[.]' THEN 0::float8 END;
END
$$;

CREATE OR REPLACE FUNCTION plat_text_integer(value text) RETURNS float8
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN value ~ '^[+-]?[0-9]+$' THEN
  (SELECT n FROM (SELECT plat_text_decimal(value) AS n) whole WHERE abs(n) <= 9007199254740991)
END;

CREATE OR REPLACE FUNCTION plat_text_date(value text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF value !~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' THEN RETURN NULL; END IF;
  PERFORM value::date;
  RETURN value;
EXCEPTION WHEN datetime_field_overflow OR invalid_datetime_format THEN RETURN NULL;
END
$$;

-- A text without a zone is in UTC. The result has no Z, as in columns.
CREATE OR REPLACE FUNCTION plat_text_timestamp(value text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  part text[] := regexp_match(
    value,
    '^([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.]([0-9]{1,12}))?)?([Zz]|([+-])([0-9]{2}):([0-9]{2}))?$'
  );
  minutes integer;
  shown text;
BEGIN
  IF part IS NULL OR part[6] = 'z' OR plat_text_date(part[1]) IS NULL THEN RETURN NULL; END IF;
  IF part[2] > '23' OR part[3] > '59' OR part[4] > '59' OR part[8] > '14' OR part[9] > '59' THEN RETURN NULL; END IF;
  minutes := coalesce(part[8]::integer * 60 + part[9]::integer, 0) * CASE part[7] WHEN '-' THEN -1 ELSE 1 END;
  shown := part[1] || 'T' || part[2] || ':' || part[3] || ':' || coalesce(part[4], '00') || '.' || left(coalesce(part[5], '0'), 6);
  RETURN plat_shift(shown, -minutes * 60);
END
$$;

CREATE OR REPLACE FUNCTION plat_text_time(value text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN substr(plat_text_timestamp('1970-01-01T' || value || 'Z'), 12);

-- Whether a point lies in a ring of longitudes and latitudes, including its border.
CREATE OR REPLACE FUNCTION plat_within(latitude float8, longitude float8, ring float8[]) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  inside boolean := false;
  size integer := array_length(ring, 1);
  from_x float8 := ring[size - 1];
  from_y float8 := ring[size];
  to_x float8;
  to_y float8;
  turn float8;
BEGIN
  FOR place IN 1 .. size BY 2 LOOP
    to_x := ring[place];
    to_y := ring[place + 1];
    turn := (to_x - from_x) * (latitude - from_y) - (longitude - from_x) * (to_y - from_y);
    IF turn = 0 AND longitude BETWEEN least(from_x, to_x) AND greatest(from_x, to_x)
      AND latitude BETWEEN least(from_y, to_y) AND greatest(from_y, to_y) THEN RETURN true; END IF;
    IF (from_y > latitude) <> (to_y > latitude) AND (turn < 0) = (to_y < from_y) THEN inside := NOT inside; END IF;
    from_x := to_x;
    from_y := to_y;
  END LOOP;
  RETURN inside;
END
$$;

-- Percent-encodes all bytes except the characters of a class.
CREATE OR REPLACE FUNCTION plat_encode(value text, kept text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF value ~ ('^' || kept || '*$') THEN RETURN value; END IF;
  RETURN (
    SELECT string_agg(
      CASE WHEN letter ~ kept THEN letter
      ELSE regexp_replace(upper(encode(convert_to(letter, 'UTF8'), 'hex')), '(..)', '%\1', 'g') END,
      '' ORDER BY place
    )
    FROM regexp_split_to_table(value, '') WITH ORDINALITY letters(letter, place)
  );
END
$$;

-- URLs of files are signed with the store's secret.
CREATE OR REPLACE FUNCTION plat_file_url(path text, role text, expires bigint, base text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN base || '/media/' || role || '.' || expires || '.' || left(encode(sha256(convert_to(
  concat_ws(E'\n', (SELECT value FROM plat_meta WHERE name = 'secret'), role, expires, path,
    (SELECT value FROM plat_meta WHERE name = 'secret')), 'UTF8')), 'hex'), 32) || '/' || plat_encode(path, '[A-Za-z0-9;,/?:@&=+$_.!~*''()#-]');

-- The horizon (I2), and how long it remains promised (commit-timestamps.ts). While other processes write and no promise is valid,
-- they may use timestamps from the end of the last promise on. A reader that encounters this records its request, and the next of
-- these writers to commit saves a promise (KEEP_PROMISE).
CREATE OR REPLACE FUNCTION plat_promise(given float8, OUT moment float8, OUT settled float8, OUT stands float8)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  is_free boolean := pg_try_advisory_xact_lock_shared({{lock}}, hashtext(current_schema()));
  promised float8;
BEGIN
  SELECT coalesce(max(value::float8) FILTER (WHERE name = 'settled'), 0),
    floor(extract(epoch FROM max(value::timestamptz) FILTER (WHERE name = 'last_stamp')) * 1000)
  INTO promised, settled FROM plat_meta WHERE name IN ('settled', 'last_stamp');
  settled := greatest(promised, settled);
  moment := greatest(coalesce(given, floor(extract(epoch FROM clock_timestamp()) * 1000)), settled);
  IF is_free THEN
    settled := moment;
    IF moment >= promised + {{promiseInterval}} THEN
      INSERT INTO plat_meta VALUES ('settled', moment::bigint::text) ON CONFLICT (name) DO UPDATE
      SET value = greatest(plat_meta.value::float8, moment)::bigint::text;
      promised := moment;
    END IF;
  ELSE
    settled := least(settled, promised + {{promiseValidity}});
    INSERT INTO plat_meta VALUES ('asked', moment::bigint::text) ON CONFLICT (name) DO UPDATE
    SET value = excluded.value WHERE abs(plat_meta.value::bigint - excluded.value::bigint) >= {{requestInterval}};
  END IF;
  stands := promised + {{promiseValidity}};
END
$$;
