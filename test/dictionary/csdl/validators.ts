/** Validators for documents, published by the OASIS committee: its XML schemas, its JSON schema, its converter. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import { validateXML } from 'xmllint-wasm';

const require = createRequire(import.meta.url);
const published = (file: string): string =>
  readFileSync(require.resolve(`odata-csdl/schemas/${file}`), 'utf8');

/** The errors that the schemas of CSDL XML 4.01 find; none for a valid document. */
export async function xmlFaults(xml: string): Promise<readonly string[]> {
  const result = await validateXML({
    xml: { fileName: 'metadata.xml', contents: xml },
    schema: { fileName: 'edmx.xsd', contents: published('edmx.xsd') },
    preload: { fileName: 'edm.xsd', contents: published('edm.xsd') },
  });
  return result.errors.map((error) => error.message);
}

const validate = new Ajv({ strict: false }).compile(JSON.parse(published('csdl.schema.json')));

/** The errors that the schema of CSDL JSON 4.01 finds; none for a valid document. */
export function jsonFaults(json: string): readonly string[] {
  validate(JSON.parse(json));
  return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

const converter: {
  xml2json: (xml: string, options: { strict: boolean; messages: unknown[] }) => unknown;
} = require('odata-csdl');

/** The CSDL JSON that the converter makes of a CSDL XML document, and the errors that it finds. */
export function convert(xml: string): { readonly json: unknown; readonly messages: readonly unknown[] } {
  const messages: unknown[] = [];
  return { json: converter.xml2json(xml, { strict: true, messages }), messages };
}
