-- A store of layout 1 with a listing, as plat made it; from before the indexes of plans and served files.
CREATE SCHEMA plat;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE plat.plat_meta (
    name text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE plat.field_records (
    _profile integer NOT NULL,
    open_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    open_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    idx_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    idx_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    _key text NOT NULL COLLATE pg_catalog."C",
    _id bigint NOT NULL,
    _system text COLLATE pg_catalog."C",
    _visible integer NOT NULL,
    _shown integer NOT NULL,
    _kind text COLLATE pg_catalog."C",
    _rank double precision,
    _file text COLLATE pg_catalog."C",
    _hash text NOT NULL COLLATE pg_catalog."C",
    _audience integer,
    _source text COLLATE pg_catalog."C",
    "FieldName" text COLLATE pg_catalog."C",
    "ModificationTimestamp" text COLLATE pg_catalog."C",
    "ResourceName" text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY plat.field_records ALTER COLUMN open_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.field_records ALTER COLUMN open_nulls SET STORAGE MAIN;
ALTER TABLE ONLY plat.field_records ALTER COLUMN idx_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.field_records ALTER COLUMN idx_nulls SET STORAGE MAIN;
CREATE VIEW plat.field AS
 SELECT r._key AS "FieldKey",
    r."FieldName",
    r."ModificationTimestamp",
    r."ResourceName",
    r._id
   FROM plat.field_records r;
CREATE TABLE plat.lookup_records (
    _profile integer NOT NULL,
    open_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    open_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    idx_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    idx_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    _key text NOT NULL COLLATE pg_catalog."C",
    _id bigint NOT NULL,
    _system text COLLATE pg_catalog."C",
    _visible integer NOT NULL,
    _shown integer NOT NULL,
    _kind text COLLATE pg_catalog."C",
    _rank double precision,
    _file text COLLATE pg_catalog."C",
    _hash text NOT NULL COLLATE pg_catalog."C",
    _audience integer,
    _source text COLLATE pg_catalog."C",
    "LegacyODataValue" text COLLATE pg_catalog."C",
    "LookupName" text COLLATE pg_catalog."C",
    "LookupValue" text COLLATE pg_catalog."C",
    "ModificationTimestamp" text COLLATE pg_catalog."C",
    "StandardLookupValue" text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY plat.lookup_records ALTER COLUMN open_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.lookup_records ALTER COLUMN open_nulls SET STORAGE MAIN;
ALTER TABLE ONLY plat.lookup_records ALTER COLUMN idx_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.lookup_records ALTER COLUMN idx_nulls SET STORAGE MAIN;
CREATE VIEW plat.lookup AS
 SELECT r._key AS "LookupKey",
    r."LegacyODataValue",
    r."LookupName",
    r."LookupValue",
    r."ModificationTimestamp",
    r."StandardLookupValue",
    r._id
   FROM plat.lookup_records r;
CREATE TABLE plat.media_records (
    _profile integer NOT NULL,
    native_text text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    native_plan_text text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    open_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    open_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    idx_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    idx_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    _key text NOT NULL COLLATE pg_catalog."C",
    _parent text NOT NULL COLLATE pg_catalog."C",
    _parent_resource text NOT NULL COLLATE pg_catalog."C",
    _id bigint NOT NULL,
    _system text COLLATE pg_catalog."C",
    _visible integer NOT NULL,
    _shown integer NOT NULL,
    _kind text COLLATE pg_catalog."C",
    _rank double precision,
    _file text COLLATE pg_catalog."C",
    _hash text NOT NULL COLLATE pg_catalog."C",
    _audience integer,
    _source text COLLATE pg_catalog."C",
    "FloplanImageType" text COLLATE pg_catalog."C",
    "FloplanKey" text COLLATE pg_catalog."C",
    "MediaCategory" text COLLATE pg_catalog."C",
    "MediaType" text COLLATE pg_catalog."C",
    "MediaURL" text COLLATE pg_catalog."C",
    "ModificationTimestamp" text COLLATE pg_catalog."C",
    "OriginatingSystemID" text COLLATE pg_catalog."C",
    "OriginatingSystemResourceRecordKey" text COLLATE pg_catalog."C",
    "OriginatingSystemResourceRecordSystemID" text COLLATE pg_catalog."C",
    "Permission" text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY plat.media_records ALTER COLUMN native_text SET STORAGE MAIN;
ALTER TABLE ONLY plat.media_records ALTER COLUMN native_plan_text SET STORAGE MAIN;
ALTER TABLE ONLY plat.media_records ALTER COLUMN open_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.media_records ALTER COLUMN open_nulls SET STORAGE MAIN;
ALTER TABLE ONLY plat.media_records ALTER COLUMN idx_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.media_records ALTER COLUMN idx_nulls SET STORAGE MAIN;
CREATE VIEW plat.media AS
 SELECT r._key AS "MediaKey",
    r."FloplanImageType",
    r."FloplanKey",
    r."MediaCategory",
    r."MediaType",
    r."MediaURL",
    r."ModificationTimestamp",
    r."OriginatingSystemID",
    r."OriginatingSystemResourceRecordKey",
    r."OriginatingSystemResourceRecordSystemID",
    r."Permission",
    r._parent_resource AS "ResourceName",
    r._parent AS "ResourceRecordKey",
    r._id
   FROM plat.media_records r;
CREATE TABLE plat.member_records (
    _profile integer NOT NULL,
    open_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    open_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    idx_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    idx_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    join_idx_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    join_idx_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    _key text NOT NULL COLLATE pg_catalog."C",
    _id bigint NOT NULL,
    _system text COLLATE pg_catalog."C",
    _visible integer NOT NULL,
    _shown integer NOT NULL,
    _kind text COLLATE pg_catalog."C",
    _rank double precision,
    _file text COLLATE pg_catalog."C",
    _hash text NOT NULL COLLATE pg_catalog."C",
    _audience integer,
    _source text COLLATE pg_catalog."C",
    "MemberPreferredPhone" text COLLATE pg_catalog."C",
    "MemberStatus" text COLLATE pg_catalog."C",
    "ModificationTimestamp" text COLLATE pg_catalog."C",
    "OriginatingSystemID" text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY plat.member_records ALTER COLUMN open_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.member_records ALTER COLUMN open_nulls SET STORAGE MAIN;
ALTER TABLE ONLY plat.member_records ALTER COLUMN idx_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.member_records ALTER COLUMN idx_nulls SET STORAGE MAIN;
ALTER TABLE ONLY plat.member_records ALTER COLUMN join_idx_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.member_records ALTER COLUMN join_idx_nulls SET STORAGE MAIN;
CREATE VIEW plat.member AS
 SELECT r._key AS "MemberKey",
    r."MemberPreferredPhone",
    r."MemberStatus",
    r."ModificationTimestamp",
    r."OriginatingSystemID",
    r._id
   FROM plat.member_records r;
CREATE TABLE plat.office_records (
    _profile integer NOT NULL,
    open_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    open_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    idx_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    idx_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    _key text NOT NULL COLLATE pg_catalog."C",
    _id bigint NOT NULL,
    _system text COLLATE pg_catalog."C",
    _visible integer NOT NULL,
    _shown integer NOT NULL,
    _kind text COLLATE pg_catalog."C",
    _rank double precision,
    _file text COLLATE pg_catalog."C",
    _hash text NOT NULL COLLATE pg_catalog."C",
    _audience integer,
    _source text COLLATE pg_catalog."C",
    "ModificationTimestamp" text COLLATE pg_catalog."C",
    "OfficeStatus" text COLLATE pg_catalog."C",
    "OriginatingSystemID" text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY plat.office_records ALTER COLUMN open_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.office_records ALTER COLUMN open_nulls SET STORAGE MAIN;
ALTER TABLE ONLY plat.office_records ALTER COLUMN idx_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.office_records ALTER COLUMN idx_nulls SET STORAGE MAIN;
CREATE VIEW plat.office AS
 SELECT r._key AS "OfficeKey",
    r."ModificationTimestamp",
    r."OfficeStatus",
    r."OriginatingSystemID",
    r._id
   FROM plat.office_records r;
CREATE TABLE plat.open_house_records (
    _profile integer NOT NULL,
    native_text text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    native_plan_text text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    open_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    open_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    _key text NOT NULL COLLATE pg_catalog."C",
    _parent text NOT NULL COLLATE pg_catalog."C",
    _parent_resource text NOT NULL COLLATE pg_catalog."C",
    _id bigint NOT NULL,
    _system text COLLATE pg_catalog."C",
    _visible integer NOT NULL,
    _shown integer NOT NULL,
    _kind text COLLATE pg_catalog."C",
    _rank double precision,
    _file text COLLATE pg_catalog."C",
    _hash text NOT NULL COLLATE pg_catalog."C",
    _audience integer,
    _source text COLLATE pg_catalog."C",
    "ModificationTimestamp" text COLLATE pg_catalog."C",
    "OriginatingSystemID" text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY plat.open_house_records ALTER COLUMN native_text SET STORAGE MAIN;
ALTER TABLE ONLY plat.open_house_records ALTER COLUMN native_plan_text SET STORAGE MAIN;
ALTER TABLE ONLY plat.open_house_records ALTER COLUMN open_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.open_house_records ALTER COLUMN open_nulls SET STORAGE MAIN;
CREATE VIEW plat.open_houses AS
 SELECT r._key AS "OpenHouseKey",
    r._parent AS "ListingKey",
    r."ModificationTimestamp",
    r."OriginatingSystemID",
    r._id
   FROM plat.open_house_records r;
CREATE TABLE plat.plat_counters (
    resource text NOT NULL COLLATE pg_catalog."C",
    visible integer NOT NULL,
    system text NOT NULL COLLATE pg_catalog."C",
    rows bigint NOT NULL
);
CREATE UNLOGGED TABLE plat.plat_filter_lists (
    name text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    made bigint NOT NULL,
    expires bigint NOT NULL,
    open_window boolean NOT NULL,
    bytes bigint NOT NULL,
    ids bytea NOT NULL
);
ALTER TABLE ONLY plat.plat_filter_lists ALTER COLUMN ids SET STORAGE EXTERNAL;
CREATE TABLE plat.plat_key_use (
    key_id text NOT NULL COLLATE pg_catalog."C",
    requests bigint NOT NULL,
    rows bigint NOT NULL,
    bytes bigint NOT NULL,
    last_request_at text COLLATE pg_catalog."C",
    last_window text COLLATE pg_catalog."C",
    last_sweep_at text COLLATE pg_catalog."C"
);
CREATE TABLE plat.plat_keys (
    id text NOT NULL COLLATE pg_catalog."C",
    token_hash text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL COLLATE pg_catalog."C",
    systems text NOT NULL COLLATE pg_catalog."C",
    created_at text NOT NULL COLLATE pg_catalog."C",
    expires_at text COLLATE pg_catalog."C",
    revoked_at text COLLATE pg_catalog."C"
);
CREATE TABLE plat.plat_leases (
    source text NOT NULL COLLATE pg_catalog."C",
    holder text NOT NULL COLLATE pg_catalog."C",
    expires bigint NOT NULL
);
CREATE TABLE plat.plat_ledger_seen (
    source text NOT NULL COLLATE pg_catalog."C",
    resource text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    sweep bigint NOT NULL
);
CREATE TABLE plat.plat_ledger_state (
    source text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE plat.plat_ledger_wanted (
    source text NOT NULL COLLATE pg_catalog."C",
    resource text NOT NULL COLLATE pg_catalog."C",
    why text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE plat.plat_profile (
    resource text NOT NULL COLLATE pg_catalog."C",
    field text NOT NULL COLLATE pg_catalog."C",
    since integer NOT NULL
);
CREATE TABLE plat.plat_quarantine (
    source text NOT NULL COLLATE pg_catalog."C",
    resource text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    payload text NOT NULL COLLATE pg_catalog."C",
    first_at text NOT NULL COLLATE pg_catalog."C",
    last_at text NOT NULL COLLATE pg_catalog."C",
    attempts integer NOT NULL
);
CREATE UNLOGGED TABLE plat.plat_request_windows (
    key text NOT NULL COLLATE pg_catalog."C",
    ends bigint NOT NULL,
    used bigint NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE plat.plat_sequence (
    resource text NOT NULL COLLATE pg_catalog."C",
    next bigint NOT NULL
);
CREATE UNLOGGED TABLE plat.plat_sweeps (
    key text NOT NULL COLLATE pg_catalog."C",
    reached text[] NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE plat.plat_tombstones (
    resource text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    system text COLLATE pg_catalog."C",
    deleted_at text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE plat.property_records (
    _key text NOT NULL COLLATE pg_catalog."C",
    _id bigint NOT NULL,
    _system text COLLATE pg_catalog."C",
    _visible integer NOT NULL,
    _shown integer NOT NULL,
    _kind text COLLATE pg_catalog."C",
    _rank double precision,
    _file text COLLATE pg_catalog."C",
    _hash text NOT NULL COLLATE pg_catalog."C",
    _audience integer,
    _source text COLLATE pg_catalog."C",
    "BuyerAgentKey" text COLLATE pg_catalog."C",
    "BuyerOfficeKey" text COLLATE pg_catalog."C",
    "CoBuyerAgentKey" text COLLATE pg_catalog."C",
    "CoBuyerOfficeKey" text COLLATE pg_catalog."C",
    "CoListAgentKey" text COLLATE pg_catalog."C",
    "CoListOfficeKey" text COLLATE pg_catalog."C",
    "DocumentsChangeTimestamp" text COLLATE pg_catalog."C",
    "ListAgentKey" text COLLATE pg_catalog."C",
    "ListOfficeKey" text COLLATE pg_catalog."C",
    "MajorChangeTimestamp" text COLLATE pg_catalog."C",
    "ModificationTimestamp" text COLLATE pg_catalog."C",
    "OpenHousesChangeTimestamp" text COLLATE pg_catalog."C",
    "OriginatingSystemID" text COLLATE pg_catalog."C",
    "PhotosChangeTimestamp" text COLLATE pg_catalog."C",
    "PriceChangeTimestamp" text COLLATE pg_catalog."C",
    "StandardStatus" text COLLATE pg_catalog."C",
    "StatusChangeTimestamp" text COLLATE pg_catalog."C",
    "VideosChangeTimestamp" text COLLATE pg_catalog."C",
    "City" text COLLATE pg_catalog."C"
);
CREATE VIEW plat.property AS
 SELECT r._key AS "ListingKey",
    r."BuyerAgentKey",
    r."BuyerOfficeKey",
    r."CoBuyerAgentKey",
    r."CoBuyerOfficeKey",
    r."CoListAgentKey",
    r."CoListOfficeKey",
    r."DocumentsChangeTimestamp",
    r."ListAgentKey",
    r."ListOfficeKey",
    r."MajorChangeTimestamp",
    r."ModificationTimestamp",
    r."OpenHousesChangeTimestamp",
    r."OriginatingSystemID",
    r."PhotosChangeTimestamp",
    r."PriceChangeTimestamp",
    r."StandardStatus",
    r."StatusChangeTimestamp",
    r."VideosChangeTimestamp",
    ( SELECT j."MemberPreferredPhone"
           FROM plat.member_records j
          WHERE (j._key = r."BuyerAgentKey")) AS "BuyerAgentPreferredPhone",
    ( SELECT j."MemberPreferredPhone"
           FROM plat.member_records j
          WHERE (j._key = r."CoBuyerAgentKey")) AS "CoBuyerAgentPreferredPhone",
    ( SELECT j."MemberPreferredPhone"
           FROM plat.member_records j
          WHERE (j._key = r."CoListAgentKey")) AS "CoListAgentPreferredPhone",
    ( SELECT j."MemberPreferredPhone"
           FROM plat.member_records j
          WHERE (j._key = r."ListAgentKey")) AS "ListAgentPreferredPhone",
    r._id,
    r."City"
   FROM plat.property_records r;
CREATE TABLE plat.property_rooms_records (
    _profile integer NOT NULL,
    native_text text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    native_plan_text text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    open_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    open_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    _key text NOT NULL COLLATE pg_catalog."C",
    _parent text NOT NULL COLLATE pg_catalog."C",
    _parent_resource text NOT NULL COLLATE pg_catalog."C",
    _id bigint NOT NULL,
    _system text COLLATE pg_catalog."C",
    _visible integer NOT NULL,
    _shown integer NOT NULL,
    _kind text COLLATE pg_catalog."C",
    _rank double precision,
    _file text COLLATE pg_catalog."C",
    _hash text NOT NULL COLLATE pg_catalog."C",
    _audience integer,
    _source text COLLATE pg_catalog."C",
    "ModificationTimestamp" text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY plat.property_rooms_records ALTER COLUMN native_text SET STORAGE MAIN;
ALTER TABLE ONLY plat.property_rooms_records ALTER COLUMN native_plan_text SET STORAGE MAIN;
ALTER TABLE ONLY plat.property_rooms_records ALTER COLUMN open_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.property_rooms_records ALTER COLUMN open_nulls SET STORAGE MAIN;
CREATE TABLE plat.property_texts (
    _key text NOT NULL COLLATE pg_catalog."C",
    _id bigint NOT NULL,
    _system text COLLATE pg_catalog."C",
    _visible integer NOT NULL,
    _shown integer NOT NULL,
    _profile integer NOT NULL,
    "BuyerAgentKey" text COLLATE pg_catalog."C",
    "BuyerOfficeKey" text COLLATE pg_catalog."C",
    "CoBuyerAgentKey" text COLLATE pg_catalog."C",
    "CoBuyerOfficeKey" text COLLATE pg_catalog."C",
    "CoListAgentKey" text COLLATE pg_catalog."C",
    "CoListOfficeKey" text COLLATE pg_catalog."C",
    "ListAgentKey" text COLLATE pg_catalog."C",
    "ListOfficeKey" text COLLATE pg_catalog."C",
    native_head text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    open_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    open_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    open_reso_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    open_reso_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    open_native_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    open_native_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    idx_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    idx_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    address_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    address_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE ONLY plat.property_texts ALTER COLUMN native_head SET STORAGE MAIN;
ALTER TABLE ONLY plat.property_texts ALTER COLUMN open_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.property_texts ALTER COLUMN open_nulls SET STORAGE MAIN;
ALTER TABLE ONLY plat.property_texts ALTER COLUMN open_reso_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.property_texts ALTER COLUMN open_reso_nulls SET STORAGE MAIN;
ALTER TABLE ONLY plat.property_texts ALTER COLUMN open_native_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.property_texts ALTER COLUMN open_native_nulls SET STORAGE MAIN;
ALTER TABLE ONLY plat.property_texts ALTER COLUMN idx_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.property_texts ALTER COLUMN idx_nulls SET STORAGE MAIN;
ALTER TABLE ONLY plat.property_texts ALTER COLUMN address_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.property_texts ALTER COLUMN address_nulls SET STORAGE MAIN;
CREATE TABLE plat.property_unit_types_records (
    _profile integer NOT NULL,
    native_text text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    native_plan_text text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    open_values text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    open_nulls text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    _key text NOT NULL COLLATE pg_catalog."C",
    _parent text NOT NULL COLLATE pg_catalog."C",
    _parent_resource text NOT NULL COLLATE pg_catalog."C",
    _id bigint NOT NULL,
    _system text COLLATE pg_catalog."C",
    _visible integer NOT NULL,
    _shown integer NOT NULL,
    _kind text COLLATE pg_catalog."C",
    _rank double precision,
    _file text COLLATE pg_catalog."C",
    _hash text NOT NULL COLLATE pg_catalog."C",
    _audience integer,
    _source text COLLATE pg_catalog."C",
    "ModificationTimestamp" text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY plat.property_unit_types_records ALTER COLUMN native_text SET STORAGE MAIN;
ALTER TABLE ONLY plat.property_unit_types_records ALTER COLUMN native_plan_text SET STORAGE MAIN;
ALTER TABLE ONLY plat.property_unit_types_records ALTER COLUMN open_values SET STORAGE MAIN;
ALTER TABLE ONLY plat.property_unit_types_records ALTER COLUMN open_nulls SET STORAGE MAIN;
CREATE VIEW plat.rooms AS
 SELECT r._key AS "RoomKey",
    r._parent AS "ListingKey",
    r."ModificationTimestamp",
    r._id
   FROM plat.property_rooms_records r;
CREATE VIEW plat.unit_types AS
 SELECT r._key AS "UnitTypeKey",
    r._parent AS "ListingKey",
    r."ModificationTimestamp",
    r._id
   FROM plat.property_unit_types_records r;
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.ListingKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ListingKey","ResourceName":"Property"', '', 'Property.ListingKey', 1, NULL, 31, 0, NULL, NULL, NULL, 'JnaOPJpYOqKX6j9bxur2Cn.31', 31, NULL, 'ListingKey', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.BuyerAgentKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"BuyerAgentKey","ResourceName":"Property"', '', 'Property.BuyerAgentKey', 2, NULL, 31, 0, NULL, NULL, NULL, 'zVfoc7wK0WDXfF_4ijiRuh.31', 31, NULL, 'BuyerAgentKey', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.BuyerAgentPreferredPhone","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"BuyerAgentPreferredPhone","ResourceName":"Property"', '', 'Property.BuyerAgentPreferredPhone', 3, NULL, 31, 0, NULL, NULL, NULL, 'pN4upoUWGStm_S_gkmoTqU.31', 31, NULL, 'BuyerAgentPreferredPhone', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.BuyerOfficeKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"BuyerOfficeKey","ResourceName":"Property"', '', 'Property.BuyerOfficeKey', 4, NULL, 31, 0, NULL, NULL, NULL, 'uZD0zst8qev_Tb3DfZW9bw.31', 31, NULL, 'BuyerOfficeKey', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.CoBuyerAgentKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"CoBuyerAgentKey","ResourceName":"Property"', '', 'Property.CoBuyerAgentKey', 5, NULL, 31, 0, NULL, NULL, NULL, 'Dtu_RyzTcluDoZTFOTPTcX.31', 31, NULL, 'CoBuyerAgentKey', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.CoBuyerAgentPreferredPhone","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"CoBuyerAgentPreferredPhone","ResourceName":"Property"', '', 'Property.CoBuyerAgentPreferredPhone', 6, NULL, 31, 0, NULL, NULL, NULL, 'wbDO7IkV02XfyaCpv6WJAs.31', 31, NULL, 'CoBuyerAgentPreferredPhone', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.CoBuyerOfficeKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"CoBuyerOfficeKey","ResourceName":"Property"', '', 'Property.CoBuyerOfficeKey', 7, NULL, 31, 0, NULL, NULL, NULL, '0hqnX4Cc-EmFngbacxl3T0.31', 31, NULL, 'CoBuyerOfficeKey', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.CoListAgentKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"CoListAgentKey","ResourceName":"Property"', '', 'Property.CoListAgentKey', 8, NULL, 31, 0, NULL, NULL, NULL, 'NkYesWocgO_iwip-rivdLL.31', 31, NULL, 'CoListAgentKey', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.CoListAgentPreferredPhone","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"CoListAgentPreferredPhone","ResourceName":"Property"', '', 'Property.CoListAgentPreferredPhone', 9, NULL, 31, 0, NULL, NULL, NULL, 'E9mnlwh3iNhKmJ8AOp1xvW.31', 31, NULL, 'CoListAgentPreferredPhone', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.CoListOfficeKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"CoListOfficeKey","ResourceName":"Property"', '', 'Property.CoListOfficeKey', 10, NULL, 31, 0, NULL, NULL, NULL, 'R0R6M_0Wn0Q8Qn4RxdrWSq.31', 31, NULL, 'CoListOfficeKey', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.DocumentsChangeTimestamp","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"DocumentsChangeTimestamp","ResourceName":"Property"', '', 'Property.DocumentsChangeTimestamp', 11, NULL, 31, 0, NULL, NULL, NULL, 'H5EZ99kIVaOAW24IUhVwk-.31', 31, NULL, 'DocumentsChangeTimestamp', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.ListAgentKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ListAgentKey","ResourceName":"Property"', '', 'Property.ListAgentKey', 12, NULL, 31, 0, NULL, NULL, NULL, 'x9Wr62BDwhcYBtjHuafFVx.31', 31, NULL, 'ListAgentKey', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.ListAgentPreferredPhone","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ListAgentPreferredPhone","ResourceName":"Property"', '', 'Property.ListAgentPreferredPhone', 13, NULL, 31, 0, NULL, NULL, NULL, 'Gym_YEhdwfqoCnw3xmnWNm.31', 31, NULL, 'ListAgentPreferredPhone', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.ListOfficeKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ListOfficeKey","ResourceName":"Property"', '', 'Property.ListOfficeKey', 14, NULL, 31, 0, NULL, NULL, NULL, '_sgFpQeSWILBVR1LD3i5HZ.31', 31, NULL, 'ListOfficeKey', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.MajorChangeTimestamp","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"MajorChangeTimestamp","ResourceName":"Property"', '', 'Property.MajorChangeTimestamp', 15, NULL, 31, 0, NULL, NULL, NULL, 'fCl1TZlCbDWCL32vAuUHZS.31', 31, NULL, 'MajorChangeTimestamp', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.ModificationTimestamp","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ModificationTimestamp","ResourceName":"Property"', '', 'Property.ModificationTimestamp', 16, NULL, 31, 0, NULL, NULL, NULL, 'UgwVMnZg_BFze-ik-eIX5R.31', 31, NULL, 'ModificationTimestamp', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.OpenHousesChangeTimestamp","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"OpenHousesChangeTimestamp","ResourceName":"Property"', '', 'Property.OpenHousesChangeTimestamp', 17, NULL, 31, 0, NULL, NULL, NULL, 'Aq8OTfluLcdgdgylBtnQUt.31', 31, NULL, 'OpenHousesChangeTimestamp', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.OriginatingSystemID","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"OriginatingSystemID","ResourceName":"Property"', '', 'Property.OriginatingSystemID', 18, NULL, 31, 0, NULL, NULL, NULL, 'ga3ROdIlvWIIQAHowguC9P.31', 31, NULL, 'OriginatingSystemID', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.PhotosChangeTimestamp","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"PhotosChangeTimestamp","ResourceName":"Property"', '', 'Property.PhotosChangeTimestamp', 19, NULL, 31, 0, NULL, NULL, NULL, 'OSnhKE2VYlvw0AoGvmv4EW.31', 31, NULL, 'PhotosChangeTimestamp', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.PriceChangeTimestamp","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"PriceChangeTimestamp","ResourceName":"Property"', '', 'Property.PriceChangeTimestamp', 20, NULL, 31, 0, NULL, NULL, NULL, '5GSGJS1seA7o78MyikNczr.31', 31, NULL, 'PriceChangeTimestamp', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.StandardStatus","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"StandardStatus","ResourceName":"Property"', '', 'Property.StandardStatus', 21, NULL, 31, 0, NULL, NULL, NULL, 'L5hRy95A67F31Mcgi7cKF7.31', 31, NULL, 'StandardStatus', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.StatusChangeTimestamp","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"StatusChangeTimestamp","ResourceName":"Property"', '', 'Property.StatusChangeTimestamp', 22, NULL, 31, 0, NULL, NULL, NULL, 'JWZD_iusGmQ7mWR2DrBOrY.31', 31, NULL, 'StatusChangeTimestamp', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Property.VideosChangeTimestamp","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"VideosChangeTimestamp","ResourceName":"Property"', '', 'Property.VideosChangeTimestamp', 23, NULL, 31, 0, NULL, NULL, NULL, 'HqVSZS2EGnuBKh-IXWkM8k.31', 31, NULL, 'VideosChangeTimestamp', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Member.MemberKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"MemberKey","ResourceName":"Member"', '', 'Member.MemberKey', 24, NULL, 31, 0, NULL, NULL, NULL, 'Wcf5n3cbMMGQndUzesgSGS.31', 31, NULL, 'MemberKey', '2026-11-21T08:55:58.575', 'Member');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Member.MemberPreferredPhone","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"MemberPreferredPhone","ResourceName":"Member"', '', 'Member.MemberPreferredPhone', 25, NULL, 31, 0, NULL, NULL, NULL, '-Xnh_gIHIqGmqDYYdBOu0P.31', 31, NULL, 'MemberPreferredPhone', '2026-11-21T08:55:58.575', 'Member');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Member.MemberStatus","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"MemberStatus","ResourceName":"Member"', '', 'Member.MemberStatus', 26, NULL, 31, 0, NULL, NULL, NULL, 'ktrjZqEmBACSUJGz46e_rd.31', 31, NULL, 'MemberStatus', '2026-11-21T08:55:58.575', 'Member');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Member.ModificationTimestamp","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ModificationTimestamp","ResourceName":"Member"', '', 'Member.ModificationTimestamp', 27, NULL, 31, 0, NULL, NULL, NULL, 'RQEN4X6P5Qrd1DVnODQsW8.31', 31, NULL, 'ModificationTimestamp', '2026-11-21T08:55:58.575', 'Member');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Member.OriginatingSystemID","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"OriginatingSystemID","ResourceName":"Member"', '', 'Member.OriginatingSystemID', 28, NULL, 31, 0, NULL, NULL, NULL, 'sw8L9lC10wRhw16Im-QFBr.31', 31, NULL, 'OriginatingSystemID', '2026-11-21T08:55:58.575', 'Member');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Office.OfficeKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"OfficeKey","ResourceName":"Office"', '', 'Office.OfficeKey', 29, NULL, 31, 0, NULL, NULL, NULL, 'EbW7Yeexdi--HeH_tUTMma.31', 31, NULL, 'OfficeKey', '2026-11-21T08:55:58.575', 'Office');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Office.ModificationTimestamp","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ModificationTimestamp","ResourceName":"Office"', '', 'Office.ModificationTimestamp', 30, NULL, 31, 0, NULL, NULL, NULL, 'gxf60t_zIdBduYo7JQiEQU.31', 31, NULL, 'ModificationTimestamp', '2026-11-21T08:55:58.575', 'Office');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Office.OfficeStatus","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"OfficeStatus","ResourceName":"Office"', '', 'Office.OfficeStatus', 31, NULL, 31, 0, NULL, NULL, NULL, '1zBV3ZSKGjKgbp8ADCav8r.31', 31, NULL, 'OfficeStatus', '2026-11-21T08:55:58.575', 'Office');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Office.OriginatingSystemID","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"OriginatingSystemID","ResourceName":"Office"', '', 'Office.OriginatingSystemID', 32, NULL, 31, 0, NULL, NULL, NULL, 'W8oQm7aoHlPGJuZxy07PUe.31', 31, NULL, 'OriginatingSystemID', '2026-11-21T08:55:58.575', 'Office');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Media.MediaKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"MediaKey","ResourceName":"Media"', '', 'Media.MediaKey', 33, NULL, 31, 0, NULL, NULL, NULL, '-5Xa6kyQ3f7S58TMvNStBu.31', 31, NULL, 'MediaKey', '2026-11-21T08:55:58.575', 'Media');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Media.FloplanImageType","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"FloplanImageType","ResourceName":"Media"', '', 'Media.FloplanImageType', 34, NULL, 31, 0, NULL, NULL, NULL, 'wmPMyDWInFcnTfT8wZ4ocR.31', 31, NULL, 'FloplanImageType', '2026-11-21T08:55:58.575', 'Media');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Media.FloplanKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"FloplanKey","ResourceName":"Media"', '', 'Media.FloplanKey', 35, NULL, 31, 0, NULL, NULL, NULL, 'fnIT01VZQOAASUhtd9HlKB.31', 31, NULL, 'FloplanKey', '2026-11-21T08:55:58.575', 'Media');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Media.MediaCategory","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"MediaCategory","ResourceName":"Media"', '', 'Media.MediaCategory', 36, NULL, 31, 0, NULL, NULL, NULL, 'OAWg_-LjGQNK8Q7yq3Qv6P.31', 31, NULL, 'MediaCategory', '2026-11-21T08:55:58.575', 'Media');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Media.MediaType","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"MediaType","ResourceName":"Media"', '', 'Media.MediaType', 37, NULL, 31, 0, NULL, NULL, NULL, 'I8uimCcIoZMQBTHpUImkut.31', 31, NULL, 'MediaType', '2026-11-21T08:55:58.575', 'Media');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Media.MediaURL","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"MediaURL","ResourceName":"Media"', '', 'Media.MediaURL', 38, NULL, 31, 0, NULL, NULL, NULL, 'JZbuvDRZsp6afDu2hHRexv.31', 31, NULL, 'MediaURL', '2026-11-21T08:55:58.575', 'Media');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Media.ModificationTimestamp","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ModificationTimestamp","ResourceName":"Media"', '', 'Media.ModificationTimestamp', 39, NULL, 31, 0, NULL, NULL, NULL, 'Ez3-UM2912zHHNyxsEbNB5.31', 31, NULL, 'ModificationTimestamp', '2026-11-21T08:55:58.575', 'Media');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Media.OriginatingSystemID","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"OriginatingSystemID","ResourceName":"Media"', '', 'Media.OriginatingSystemID', 40, NULL, 31, 0, NULL, NULL, NULL, 'vFztc3Dq2xYslgS-dSp2Ov.31', 31, NULL, 'OriginatingSystemID', '2026-11-21T08:55:58.575', 'Media');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Media.OriginatingSystemResourceRecordKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"OriginatingSystemResourceRecordKey","ResourceName":"Media"', '', 'Media.OriginatingSystemResourceRecordKey', 41, NULL, 31, 0, NULL, NULL, NULL, 'Wx_26asckF5_bWh5KXqQkN.31', 31, NULL, 'OriginatingSystemResourceRecordKey', '2026-11-21T08:55:58.575', 'Media');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Media.OriginatingSystemResourceRecordSystemID","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"OriginatingSystemResourceRecordSystemID","ResourceName":"Media"', '', 'Media.OriginatingSystemResourceRecordSystemID', 42, NULL, 31, 0, NULL, NULL, NULL, 'gwyJlgqbYCB7a9rsgXW19u.31', 31, NULL, 'OriginatingSystemResourceRecordSystemID', '2026-11-21T08:55:58.575', 'Media');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Media.Permission","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"Permission","ResourceName":"Media"', '', 'Media.Permission', 43, NULL, 31, 0, NULL, NULL, NULL, 'IokL6SCvA_NN2dDW9xqYu_.31', 31, NULL, 'Permission', '2026-11-21T08:55:58.575', 'Media');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Media.ResourceName","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ResourceName","ResourceName":"Media"', '', 'Media.ResourceName', 44, NULL, 31, 0, NULL, NULL, NULL, '7P_-naIrZe9XqNyVfj4bSF.31', 31, NULL, 'ResourceName', '2026-11-21T08:55:58.575', 'Media');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Media.ResourceRecordKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ResourceRecordKey","ResourceName":"Media"', '', 'Media.ResourceRecordKey', 45, NULL, 31, 0, NULL, NULL, NULL, 'br0WssfqZ1r7MFhSWsfGEF.31', 31, NULL, 'ResourceRecordKey', '2026-11-21T08:55:58.575', 'Media');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"PropertyRooms.RoomKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"RoomKey","ResourceName":"PropertyRooms"', '', 'PropertyRooms.RoomKey', 46, NULL, 31, 0, NULL, NULL, NULL, 'VFodmR-MEa6eazCrZt8aQv.31', 31, NULL, 'RoomKey', '2026-11-21T08:55:58.575', 'PropertyRooms');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"PropertyRooms.ListingKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ListingKey","ResourceName":"PropertyRooms"', '', 'PropertyRooms.ListingKey', 47, NULL, 31, 0, NULL, NULL, NULL, '-AauusqMGqrl9EUX0BVlkq.31', 31, NULL, 'ListingKey', '2026-11-21T08:55:58.575', 'PropertyRooms');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"PropertyRooms.ModificationTimestamp","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ModificationTimestamp","ResourceName":"PropertyRooms"', '', 'PropertyRooms.ModificationTimestamp', 48, NULL, 31, 0, NULL, NULL, NULL, 'vSoHb_swYELSCiirWxMOsN.31', 31, NULL, 'ModificationTimestamp', '2026-11-21T08:55:58.575', 'PropertyRooms');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"PropertyUnitTypes.UnitTypeKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"UnitTypeKey","ResourceName":"PropertyUnitTypes"', '', 'PropertyUnitTypes.UnitTypeKey', 49, NULL, 31, 0, NULL, NULL, NULL, 'wOkF4h_qwVFOTR7ug-m95i.31', 31, NULL, 'UnitTypeKey', '2026-11-21T08:55:58.575', 'PropertyUnitTypes');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"PropertyUnitTypes.ListingKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ListingKey","ResourceName":"PropertyUnitTypes"', '', 'PropertyUnitTypes.ListingKey', 50, NULL, 31, 0, NULL, NULL, NULL, 'rP5sXNvyoWfn7Xth72z1Tt.31', 31, NULL, 'ListingKey', '2026-11-21T08:55:58.575', 'PropertyUnitTypes');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"PropertyUnitTypes.ModificationTimestamp","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ModificationTimestamp","ResourceName":"PropertyUnitTypes"', '', 'PropertyUnitTypes.ModificationTimestamp', 51, NULL, 31, 0, NULL, NULL, NULL, 'Z3PQLzTQBhdu3eU0xom5GY.31', 31, NULL, 'ModificationTimestamp', '2026-11-21T08:55:58.575', 'PropertyUnitTypes');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"OpenHouse.OpenHouseKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"OpenHouseKey","ResourceName":"OpenHouse"', '', 'OpenHouse.OpenHouseKey', 52, NULL, 31, 0, NULL, NULL, NULL, 'aiNWuVdxBy6zGxl_rwWgxF.31', 31, NULL, 'OpenHouseKey', '2026-11-21T08:55:58.575', 'OpenHouse');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"OpenHouse.ListingKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ListingKey","ResourceName":"OpenHouse"', '', 'OpenHouse.ListingKey', 53, NULL, 31, 0, NULL, NULL, NULL, '_QXWXbAyC9HPfZwn5fLBGX.31', 31, NULL, 'ListingKey', '2026-11-21T08:55:58.575', 'OpenHouse');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"OpenHouse.ModificationTimestamp","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ModificationTimestamp","ResourceName":"OpenHouse"', '', 'OpenHouse.ModificationTimestamp', 54, NULL, 31, 0, NULL, NULL, NULL, 'sw2gMyotbQqAHFrhBqLXZl.31', 31, NULL, 'ModificationTimestamp', '2026-11-21T08:55:58.575', 'OpenHouse');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"OpenHouse.OriginatingSystemID","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"OriginatingSystemID","ResourceName":"OpenHouse"', '', 'OpenHouse.OriginatingSystemID', 55, NULL, 31, 0, NULL, NULL, NULL, '2mnmCLtsFrhwA2zRfwFdOG.31', 31, NULL, 'OriginatingSystemID', '2026-11-21T08:55:58.575', 'OpenHouse');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Lookup.LookupKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"LookupKey","ResourceName":"Lookup"', '', 'Lookup.LookupKey', 56, NULL, 31, 0, NULL, NULL, NULL, 'VNGHX31dTwjyxXmNszRkf4.31', 31, NULL, 'LookupKey', '2026-11-21T08:55:58.575', 'Lookup');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Lookup.LegacyODataValue","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"LegacyODataValue","ResourceName":"Lookup"', '', 'Lookup.LegacyODataValue', 57, NULL, 31, 0, NULL, NULL, NULL, 'ecFa1GjmKL6qQSUDxytVcf.31', 31, NULL, 'LegacyODataValue', '2026-11-21T08:55:58.575', 'Lookup');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Lookup.LookupName","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"LookupName","ResourceName":"Lookup"', '', 'Lookup.LookupName', 58, NULL, 31, 0, NULL, NULL, NULL, 'e4BuC_gLNmA4b6jv18in9M.31', 31, NULL, 'LookupName', '2026-11-21T08:55:58.575', 'Lookup');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Lookup.LookupValue","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"LookupValue","ResourceName":"Lookup"', '', 'Lookup.LookupValue', 59, NULL, 31, 0, NULL, NULL, NULL, 'rjEj9U54xbQRVehoIEAsKb.31', 31, NULL, 'LookupValue', '2026-11-21T08:55:58.575', 'Lookup');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Lookup.ModificationTimestamp","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ModificationTimestamp","ResourceName":"Lookup"', '', 'Lookup.ModificationTimestamp', 60, NULL, 31, 0, NULL, NULL, NULL, 'E84SaZbLVWdM37igZxTBDv.31', 31, NULL, 'ModificationTimestamp', '2026-11-21T08:55:58.575', 'Lookup');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Lookup.StandardLookupValue","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"StandardLookupValue","ResourceName":"Lookup"', '', 'Lookup.StandardLookupValue', 61, NULL, 31, 0, NULL, NULL, NULL, '2KLfJFt84OQDDdOxf_A-80.31', 31, NULL, 'StandardLookupValue', '2026-11-21T08:55:58.575', 'Lookup');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Field.FieldKey","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"FieldKey","ResourceName":"Field"', '', 'Field.FieldKey', 62, NULL, 31, 0, NULL, NULL, NULL, '9wYh0C3b9iqxyE31p26HOQ.31', 31, NULL, 'FieldKey', '2026-11-21T08:55:58.575', 'Field');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Field.FieldName","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"FieldName","ResourceName":"Field"', '', 'Field.FieldName', 63, NULL, 31, 0, NULL, NULL, NULL, 'UfpGb-On5aSBZnWvN5dZ-n.31', 31, NULL, 'FieldName', '2026-11-21T08:55:58.575', 'Field');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Field.ModificationTimestamp","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ModificationTimestamp","ResourceName":"Field"', '', 'Field.ModificationTimestamp', 64, NULL, 31, 0, NULL, NULL, NULL, 'TbHlKoFqE6ScPvYJRJpewi.31', 31, NULL, 'ModificationTimestamp', '2026-11-21T08:55:58.575', 'Field');
INSERT INTO plat.field_records VALUES (1, '"FieldKey":"Field.ResourceName","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"FieldName":"ResourceName","ResourceName":"Field"', '', 'Field.ResourceName', 65, NULL, 31, 0, NULL, NULL, NULL, 'ZqVSW5c6wCVpP_GwRNwojy.31', 31, NULL, 'ResourceName', '2026-11-21T08:55:58.575', 'Field');
INSERT INTO plat.field_records VALUES (2, '"FieldKey":"Property.City","ModificationTimestamp":"2026-11-21T08:55:58.793Z"', '', ',"FieldName":"City","ResourceName":"Property"', '', 'Property.City', 66, NULL, 31, 0, NULL, NULL, NULL, '2PdAiw5rXiCy_M_5A6EcAL.31', 31, NULL, 'City', '2026-11-21T08:55:58.793', 'Property');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"StandardStatus.Active","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Active","LookupName":"StandardStatus","LookupValue":"Active","StandardLookupValue":"Active"', '', 'StandardStatus.Active', 1, NULL, 31, 0, NULL, NULL, NULL, '8Fkwx4tuN55ry-o8I0OORm.31', 31, NULL, 'Active', 'StandardStatus', 'Active', '2026-11-21T08:55:58.575', 'Active');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"StandardStatus.Active Under Contract","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"ActiveUnderContract","LookupName":"StandardStatus","LookupValue":"Active Under Contract","StandardLookupValue":"Active Under Contract"', '', 'StandardStatus.Active Under Contract', 2, NULL, 31, 0, NULL, NULL, NULL, 'YngX7Pst9IIN6kiCvgQ0iZ.31', 31, NULL, 'ActiveUnderContract', 'StandardStatus', 'Active Under Contract', '2026-11-21T08:55:58.575', 'Active Under Contract');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"StandardStatus.Canceled","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Canceled","LookupName":"StandardStatus","LookupValue":"Canceled","StandardLookupValue":"Canceled"', '', 'StandardStatus.Canceled', 3, NULL, 31, 0, NULL, NULL, NULL, 'uFOVRz0McjMqEBrhIRRcVD.31', 31, NULL, 'Canceled', 'StandardStatus', 'Canceled', '2026-11-21T08:55:58.575', 'Canceled');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"StandardStatus.Closed","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Closed","LookupName":"StandardStatus","LookupValue":"Closed","StandardLookupValue":"Closed"', '', 'StandardStatus.Closed', 4, NULL, 31, 0, NULL, NULL, NULL, 'nYP8km3HTgZl5HzJkOuuou.31', 31, NULL, 'Closed', 'StandardStatus', 'Closed', '2026-11-21T08:55:58.575', 'Closed');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"StandardStatus.Coming Soon","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"ComingSoon","LookupName":"StandardStatus","LookupValue":"Coming Soon","StandardLookupValue":"Coming Soon"', '', 'StandardStatus.Coming Soon', 5, NULL, 31, 0, NULL, NULL, NULL, 'jUiIVj2eR0GZ9LmBaMW6qo.31', 31, NULL, 'ComingSoon', 'StandardStatus', 'Coming Soon', '2026-11-21T08:55:58.575', 'Coming Soon');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"StandardStatus.Delete","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Delete","LookupName":"StandardStatus","LookupValue":"Delete","StandardLookupValue":"Delete"', '', 'StandardStatus.Delete', 6, NULL, 31, 0, NULL, NULL, NULL, 'pHykMyVYuJwr1WLlLRXPwU.31', 31, NULL, 'Delete', 'StandardStatus', 'Delete', '2026-11-21T08:55:58.575', 'Delete');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"StandardStatus.Expired","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Expired","LookupName":"StandardStatus","LookupValue":"Expired","StandardLookupValue":"Expired"', '', 'StandardStatus.Expired', 7, NULL, 31, 0, NULL, NULL, NULL, 'QX5eIT4fgtAM4cTqtZP8ke.31', 31, NULL, 'Expired', 'StandardStatus', 'Expired', '2026-11-21T08:55:58.575', 'Expired');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"StandardStatus.Hold","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Hold","LookupName":"StandardStatus","LookupValue":"Hold","StandardLookupValue":"Hold"', '', 'StandardStatus.Hold', 8, NULL, 31, 0, NULL, NULL, NULL, 'kbKgo4yAub5e1r4UKeqmxV.31', 31, NULL, 'Hold', 'StandardStatus', 'Hold', '2026-11-21T08:55:58.575', 'Hold');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"StandardStatus.Incomplete","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Incomplete","LookupName":"StandardStatus","LookupValue":"Incomplete","StandardLookupValue":"Incomplete"', '', 'StandardStatus.Incomplete', 9, NULL, 31, 0, NULL, NULL, NULL, 'VylAUgr1jgp7P_RQ3pnQHA.31', 31, NULL, 'Incomplete', 'StandardStatus', 'Incomplete', '2026-11-21T08:55:58.575', 'Incomplete');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"StandardStatus.Pending","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Pending","LookupName":"StandardStatus","LookupValue":"Pending","StandardLookupValue":"Pending"', '', 'StandardStatus.Pending', 10, NULL, 31, 0, NULL, NULL, NULL, 'NKozyZPBvFqDgNU9STaCkm.31', 31, NULL, 'Pending', 'StandardStatus', 'Pending', '2026-11-21T08:55:58.575', 'Pending');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"StandardStatus.Withdrawn","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Withdrawn","LookupName":"StandardStatus","LookupValue":"Withdrawn","StandardLookupValue":"Withdrawn"', '', 'StandardStatus.Withdrawn', 11, NULL, 31, 0, NULL, NULL, NULL, 'whuHXsW-_FWdmsY1o2Vg16.31', 31, NULL, 'Withdrawn', 'StandardStatus', 'Withdrawn', '2026-11-21T08:55:58.575', 'Withdrawn');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MemberStatus.Active","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Active","LookupName":"MemberStatus","LookupValue":"Active","StandardLookupValue":"Active"', '', 'MemberStatus.Active', 12, NULL, 31, 0, NULL, NULL, NULL, 'EO_4XNhcRa6WJIzTrDhlaS.31', 31, NULL, 'Active', 'MemberStatus', 'Active', '2026-11-21T08:55:58.575', 'Active');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MemberStatus.Inactive","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Inactive","LookupName":"MemberStatus","LookupValue":"Inactive","StandardLookupValue":"Inactive"', '', 'MemberStatus.Inactive', 13, NULL, 31, 0, NULL, NULL, NULL, 'VkjAtxIE2trVj5B14MB451.31', 31, NULL, 'Inactive', 'MemberStatus', 'Inactive', '2026-11-21T08:55:58.575', 'Inactive');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"OfficeStatus.Active","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Active","LookupName":"OfficeStatus","LookupValue":"Active","StandardLookupValue":"Active"', '', 'OfficeStatus.Active', 14, NULL, 31, 0, NULL, NULL, NULL, 'WfQOuwWjMjsrn2zIU71Y4s.31', 31, NULL, 'Active', 'OfficeStatus', 'Active', '2026-11-21T08:55:58.575', 'Active');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"OfficeStatus.Inactive","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Inactive","LookupName":"OfficeStatus","LookupValue":"Inactive","StandardLookupValue":"Inactive"', '', 'OfficeStatus.Inactive', 15, NULL, 31, 0, NULL, NULL, NULL, 'jh-syS2OElArwThOa1whq5.31', 31, NULL, 'Inactive', 'OfficeStatus', 'Inactive', '2026-11-21T08:55:58.575', 'Inactive');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"FloplanImageType.all_in_one_png","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LookupName":"FloplanImageType","LookupValue":"all_in_one_png","StandardLookupValue":"all_in_one_png"', ',"LegacyODataValue":null', 'FloplanImageType.all_in_one_png', 16, NULL, 31, 0, NULL, NULL, NULL, 'igJMcH2748CL3DIn8c2pgl.31', 31, NULL, NULL, 'FloplanImageType', 'all_in_one_png', '2026-11-21T08:55:58.575', 'all_in_one_png');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"FloplanImageType.all_in_one_thumbnail_png","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LookupName":"FloplanImageType","LookupValue":"all_in_one_thumbnail_png","StandardLookupValue":"all_in_one_thumbnail_png"', ',"LegacyODataValue":null', 'FloplanImageType.all_in_one_thumbnail_png', 17, NULL, 31, 0, NULL, NULL, NULL, 'UerpEVwvqVJYjt862-rvef.31', 31, NULL, NULL, 'FloplanImageType', 'all_in_one_thumbnail_png', '2026-11-21T08:55:58.575', 'all_in_one_thumbnail_png');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"FloplanImageType.all_in_one_pdf","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LookupName":"FloplanImageType","LookupValue":"all_in_one_pdf","StandardLookupValue":"all_in_one_pdf"', ',"LegacyODataValue":null', 'FloplanImageType.all_in_one_pdf', 18, NULL, 31, 0, NULL, NULL, NULL, '3goAvKpmPgPdI9yWpsHgUI.31', 31, NULL, NULL, 'FloplanImageType', 'all_in_one_pdf', '2026-11-21T08:55:58.575', 'all_in_one_pdf');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"FloplanImageType.all_in_one_svg","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LookupName":"FloplanImageType","LookupValue":"all_in_one_svg","StandardLookupValue":"all_in_one_svg"', ',"LegacyODataValue":null', 'FloplanImageType.all_in_one_svg', 19, NULL, 31, 0, NULL, NULL, NULL, 'f_Ceq8ON2ZG-2DWJnsHqO9.31', 31, NULL, NULL, 'FloplanImageType', 'all_in_one_svg', '2026-11-21T08:55:58.575', 'all_in_one_svg');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"FloplanImageType.floor_png","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LookupName":"FloplanImageType","LookupValue":"floor_png","StandardLookupValue":"floor_png"', ',"LegacyODataValue":null', 'FloplanImageType.floor_png', 20, NULL, 31, 0, NULL, NULL, NULL, 'XShC1g6Oa5SW90-JRWrYx6.31', 31, NULL, NULL, 'FloplanImageType', 'floor_png', '2026-11-21T08:55:58.575', 'floor_png');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"FloplanImageType.floor_thumbnail_png","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LookupName":"FloplanImageType","LookupValue":"floor_thumbnail_png","StandardLookupValue":"floor_thumbnail_png"', ',"LegacyODataValue":null', 'FloplanImageType.floor_thumbnail_png', 21, NULL, 31, 0, NULL, NULL, NULL, '76O6JSp_TKYDGuSPHhvkrE.31', 31, NULL, NULL, 'FloplanImageType', 'floor_thumbnail_png', '2026-11-21T08:55:58.575', 'floor_thumbnail_png');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"FloplanImageType.floor_pdf","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LookupName":"FloplanImageType","LookupValue":"floor_pdf","StandardLookupValue":"floor_pdf"', ',"LegacyODataValue":null', 'FloplanImageType.floor_pdf', 22, NULL, 31, 0, NULL, NULL, NULL, '46aFPTE4lIeWYKPzSq_ER-.31', 31, NULL, NULL, 'FloplanImageType', 'floor_pdf', '2026-11-21T08:55:58.575', 'floor_pdf');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"FloplanImageType.floor_svg","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LookupName":"FloplanImageType","LookupValue":"floor_svg","StandardLookupValue":"floor_svg"', ',"LegacyODataValue":null', 'FloplanImageType.floor_svg', 23, NULL, 31, 0, NULL, NULL, NULL, 'XBljcShBZW9JFZtU5LEsdl.31', 31, NULL, NULL, 'FloplanImageType', 'floor_svg', '2026-11-21T08:55:58.575', 'floor_svg');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaCategory.Agent Photo","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"AgentPhoto","LookupName":"MediaCategory","LookupValue":"Agent Photo","StandardLookupValue":"Agent Photo"', '', 'MediaCategory.Agent Photo', 24, NULL, 31, 0, NULL, NULL, NULL, '58sOaqwwYnUZId5UQx9W5O.31', 31, NULL, 'AgentPhoto', 'MediaCategory', 'Agent Photo', '2026-11-21T08:55:58.575', 'Agent Photo');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaCategory.Branded Virtual Tour","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"BrandedVirtualTour","LookupName":"MediaCategory","LookupValue":"Branded Virtual Tour","StandardLookupValue":"Branded Virtual Tour"', '', 'MediaCategory.Branded Virtual Tour', 25, NULL, 31, 0, NULL, NULL, NULL, 'DMAeRe6TzF60Ya9UrrjjRc.31', 31, NULL, 'BrandedVirtualTour', 'MediaCategory', 'Branded Virtual Tour', '2026-11-21T08:55:58.575', 'Branded Virtual Tour');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaCategory.Document","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Document","LookupName":"MediaCategory","LookupValue":"Document","StandardLookupValue":"Document"', '', 'MediaCategory.Document', 26, NULL, 31, 0, NULL, NULL, NULL, 'iilLXAtLseElLSTbOq2JN_.31', 31, NULL, 'Document', 'MediaCategory', 'Document', '2026-11-21T08:55:58.575', 'Document');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaCategory.Floor Plan","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"FloorPlan","LookupName":"MediaCategory","LookupValue":"Floor Plan","StandardLookupValue":"Floor Plan"', '', 'MediaCategory.Floor Plan', 27, NULL, 31, 0, NULL, NULL, NULL, 'hyJb-ECP38afSK40F4aJcH.31', 31, NULL, 'FloorPlan', 'MediaCategory', 'Floor Plan', '2026-11-21T08:55:58.575', 'Floor Plan');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaCategory.Office Logo","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"OfficeLogo","LookupName":"MediaCategory","LookupValue":"Office Logo","StandardLookupValue":"Office Logo"', '', 'MediaCategory.Office Logo', 28, NULL, 31, 0, NULL, NULL, NULL, 'mHWW-fBoHvwb6NOu0U1jAK.31', 31, NULL, 'OfficeLogo', 'MediaCategory', 'Office Logo', '2026-11-21T08:55:58.575', 'Office Logo');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaCategory.Office Photo","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"OfficePhoto","LookupName":"MediaCategory","LookupValue":"Office Photo","StandardLookupValue":"Office Photo"', '', 'MediaCategory.Office Photo', 29, NULL, 31, 0, NULL, NULL, NULL, '-LqObHR-fxndqDw_H0_RcK.31', 31, NULL, 'OfficePhoto', 'MediaCategory', 'Office Photo', '2026-11-21T08:55:58.575', 'Office Photo');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaCategory.Photo","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Photo","LookupName":"MediaCategory","LookupValue":"Photo","StandardLookupValue":"Photo"', '', 'MediaCategory.Photo', 30, NULL, 31, 0, NULL, NULL, NULL, 'yay5znaXYpUhZqrdmHaZWJ.31', 31, NULL, 'Photo', 'MediaCategory', 'Photo', '2026-11-21T08:55:58.575', 'Photo');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaCategory.Unbranded Virtual Tour","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"UnbrandedVirtualTour","LookupName":"MediaCategory","LookupValue":"Unbranded Virtual Tour","StandardLookupValue":"Unbranded Virtual Tour"', '', 'MediaCategory.Unbranded Virtual Tour', 31, NULL, 31, 0, NULL, NULL, NULL, 'H9k0RZMrvVcKHN_IyIru1g.31', 31, NULL, 'UnbrandedVirtualTour', 'MediaCategory', 'Unbranded Virtual Tour', '2026-11-21T08:55:58.575', 'Unbranded Virtual Tour');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaCategory.Video","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Video","LookupName":"MediaCategory","LookupValue":"Video","StandardLookupValue":"Video"', '', 'MediaCategory.Video', 32, NULL, 31, 0, NULL, NULL, NULL, 'nuXbC205ut2Z0d6aDplZsJ.31', 31, NULL, 'Video', 'MediaCategory', 'Video', '2026-11-21T08:55:58.575', 'Video');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaType.doc","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Doc","LookupName":"MediaType","LookupValue":"doc","StandardLookupValue":"doc"', '', 'MediaType.doc', 33, NULL, 31, 0, NULL, NULL, NULL, '7T4g2c2IuwPsdZBiQbcHtA.31', 31, NULL, 'Doc', 'MediaType', 'doc', '2026-11-21T08:55:58.575', 'doc');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaType.docx","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Docx","LookupName":"MediaType","LookupValue":"docx","StandardLookupValue":"docx"', '', 'MediaType.docx', 34, NULL, 31, 0, NULL, NULL, NULL, 'OS1g717fP56DtC5-HqFpZ4.31', 31, NULL, 'Docx', 'MediaType', 'docx', '2026-11-21T08:55:58.575', 'docx');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaType.gif","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Gif","LookupName":"MediaType","LookupValue":"gif","StandardLookupValue":"gif"', '', 'MediaType.gif', 35, NULL, 31, 0, NULL, NULL, NULL, 'W9haWp5sRJknxPCuiY4Luj.31', 31, NULL, 'Gif', 'MediaType', 'gif', '2026-11-21T08:55:58.575', 'gif');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaType.jpeg","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Jpeg","LookupName":"MediaType","LookupValue":"jpeg","StandardLookupValue":"jpeg"', '', 'MediaType.jpeg', 36, NULL, 31, 0, NULL, NULL, NULL, 'NCqj2ITR-uiJLvelBg-Paj.31', 31, NULL, 'Jpeg', 'MediaType', 'jpeg', '2026-11-21T08:55:58.575', 'jpeg');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaType.mov","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Mov","LookupName":"MediaType","LookupValue":"mov","StandardLookupValue":"mov"', '', 'MediaType.mov', 37, NULL, 31, 0, NULL, NULL, NULL, 'iY9UuBnrHLajtzTmZRZrWm.31', 31, NULL, 'Mov', 'MediaType', 'mov', '2026-11-21T08:55:58.575', 'mov');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaType.mp4","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Mp4","LookupName":"MediaType","LookupValue":"mp4","StandardLookupValue":"mp4"', '', 'MediaType.mp4', 38, NULL, 31, 0, NULL, NULL, NULL, 'ba-sp6KWXgnLlEPFqRy68e.31', 31, NULL, 'Mp4', 'MediaType', 'mp4', '2026-11-21T08:55:58.575', 'mp4');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaType.mpeg","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Mpeg","LookupName":"MediaType","LookupValue":"mpeg","StandardLookupValue":"mpeg"', '', 'MediaType.mpeg', 39, NULL, 31, 0, NULL, NULL, NULL, 'aky9N4HLgL-Gje7l2yZq7h.31', 31, NULL, 'Mpeg', 'MediaType', 'mpeg', '2026-11-21T08:55:58.575', 'mpeg');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaType.pdf","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Pdf","LookupName":"MediaType","LookupValue":"pdf","StandardLookupValue":"pdf"', '', 'MediaType.pdf', 40, NULL, 31, 0, NULL, NULL, NULL, 'x_zWYt6gcc_KN9SHVe-zB2.31', 31, NULL, 'Pdf', 'MediaType', 'pdf', '2026-11-21T08:55:58.575', 'pdf');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaType.png","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Png","LookupName":"MediaType","LookupValue":"png","StandardLookupValue":"png"', '', 'MediaType.png', 41, NULL, 31, 0, NULL, NULL, NULL, 'Voh4o8_mykIHF-wQwP2OaI.31', 31, NULL, 'Png', 'MediaType', 'png', '2026-11-21T08:55:58.575', 'png');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaType.quicktime","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Quicktime","LookupName":"MediaType","LookupValue":"quicktime","StandardLookupValue":"quicktime"', '', 'MediaType.quicktime', 42, NULL, 31, 0, NULL, NULL, NULL, 'gAjBytqzPkjMB_I5WDmO5s.31', 31, NULL, 'Quicktime', 'MediaType', 'quicktime', '2026-11-21T08:55:58.575', 'quicktime');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaType.rtf","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Rtf","LookupName":"MediaType","LookupValue":"rtf","StandardLookupValue":"rtf"', '', 'MediaType.rtf', 43, NULL, 31, 0, NULL, NULL, NULL, '4DS9UEpa4eUH43ZyoTIbip.31', 31, NULL, 'Rtf', 'MediaType', 'rtf', '2026-11-21T08:55:58.575', 'rtf');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaType.tiff","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Tiff","LookupName":"MediaType","LookupValue":"tiff","StandardLookupValue":"tiff"', '', 'MediaType.tiff', 44, NULL, 31, 0, NULL, NULL, NULL, 'bpfzdGvUwJvy3SnfaYKpA-.31', 31, NULL, 'Tiff', 'MediaType', 'tiff', '2026-11-21T08:55:58.575', 'tiff');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaType.txt","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Txt","LookupName":"MediaType","LookupValue":"txt","StandardLookupValue":"txt"', '', 'MediaType.txt', 45, NULL, 31, 0, NULL, NULL, NULL, 'NAiGOk7Gokvx4A1YkCppDD.31', 31, NULL, 'Txt', 'MediaType', 'txt', '2026-11-21T08:55:58.575', 'txt');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaType.wmv","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Wmv","LookupName":"MediaType","LookupValue":"wmv","StandardLookupValue":"wmv"', '', 'MediaType.wmv', 46, NULL, 31, 0, NULL, NULL, NULL, 'Prd-sfjzRYrh0rfsGWNH4x.31', 31, NULL, 'Wmv', 'MediaType', 'wmv', '2026-11-21T08:55:58.575', 'wmv');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaType.xls","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Xls","LookupName":"MediaType","LookupValue":"xls","StandardLookupValue":"xls"', '', 'MediaType.xls', 47, NULL, 31, 0, NULL, NULL, NULL, 'A7f0UdZ91ERHONxN0r5I1m.31', 31, NULL, 'Xls', 'MediaType', 'xls', '2026-11-21T08:55:58.575', 'xls');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"MediaType.xlsx","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Xlsx","LookupName":"MediaType","LookupValue":"xlsx","StandardLookupValue":"xlsx"', '', 'MediaType.xlsx', 48, NULL, 31, 0, NULL, NULL, NULL, '2DZeYk-D6EXOxc8Pyc9H8k.31', 31, NULL, 'Xlsx', 'MediaType', 'xlsx', '2026-11-21T08:55:58.575', 'xlsx');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"Permission.Agent Only","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"AgentOnly","LookupName":"Permission","LookupValue":"Agent Only","StandardLookupValue":"Agent Only"', '', 'Permission.Agent Only', 49, NULL, 31, 0, NULL, NULL, NULL, 'TTYz0cZNFMavXmHxFSbifs.31', 31, NULL, 'AgentOnly', 'Permission', 'Agent Only', '2026-11-21T08:55:58.575', 'Agent Only');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"Permission.Firm Only","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"FirmOnly","LookupName":"Permission","LookupValue":"Firm Only","StandardLookupValue":"Firm Only"', '', 'Permission.Firm Only', 50, NULL, 31, 0, NULL, NULL, NULL, 'zCf4keq7VWOcXfg3uD1OYe.31', 31, NULL, 'FirmOnly', 'Permission', 'Firm Only', '2026-11-21T08:55:58.575', 'Firm Only');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"Permission.IDX","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Idx","LookupName":"Permission","LookupValue":"IDX","StandardLookupValue":"IDX"', '', 'Permission.IDX', 51, NULL, 31, 0, NULL, NULL, NULL, 'lSgoiUKaSX7baFdWaBM7Yo.31', 31, NULL, 'Idx', 'Permission', 'IDX', '2026-11-21T08:55:58.575', 'IDX');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"Permission.Office Only","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"OfficeOnly","LookupName":"Permission","LookupValue":"Office Only","StandardLookupValue":"Office Only"', '', 'Permission.Office Only', 52, NULL, 31, 0, NULL, NULL, NULL, 'Buo_qphGAaVr11n7cL_7MS.31', 31, NULL, 'OfficeOnly', 'Permission', 'Office Only', '2026-11-21T08:55:58.575', 'Office Only');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"Permission.Private","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Private","LookupName":"Permission","LookupValue":"Private","StandardLookupValue":"Private"', '', 'Permission.Private', 53, NULL, 31, 0, NULL, NULL, NULL, 'tBiIjumd2s1tNvvYBT8M74.31', 31, NULL, 'Private', 'Permission', 'Private', '2026-11-21T08:55:58.575', 'Private');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"Permission.Public","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Public","LookupName":"Permission","LookupValue":"Public","StandardLookupValue":"Public"', '', 'Permission.Public', 54, NULL, 31, 0, NULL, NULL, NULL, 'MMShkRPvtwlJ5Llgg44UFT.31', 31, NULL, 'Public', 'Permission', 'Public', '2026-11-21T08:55:58.575', 'Public');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"Permission.VOW","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Vow","LookupName":"Permission","LookupValue":"VOW","StandardLookupValue":"VOW"', '', 'Permission.VOW', 55, NULL, 31, 0, NULL, NULL, NULL, 'nPSmkRj9L07Ej-FZEYRtRM.31', 31, NULL, 'Vow', 'Permission', 'VOW', '2026-11-21T08:55:58.575', 'VOW');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"ResourceName.Association","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Association","LookupName":"ResourceName","LookupValue":"Association","StandardLookupValue":"Association"', '', 'ResourceName.Association', 56, NULL, 31, 0, NULL, NULL, NULL, 'mB4yBIUao00d7q7XMK0X-k.31', 31, NULL, 'Association', 'ResourceName', 'Association', '2026-11-21T08:55:58.575', 'Association');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"ResourceName.Contacts","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Contacts","LookupName":"ResourceName","LookupValue":"Contacts","StandardLookupValue":"Contacts"', '', 'ResourceName.Contacts', 57, NULL, 31, 0, NULL, NULL, NULL, 'zAdqHYDWObBPulp185Zz0s.31', 31, NULL, 'Contacts', 'ResourceName', 'Contacts', '2026-11-21T08:55:58.575', 'Contacts');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"ResourceName.Member","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Member","LookupName":"ResourceName","LookupValue":"Member","StandardLookupValue":"Member"', '', 'ResourceName.Member', 58, NULL, 31, 0, NULL, NULL, NULL, '5J_k0kyZSTx10HY4iqRgJO.31', 31, NULL, 'Member', 'ResourceName', 'Member', '2026-11-21T08:55:58.575', 'Member');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"ResourceName.Office","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Office","LookupName":"ResourceName","LookupValue":"Office","StandardLookupValue":"Office"', '', 'ResourceName.Office', 59, NULL, 31, 0, NULL, NULL, NULL, '7yr5FQ_C1HfyKCrWd5hbqc.31', 31, NULL, 'Office', 'ResourceName', 'Office', '2026-11-21T08:55:58.575', 'Office');
INSERT INTO plat.lookup_records VALUES (1, '"LookupKey":"ResourceName.Property","ModificationTimestamp":"2026-11-21T08:55:58.575Z"', '', ',"LegacyODataValue":"Property","LookupName":"ResourceName","LookupValue":"Property","StandardLookupValue":"Property"', '', 'ResourceName.Property', 60, NULL, 31, 0, NULL, NULL, NULL, 'Qa--cQ36EJw8r4d-860sUj.31', 31, NULL, 'Property', 'ResourceName', 'Property', '2026-11-21T08:55:58.575', 'Property');
INSERT INTO plat.media_records VALUES (2, '{"Id":"M1","ResourceUri":"/v1/listings/A/photos/M1","Name":null,"Caption":null,"Primary":false', '', '"MediaKey":"M1","ModificationTimestamp":"2026-11-21T08:55:58.835Z","OriginatingSystemResourceRecordKey":"A","ResourceRecordKey":"A"', ',"OriginatingSystemID":null', ',"MediaCategory":"Photo","MediaURL":"https://images.example/M1.jpg","OriginatingSystemResourceRecordSystemID":"X","ResourceName":"Property"', ',"FloplanImageType":[],"FloplanKey":null,"MediaType":null,"Permission":[]', 'M1', 'A', 'Property', 1, 'X', 31, 0, 'photo', NULL, NULL, 'mne1BaczTIyKDA6Hfa7qdB', NULL, NULL, NULL, NULL, 'Photo', NULL, 'https://images.example/M1.jpg', '2026-11-21T08:55:58.835', NULL, 'A', 'X', NULL);
INSERT INTO plat.plat_counters VALUES ('Lookup', 31, '', 60);
INSERT INTO plat.plat_counters VALUES ('Field', 31, '', 66);
INSERT INTO plat.plat_counters VALUES ('Property', 31, 'X', 1);
INSERT INTO plat.plat_counters VALUES ('Media', 31, 'X', 1);
INSERT INTO plat.plat_counters VALUES ('PropertyRooms', 31, 'X', 1);
INSERT INTO plat.plat_meta VALUES ('layout', '1');
INSERT INTO plat.plat_meta VALUES ('secret', 'vUyie0Glp8hAWzMOKrlWdszKjGtmnlq0eGTn3NZpEEw');
INSERT INTO plat.plat_meta VALUES ('created_at', '2026-11-21T08:55:58.575Z');
INSERT INTO plat.plat_meta VALUES ('functions', 'older');
INSERT INTO plat.plat_meta VALUES ('generation', '2');
INSERT INTO plat.plat_meta VALUES ('settings', '{"owner":"authority","declarations":{},"access":{"roles":[{"name":"private","classes":"all","seesWithheld":true,"resources":"all"},{"name":"idx","classes":["idx","address"],"resources":{"Property":"(StandardStatus in (''Active'',''Active Under Contract'',''Pending'',''Coming Soon'') or (StandardStatus eq ''Closed'' and CloseDate ge {today - 3 years})) and InternetEntireListingDisplayYN ne false","Media":"not Permission/any() or Permission/any(p: p in (''Public'',''IDX''))","PropertyRooms":"","PropertyUnitTypes":"","OpenHouse":"","PropertyGreenVerification":"","PropertyPowerProduction":"","SocialMedia":"","Member":"MemberStatus eq null or MemberStatus eq ''Active''","Office":"OfficeStatus eq null or OfficeStatus eq ''Active''","Teams":"","TeamMembers":"","OUID":"","Lookup":"","Field":""}},{"name":"vow","classes":["idx","address","facts","address-facts","history"],"resources":{"Property":"not (StandardStatus in (''Incomplete'',''Delete'')) and InternetEntireListingDisplayYN ne false","Media":"not Permission/any() or Permission/any(p: p in (''Public'',''VOW''))","PropertyRooms":"","PropertyUnitTypes":"","OpenHouse":"","PropertyGreenVerification":"","PropertyPowerProduction":"","SocialMedia":"","Member":"","Office":"","Teams":"","TeamMembers":"","OUID":"","Lookup":"","Field":""}},{"name":"public","classes":["idx","address","facts","address-facts"],"resources":{"Property":"(StandardStatus in (''Active'',''Active Under Contract'',''Pending'',''Coming Soon'') or (StandardStatus eq ''Closed'' and CloseDate ge {today - 3 years})) and InternetEntireListingDisplayYN ne false","Media":"not Permission/any() or Permission/any(p: p in (''Public''))","PropertyRooms":"","PropertyUnitTypes":"","OpenHouse":"","PropertyGreenVerification":"","PropertyPowerProduction":"","SocialMedia":"","Member":"MemberStatus eq null or MemberStatus eq ''Active''","Office":"OfficeStatus eq null or OfficeStatus eq ''Active''","Teams":"","TeamMembers":"","OUID":"","Lookup":"","Field":""}},{"name":"portal","classes":["idx","address","facts","address-facts","history"],"resources":{"Property":"StandardStatus in (''Active'',''Active Under Contract'',''Pending'',''Coming Soon'',''Closed'',''Hold'') and InternetEntireListingDisplayYN ne false","Media":"not Permission/any() or Permission/any(p: p in (''Public'',''Portal''))","PropertyRooms":"","PropertyUnitTypes":"","OpenHouse":"","PropertyGreenVerification":"","PropertyPowerProduction":"","SocialMedia":"","Member":"MemberStatus eq null or MemberStatus eq ''Active''","Office":"OfficeStatus eq null or OfficeStatus eq ''Active''","Teams":"","TeamMembers":"","OUID":"","Lookup":"","Field":""}}],"withheld":[{"resource":"Property","classes":["address","address-facts"],"shownWhen":"InternetAddressDisplayYN ne false"}]},"agentsFrom":"records","timeZone":"UTC"}');
INSERT INTO plat.plat_meta VALUES ('day', '2026-11-21');
INSERT INTO plat.plat_meta VALUES ('last_stamp', '2026-11-21T08:55:58.835Z');
INSERT INTO plat.plat_meta VALUES ('changes', '2');
INSERT INTO plat.plat_profile VALUES ('Property', 'ListingKey', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'BuyerAgentKey', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'BuyerOfficeKey', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'CoBuyerAgentKey', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'CoBuyerOfficeKey', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'CoListAgentKey', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'CoListOfficeKey', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'DocumentsChangeTimestamp', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'ListAgentKey', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'ListOfficeKey', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'MajorChangeTimestamp', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'ModificationTimestamp', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'OpenHousesChangeTimestamp', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'OriginatingSystemID', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'PhotosChangeTimestamp', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'PriceChangeTimestamp', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'StandardStatus', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'StatusChangeTimestamp', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'VideosChangeTimestamp', 1);
INSERT INTO plat.plat_profile VALUES ('Member', 'MemberKey', 1);
INSERT INTO plat.plat_profile VALUES ('Member', 'MemberPreferredPhone', 1);
INSERT INTO plat.plat_profile VALUES ('Member', 'MemberStatus', 1);
INSERT INTO plat.plat_profile VALUES ('Member', 'ModificationTimestamp', 1);
INSERT INTO plat.plat_profile VALUES ('Member', 'OriginatingSystemID', 1);
INSERT INTO plat.plat_profile VALUES ('Office', 'OfficeKey', 1);
INSERT INTO plat.plat_profile VALUES ('Office', 'ModificationTimestamp', 1);
INSERT INTO plat.plat_profile VALUES ('Office', 'OfficeStatus', 1);
INSERT INTO plat.plat_profile VALUES ('Office', 'OriginatingSystemID', 1);
INSERT INTO plat.plat_profile VALUES ('Media', 'MediaKey', 1);
INSERT INTO plat.plat_profile VALUES ('Media', 'FloplanImageType', 1);
INSERT INTO plat.plat_profile VALUES ('Media', 'FloplanKey', 1);
INSERT INTO plat.plat_profile VALUES ('Media', 'MediaCategory', 1);
INSERT INTO plat.plat_profile VALUES ('Media', 'MediaType', 1);
INSERT INTO plat.plat_profile VALUES ('Media', 'MediaURL', 1);
INSERT INTO plat.plat_profile VALUES ('Media', 'ModificationTimestamp', 1);
INSERT INTO plat.plat_profile VALUES ('Media', 'OriginatingSystemID', 1);
INSERT INTO plat.plat_profile VALUES ('Media', 'OriginatingSystemResourceRecordKey', 1);
INSERT INTO plat.plat_profile VALUES ('Media', 'OriginatingSystemResourceRecordSystemID', 1);
INSERT INTO plat.plat_profile VALUES ('Media', 'Permission', 1);
INSERT INTO plat.plat_profile VALUES ('Media', 'ResourceName', 1);
INSERT INTO plat.plat_profile VALUES ('Media', 'ResourceRecordKey', 1);
INSERT INTO plat.plat_profile VALUES ('PropertyRooms', 'RoomKey', 1);
INSERT INTO plat.plat_profile VALUES ('PropertyRooms', 'ListingKey', 1);
INSERT INTO plat.plat_profile VALUES ('PropertyRooms', 'ModificationTimestamp', 1);
INSERT INTO plat.plat_profile VALUES ('PropertyUnitTypes', 'UnitTypeKey', 1);
INSERT INTO plat.plat_profile VALUES ('PropertyUnitTypes', 'ListingKey', 1);
INSERT INTO plat.plat_profile VALUES ('PropertyUnitTypes', 'ModificationTimestamp', 1);
INSERT INTO plat.plat_profile VALUES ('OpenHouse', 'OpenHouseKey', 1);
INSERT INTO plat.plat_profile VALUES ('OpenHouse', 'ListingKey', 1);
INSERT INTO plat.plat_profile VALUES ('OpenHouse', 'ModificationTimestamp', 1);
INSERT INTO plat.plat_profile VALUES ('OpenHouse', 'OriginatingSystemID', 1);
INSERT INTO plat.plat_profile VALUES ('Lookup', 'LookupKey', 1);
INSERT INTO plat.plat_profile VALUES ('Lookup', 'LegacyODataValue', 1);
INSERT INTO plat.plat_profile VALUES ('Lookup', 'LookupName', 1);
INSERT INTO plat.plat_profile VALUES ('Lookup', 'LookupValue', 1);
INSERT INTO plat.plat_profile VALUES ('Lookup', 'ModificationTimestamp', 1);
INSERT INTO plat.plat_profile VALUES ('Lookup', 'StandardLookupValue', 1);
INSERT INTO plat.plat_profile VALUES ('Field', 'FieldKey', 1);
INSERT INTO plat.plat_profile VALUES ('Field', 'FieldName', 1);
INSERT INTO plat.plat_profile VALUES ('Field', 'ModificationTimestamp', 1);
INSERT INTO plat.plat_profile VALUES ('Field', 'ResourceName', 1);
INSERT INTO plat.plat_profile VALUES ('Property', 'City', 2);
INSERT INTO plat.plat_sequence VALUES ('Lookup', 61);
INSERT INTO plat.plat_sequence VALUES ('Field', 67);
INSERT INTO plat.plat_sequence VALUES ('Property', 2);
INSERT INTO plat.plat_sequence VALUES ('Media', 2);
INSERT INTO plat.plat_sequence VALUES ('PropertyRooms', 2);
INSERT INTO plat.property_records VALUES ('A', 1, 'X', 31, 1, NULL, NULL, NULL, 'wJmAZQ-_cjSpnjzHQLDMU0', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-21T08:55:58.835', '2026-11-21T08:55:58.835', NULL, 'X', '2026-11-21T08:55:58.835', NULL, 'Active', '2026-11-21T08:55:58.835', NULL, 'Ely');
INSERT INTO plat.property_rooms_records VALUES (2, '{"Id":"R1","ResourceUri":"/v1/listings/A/rooms/R1","Fields":[]}', '', '"RoomKey":"R1","ListingKey":"A","ModificationTimestamp":"2026-11-21T08:55:58.835Z"', '', 'R1', 'A', 'Property', 1, 'X', 31, 0, NULL, NULL, NULL, 'DqPOfNNILoVebyQmHfW939', NULL, NULL, '2026-11-21T08:55:58.835');
INSERT INTO plat.property_texts VALUES ('A', 1, 'X', 31, 1, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '"Id":"A","ResourceUri":"/v1/listings/A"', '"ListingKey":"A","MajorChangeTimestamp":"2026-11-21T08:55:58.835Z","ModificationTimestamp":"2026-11-21T08:55:58.835Z","OriginatingSystemID":"X","PhotosChangeTimestamp":"2026-11-21T08:55:58.835Z","StatusChangeTimestamp":"2026-11-21T08:55:58.835Z"', ',"DocumentsChangeTimestamp":null,"OpenHousesChangeTimestamp":null,"PriceChangeTimestamp":null,"VideosChangeTimestamp":null', '', ',"BuyerAgentKey":null,"BuyerOfficeKey":null,"CoBuyerAgentKey":null,"CoBuyerOfficeKey":null,"CoListAgentKey":null,"CoListOfficeKey":null,"ListAgentKey":null,"ListOfficeKey":null', '', ',"BuyerAgentId":null,"BuyerOfficeId":null,"CoBuyerAgentId":null,"CoBuyerOfficeId":null,"CoListAgentId":null,"CoListOfficeId":null,"ListAgentId":null,"ListOfficeId":null', ',"StandardStatus":"Active"', '', ',"City":"Ely"', '');
ALTER TABLE ONLY plat.plat_counters
    ADD CONSTRAINT plat_counters_pkey PRIMARY KEY (resource, visible, system);
ALTER TABLE ONLY plat.plat_filter_lists
    ADD CONSTRAINT plat_filter_lists_pkey PRIMARY KEY (name);
ALTER TABLE ONLY plat.plat_key_use
    ADD CONSTRAINT plat_key_use_pkey PRIMARY KEY (key_id);
ALTER TABLE ONLY plat.plat_keys
    ADD CONSTRAINT plat_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY plat.plat_keys
    ADD CONSTRAINT plat_keys_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY plat.plat_leases
    ADD CONSTRAINT plat_leases_pkey PRIMARY KEY (source);
ALTER TABLE ONLY plat.plat_ledger_seen
    ADD CONSTRAINT plat_ledger_seen_pkey PRIMARY KEY (source, resource, key);
ALTER TABLE ONLY plat.plat_ledger_state
    ADD CONSTRAINT plat_ledger_state_pkey PRIMARY KEY (source, name);
ALTER TABLE ONLY plat.plat_ledger_wanted
    ADD CONSTRAINT plat_ledger_wanted_pkey PRIMARY KEY (source, resource, why, key);
ALTER TABLE ONLY plat.plat_meta
    ADD CONSTRAINT plat_meta_pkey PRIMARY KEY (name);
ALTER TABLE ONLY plat.plat_profile
    ADD CONSTRAINT plat_profile_pkey PRIMARY KEY (resource, field);
ALTER TABLE ONLY plat.plat_quarantine
    ADD CONSTRAINT plat_quarantine_pkey PRIMARY KEY (source, resource, key);
ALTER TABLE ONLY plat.plat_request_windows
    ADD CONSTRAINT plat_request_windows_pkey PRIMARY KEY (key);
ALTER TABLE ONLY plat.plat_sequence
    ADD CONSTRAINT plat_sequence_pkey PRIMARY KEY (resource);
ALTER TABLE ONLY plat.plat_sweeps
    ADD CONSTRAINT plat_sweeps_pkey PRIMARY KEY (key);
ALTER TABLE ONLY plat.plat_tombstones
    ADD CONSTRAINT plat_tombstones_pkey PRIMARY KEY (resource, key);
CREATE INDEX field_records_by_modtim ON plat.field_records USING btree ("ModificationTimestamp" NULLS FIRST);
CREATE UNIQUE INDEX field_records_id ON plat.field_records USING btree (_id);
CREATE INDEX field_records_source ON plat.field_records USING btree (_source, _key) WHERE (_source IS NOT NULL);
CREATE UNIQUE INDEX field_records_walk ON plat.field_records USING btree (_key) INCLUDE (_visible, _system, _id);
CREATE INDEX lookup_records_by_loonam ON plat.lookup_records USING btree ("LookupName" NULLS FIRST);
CREATE UNIQUE INDEX lookup_records_id ON plat.lookup_records USING btree (_id);
CREATE INDEX lookup_records_source ON plat.lookup_records USING btree (_source, _key) WHERE (_source IS NOT NULL);
CREATE UNIQUE INDEX lookup_records_walk ON plat.lookup_records USING btree (_key) INCLUDE (_visible, _system, _id);
CREATE INDEX media_records_by_modtim ON plat.media_records USING btree ("ModificationTimestamp" NULLS FIRST);
CREATE UNIQUE INDEX media_records_id ON plat.media_records USING btree (_id);
CREATE INDEX media_records_parent ON plat.media_records USING btree (_parent, _key);
CREATE UNIQUE INDEX media_records_walk ON plat.media_records USING btree (_key) INCLUDE (_visible, _system, _id);
CREATE INDEX member_records_by_modtim ON plat.member_records USING btree ("ModificationTimestamp" NULLS FIRST);
CREATE UNIQUE INDEX member_records_id ON plat.member_records USING btree (_id);
CREATE INDEX member_records_source ON plat.member_records USING btree (_source, _key) WHERE (_source IS NOT NULL);
CREATE UNIQUE INDEX member_records_walk ON plat.member_records USING btree (_key) INCLUDE (_visible, _system, _id);
CREATE INDEX office_records_by_modtim ON plat.office_records USING btree ("ModificationTimestamp" NULLS FIRST);
CREATE UNIQUE INDEX office_records_id ON plat.office_records USING btree (_id);
CREATE INDEX office_records_source ON plat.office_records USING btree (_source, _key) WHERE (_source IS NOT NULL);
CREATE UNIQUE INDEX office_records_walk ON plat.office_records USING btree (_key) INCLUDE (_visible, _system, _id);
CREATE INDEX open_house_records_by_modtim ON plat.open_house_records USING btree ("ModificationTimestamp" NULLS FIRST);
CREATE UNIQUE INDEX open_house_records_id ON plat.open_house_records USING btree (_id);
CREATE INDEX open_house_records_parent ON plat.open_house_records USING btree (_parent, _key);
CREATE UNIQUE INDEX open_house_records_walk ON plat.open_house_records USING btree (_key) INCLUDE (_visible, _system, _id);
CREATE INDEX property_records_by_buyagekey ON plat.property_records USING btree ("BuyerAgentKey" NULLS FIRST);
CREATE INDEX property_records_by_lisagekey ON plat.property_records USING btree ("ListAgentKey" NULLS FIRST);
CREATE INDEX property_records_by_lisoffkey ON plat.property_records USING btree ("ListOfficeKey" NULLS FIRST);
CREATE INDEX property_records_by_modtim ON plat.property_records USING btree ("ModificationTimestamp" NULLS FIRST);
CREATE INDEX property_records_source ON plat.property_records USING btree (_source, _key) WHERE (_source IS NOT NULL);
CREATE UNIQUE INDEX property_records_walk ON plat.property_records USING btree (_key) INCLUDE (_visible, _system, _id);
CREATE UNIQUE INDEX property_rooms_records_id ON plat.property_rooms_records USING btree (_id);
CREATE INDEX property_rooms_records_parent ON plat.property_rooms_records USING btree (_parent, _key);
CREATE UNIQUE INDEX property_rooms_records_walk ON plat.property_rooms_records USING btree (_key) INCLUDE (_visible, _system, _id);
CREATE UNIQUE INDEX property_texts_id ON plat.property_texts USING btree (_id);
CREATE UNIQUE INDEX property_texts_key ON plat.property_texts USING btree (_key);
CREATE UNIQUE INDEX property_unit_types_records_id ON plat.property_unit_types_records USING btree (_id);
CREATE INDEX property_unit_types_records_parent ON plat.property_unit_types_records USING btree (_parent, _key);
CREATE UNIQUE INDEX property_unit_types_records_walk ON plat.property_unit_types_records USING btree (_key) INCLUDE (_visible, _system, _id);
