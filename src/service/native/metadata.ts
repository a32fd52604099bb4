import type { Field } from '../../dictionary/index.ts';
import { withViewTag } from '../access/view-tag.ts';
import type { Reply } from '../exchange.ts';
import { describedBy } from '../front/paths.ts';
import { success } from './envelope.ts';
import { listingResource } from './listings.ts';
import { type NativeExchange, refuseParameters } from './native-request.ts';

/** Names of types as the native interface has them. */
function typeName({ type }: Field): string {
  switch (type.kind) {
    case 'string':
      return 'Character';
    case 'integer':
      return 'Integer';
    case 'decimal':
      return 'Decimal';
    case 'boolean':
      return 'Boolean';
    case 'date':
      return 'Date';
    case 'timestamp':
      return 'Datetime';
  }
}

/** `ListPrice` → `List Price`. */
const labelOf = (name: string): string =>
  name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2');

function describe(field: Field, path: string, label: string, listed: boolean): Record<string, unknown> {
  const { type } = field;
  return {
    ResourceUri: path,
    Label: label,
    Type: typeName(field),
    Searchable: true,
    HasList: listed,
    MultiSelect: field.collection,
    ...(type.kind === 'string' && type.maxLength !== undefined ? { MaxLength: type.maxLength } : {}),
    ...(type.kind === 'decimal' ? { Precision: type.precision, Scale: type.scale } : {}),
  };
}

function visibleFields(request: NativeExchange): readonly Field[] {
  return request.session.view.fieldsOf(listingResource(request));
}

/** `/v1/standardfields`: the standard fields of a listing that the key may see. */
export function standardFields(request: NativeExchange, name?: string): Reply | undefined {
  refuseParameters(request, 'standardfields');
  const { schema } = request.session.view;
  const fields = visibleFields(request).filter(
    (field) => field.custom === undefined && (name === undefined || field.nativeName === name),
  );
  if (name !== undefined && fields.length === 0) return undefined;
  const described = Object.fromEntries(
    fields.map((field) => {
      const listed = field.lookup !== undefined && schema.lookup(field.lookup) !== undefined;
      const path = `/v1/standardfields/${field.nativeName}`;
      return [
        field.nativeName,
        { ...describe(field, path, labelOf(field.nativeName), listed), ...values(request, field) },
      ];
    }),
  );
  return withViewTag(success([JSON.stringify(described)], 1), request.session);
}

/** The values of a lookup, for a field that is asked for by name. */
function values({ session }: NativeExchange, field: Field): Record<string, unknown> {
  const lookup = field.lookup === undefined ? undefined : session.view.schema.lookup(field.lookup);
  if (lookup === undefined) return {};
  return { FieldList: [...lookup.values.keys()].map((value) => ({ Name: value, Value: value })) };
}

/**
 * `/v1/customfields`: the custom fields that the key may see, by group and current name.
 * @param name only the one of this API name
 */
export function customFieldList(request: NativeExchange, name?: string): Reply | undefined {
  refuseParameters(request, 'customfields');
  const { schema } = request.session.view;
  const groups = new Map<string, Record<string, unknown>>();
  for (const field of visibleFields(request)) {
    if (field.custom === undefined || (name !== undefined && field.name !== name)) continue;
    const { group, label, section } = field.custom;
    const listed = field.lookup !== undefined && schema.lookup(field.lookup) !== undefined;
    const path = `/v1/customfields/${encodeURIComponent(field.name)}`;
    const described = { ...describe(field, path, label, listed), Section: section, FieldName: field.name };
    groups.set(group, { ...groups.get(group), [label]: { ...described, ...values(request, field) } });
  }
  if (name !== undefined && groups.size === 0) return undefined;
  const results = [...groups].map(([group, fields]) => JSON.stringify({ [group]: fields }));
  return success([results.join(',')], results.length);
}

/** `/v1/system`: who the key is here, and what is served. */
export function system(request: NativeExchange): Reply {
  refuseParameters(request, 'system');
  const { exchange, session } = request;
  const { key, view } = session;
  const described = {
    Id: key.id,
    ResourceUri: '/v1/system',
    Name: key.name,
    Role: view.role.name,
    KeyType: key.kind,
    Systems: key.systems,
    Surface: exchange.surface.name,
    Version: 'v1',
    MaximumLimit: exchange.surface.paging.nativeLimit.most,
    Timestamp: new Date(session.now).toISOString().replace(/\.\d+Z$/, 'Z'),
  };
  return success([JSON.stringify(described)], 1, {}, describedBy(exchange.base));
}
